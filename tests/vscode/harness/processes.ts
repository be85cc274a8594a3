/** The processes that an editor has started. */

import { execFileSync } from "node:child_process";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes below one, their children's children too, whose command line holds a text. */
export function descendants(root: number, text: string): Process[] {
  const all = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parent, command = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command,
    }));
  const below = new Set([root]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, parent } of all) {
      if (below.has(parent)) {
        below.add(pid);
      }
    }
  }
  return all.filter(({ pid, command }) => below.has(pid) && command.includes(text));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
