/** The columns of the table of kernels. */

import type { KernelRow } from "../../protocol";
import { bytes, compact, duration } from "./format";

/** The text of a cell and its sort key, if different; or the lines that it links to. */
export interface Cell {
  text: string;
  order?: number;
  locations?: KernelRow["locations"];
}

export interface Column {
  title: string;
  cell: (kernel: KernelRow) => Cell | undefined;
}

/** The column that the table is sorted by at first, in descending order. */
export const MOVED = "Bytes";

const COLUMNS: readonly Column[] = [
  { title: "Language", cell: ({ language }) => words(language) },
  { title: "Graph", cell: ({ compileId, phase }) => words(`${compileId} ${phase}`.trim()) },
  { title: "Operators", cell: ({ operators }) => words(operators) },
  { title: "Lines", cell: ({ locations }) => lines(locations) },
  { title: "Launches", cell: ({ launches }) => number(launches, String(launches)) },
  { title: MOVED, cell: (kernel) => number(moved(kernel), bytes) },
  { title: "FLOP", cell: ({ flops }) => number(flops, compact) },
  { title: "FLOP/byte", cell: (kernel) => number(intensity(kernel), (value) => value.toFixed(2)) },
  { title: "Minimum time", cell: ({ seconds }) => number(seconds, duration) },
  { title: "Grid", cell: ({ grid }) => words(grid) },
  { title: "Config", cell: ({ config }) => words(config ?? "") },
  { title: "Registers", cell: ({ registers }) => number(registers, String(registers)) },
  { title: "Spills", cell: ({ spills }) => number(spills, String(spills)) },
  { title: "Shared memory", cell: ({ shared }) => number(shared, bytes) },
  { title: "Not compiled", cell: ({ problem }) => words(problem ?? "") },
];

/** The columns that have a value for any of the kernels. */
export function columnsOf(kernels: readonly KernelRow[]): Column[] {
  return COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== undefined));
}

/** The bytes that a kernel reads and writes, as far as that is known. */
export function moved({ read, written }: KernelRow): number | undefined {
  return read === undefined && written === undefined ? undefined : (read ?? 0) + (written ?? 0);
}

function intensity(kernel: KernelRow): number | undefined {
  const all = moved(kernel);
  return kernel.flops === undefined || !all ? undefined : kernel.flops / all;
}

function words(text: string): Cell | undefined {
  return text === "" ? undefined : { text };
}

function lines(locations: KernelRow["locations"]): Cell | undefined {
  return locations.length === 0 ? undefined : { text: "", locations };
}

function number(
  value: number | undefined,
  text: string | ((value: number) => string),
): Cell | undefined {
  return value === undefined
    ? undefined
    : { text: typeof text === "string" ? text : text(value), order: value };
}
