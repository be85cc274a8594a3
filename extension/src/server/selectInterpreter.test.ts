import { afterEach, beforeEach, expect, test } from "vitest";
import type { InterpreterItem } from "../protocol";
import type { PythonExtensions } from "./python";
import { selectInterpreter } from "./selectInterpreter";
import type { Server } from "./server";
import { dialogs, folder, settings, workspace } from "../testing/vscode";

/** What the server answers, and what it is told of the Python extension. */
let answer: InterpreterItem[] | undefined;
let asked: unknown[];

const server = {
  request(_: string, params: unknown) {
    asked.push(params);
    return Promise.resolve(answer);
  },
} as unknown as Server;

const python = {
  interpreter: () => Promise.resolve("/selected/python"),
  known: () => Promise.resolve(["/conda/bin/python"]),
} as unknown as PythonExtensions;

beforeEach(() => {
  workspace.workspaceFolders = [folder("/project")];
  answer = [
    { path: "/conda/bin/python", origin: "conda", python: "3.12.1", torch: "2.14.0" },
    { path: "/project/.venv/bin/python", origin: ".venv", python: "3.11.7", problem: "No torch." },
  ];
  asked = [];
});

afterEach(() => {
  workspace.workspaceFolders = undefined;
  settings.clear();
  dialogs.taken.length = 0;
});

test("the interpreters are listed with their torch, the one in use first", async () => {
  await selectInterpreter(server, python);
  expect(asked).toEqual([{ uri: "file:///project", known: ["/conda/bin/python"] }]);
  expect(Object.entries(dialogs.described).slice(0, 2)).toEqual([
    ["/conda/bin/python", "in use · Python 3.12 · torch 2.14 · conda"],
    [".venv/bin/python", "Python 3.11 · no torch · .venv"],
  ]);
});

test("one that is taken becomes the setting", async () => {
  dialogs.taken.push(".venv/bin/python");
  await selectInterpreter(server, python);
  expect(settings.get("interpreter")).toBe(".venv/bin/python");
});

test("without a server there are those that the client knows, and none is in use", async () => {
  answer = undefined;
  await selectInterpreter(server, python);
  expect(Object.entries(dialogs.described)[0]).toEqual([
    "/selected/python",
    "selected in the Python extension",
  ]);
});
