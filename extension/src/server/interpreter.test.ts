import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import type { WorkspaceFolder } from "vscode";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Candidate,
  candidates,
  environmentsIn,
  findPython,
  judged,
  namedPython,
  probePython,
} from "./interpreter";
import { keepingLog } from "../testing/log";
import { folder, settings, workspace } from "../testing/vscode";

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "fullgraph ü-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
  settings.clear();
  workspace.workspaceFolders = undefined;
});

/** A program that is run as Python. */
function program(name: string, script: string): string {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

function* listed(...paths: string[]): Generator<Candidate> {
  for (const name of paths) {
    yield { path: name, origin: "test" };
  }
}

async function* asked(...paths: string[]): AsyncGenerator<Candidate> {
  yield* await Promise.resolve(listed(...paths));
}

describe("findPython", () => {
  test("takes the first that can run the server, and logs why the others cannot", async () => {
    const log = keepingLog();
    const missing = path.join(root, "missing");
    const other = program("other", "echo hello");
    const old = program("old", "echo Python 3.8.10");
    const good = program("good", "echo Python 3.12.1");
    const never = program("never", `touch "${root}/touched"; echo Python 3.13.0`);

    const found = await findPython(asked(missing, other, old, good, never), probePython, log);

    expect(found).toEqual({ path: good, version: "3.12.1" });
    expect(log.lines[0]).toMatch(/missing .*ENOENT/);
    expect(log.lines[1]).toContain("it is not Python");
    expect(log.lines[2]).toContain("it is Python 3.8.10, and 3.10 is needed");
    expect(log.lines).toHaveLength(4);
  });

  test("finds none where none is good", async () => {
    expect(await findPython(asked("/nowhere/python"), probePython, keepingLog())).toBeUndefined();
  });
});

test("a program that fails is no Python", async () => {
  expect(await probePython(program("fails", "exit 3"))).toHaveProperty("problem");
});

test.each([
  ["Python 3.10.0\n", { version: "3.10.0" }],
  ["Python 4.0.0\r\n", { version: "4.0.0" }],
  ["Python 3.9.18\n", { problem: "it is Python 3.9.18, and 3.10 is needed" }],
  ["Python 2.7.18\n", { problem: "it is Python 2.7.18, and 3.10 is needed" }],
  ["", { problem: "it is not Python" }],
  ["welcome!\nPython 3.12.0\n", { problem: "it is not Python" }],
])("%j is judged", (output, expected) => {
  expect(judged(output)).toEqual(expected);
});

describe("candidates", () => {
  async function all(active?: string): Promise<Candidate[]> {
    const folders = [
      folder(root),
      folder(path.join(root, "second")),
    ] as unknown as WorkspaceFolder[];
    const found: Candidate[] = [];
    for await (const candidate of candidates(folders, () => Promise.resolve(active))) {
      found.push(candidate);
    }
    return found;
  }

  test("come from the setting, the Python extension, the folders and PATH, in this order", async () => {
    settings.set("interpreter", "my/python");
    const own = program(".venv/bin/python", "");
    const other = program("second/.conda/bin/python", "");
    expect((await all("/selected/python")).map((candidate) => candidate.path)).toEqual([
      path.join(root, "my/python"),
      "/selected/python",
      own,
      other,
      "python3",
      "python",
    ]);
  });

  test("leave the Python extension alone where the setting is good", async () => {
    settings.set("interpreter", program("good", "echo Python 3.12.1"));
    const never = () => Promise.reject(new Error("nobody needs it"));
    const found = await findPython(candidates([], never), probePython, keepingLog());
    expect(found?.path).toBe(path.join(root, "good"));
  });

  test("do without a setting of a wrong type", async () => {
    settings.set("interpreter", { path: "python" });
    expect((await all()).map((candidate) => candidate.origin)).toEqual(["PATH", "PATH"]);
  });
});

describe("namedPython", () => {
  test("knows environments by their folder", () => {
    const own = program(".venv/bin/python", "");
    expect(namedPython(".venv", root)).toBe(own);
    expect(namedPython(path.join(root, ".venv"), undefined)).toBe(own);
    expect(environmentsIn(root)).toEqual([own]);
  });

  test("leaves names on PATH as they are, and expands the home folder", () => {
    expect(namedPython("python3.12", root)).toBe("python3.12");
    expect(namedPython("~/py/bin/python", root)).toBe(path.join(homedir(), "py/bin/python"));
  });
});
