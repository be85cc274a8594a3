/** Readable forms of numbers and places. */

import type { Location } from "vscode-languageclient";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
const DECIMAL = ["", "k", "M", "G", "T"];

export function bytes(number: number): string {
  return scaled(number, 1024, BINARY);
}

/** `1.5 G`. */
export function compact(number: number): string {
  return scaled(number, 1000, DECIMAL).trim();
}

/** Seconds, with two or three digits: `12.3 s`, `45 ms`, `1.2 µs`. */
export function duration(seconds: number): string {
  if (seconds === 0 || seconds >= 0.9995) {
    return `${seconds.toFixed(seconds === 0 || seconds >= 99.95 ? 0 : 1)} s`;
  }
  return seconds >= 0.9995e-3 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`;
}

/** A part of a whole: `45 %`. */
export function share(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

/** A line of a file, without its folders. */
export function place({ uri, range }: Location): string {
  const path = decodeURIComponent(uri.replace(/^[\w-]+:(\/\/[^/]*)?/, ""));
  return `${path.split("/").at(-1) ?? uri}:${range.start.line + 1}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

function scaled(number: number, base: number, units: readonly string[]): string {
  let rest = number;
  let unit = 0;
  while (rest >= base && unit < units.length - 1) {
    rest /= base;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(rest).toLocaleString("en-US") : digits(rest)} ${units[unit] ?? ""}`;
}

function digits(number: number): string {
  return number.toFixed(number < 9.95 ? 1 : 0);
}
