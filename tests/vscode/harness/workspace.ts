/** Workspaces for the tests: the examples, an interpreter, and the files of a test. */

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, VENV } from "./paths.ts";

/** The texts of files by their paths in a folder. */
export type Files = Readonly<Record<string, string>>;

/** Makes a folder hold the examples, a `.venv` and these files, and nothing else. */
export function fillWorkspace(folder: string, files: Files): void {
  const old = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of old) {
    rmSync(join(folder, name), { recursive: true });
  }
  cpSync(join(ROOT, "examples"), folder, { recursive: true });
  symlinkSync(VENV, join(folder, ".venv"));
  writeFiles(folder, files);
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
