/** Workspaces for the tests: the examples, an interpreter, and the files of a test. */

import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
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
  const venv = join(folder, ".venv");
  // A fork server may be importing torch through the link: it must not see it missing.
  const linked =
    lstatSync(venv, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(venv) === VENV;
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!linked || name !== ".venv") {
      rmSync(join(folder, name), { recursive: true });
    }
  }
  cpSync(join(ROOT, "examples"), folder, { recursive: true });
  if (!linked) {
    symlinkSync(VENV, venv);
  }
  writeFiles(folder, files);
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
