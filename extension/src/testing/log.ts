import type { LogOutputChannel } from "vscode";

/** A log that records its messages. */
export function keepingLog(): LogOutputChannel & { lines: string[] } {
  const lines: string[] = [];
  const keep = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
  const log = { lines, trace: keep, debug: keep, info: keep, warn: keep, error: keep };
  return log as unknown as LogOutputChannel & { lines: string[] };
}
