import { beforeEach, expect, test } from "vitest";
import { debugRepro, debugTarget } from "./debug";
import type { DebugItem, DebugParams } from "../protocol";
import type { Server } from "../server/server";
import {
  answers,
  debugged,
  executed,
  extensions,
  folder,
  shown,
  Uri,
  window,
  workspace,
} from "../testing/vscode";

const CONFIGURATION = { name: "Fullgraph: toy.py", type: "debugpy", cwd: "/project" };
const DEBUGGER = { packageJSON: { contributes: { debuggers: [{ type: "debugpy" }] } } };

let asked: unknown[];
let answer: unknown;

const server = {
  available: () => Promise.resolve(true),
  request: (_: string, { target, uncompiled }: DebugParams) => {
    asked.push(uncompiled ? `${target} uncompiled` : target);
    return Promise.resolve(answer as DebugItem);
  },
} as unknown as Server;

beforeEach(() => {
  asked = [];
  answer = { configuration: CONFIGURATION };
  shown.length = debugged.length = answers.length = executed.length = 0;
  extensions.all = [{ packageJSON: {} }, DEBUGGER];
  workspace.workspaceFolders = [folder("/project")];
});

function edit(path: string): void {
  window.activeTextEditor = { document: { languageId: "python", uri: Uri.file(path) } };
}

test("the server says how a target is started", async () => {
  edit("/project/toy.py");
  await debugTarget(server, undefined, false);
  expect(asked).toEqual(["file:///project/toy.py"]);
  expect(debugged).toEqual([[workspace.workspaceFolders?.[0], CONFIGURATION]]);
});

test("a target can be debugged without torch.compile", async () => {
  edit("/project/toy.py");
  await debugTarget(server, undefined, true);
  expect(asked).toEqual(["file:///project/toy.py uncompiled"]);
});

test("a repro is debugged, and nothing else that is open", async () => {
  edit("/project/.fullgraph/repros/toy-1.py");
  await debugRepro(server);
  expect(asked).toEqual(["file:///project/.fullgraph/repros/toy-1.py"]);
  edit("/project/toy.py");
  await debugRepro(server);
  expect(debugged).toHaveLength(1);
  expect(shown).toEqual([
    "There is no repro: minify a failure, or open a file in .fullgraph/repros.",
  ]);
});

test("the server says why something cannot be debugged", async () => {
  answer = { problem: "There is no target toy.py." };
  edit("/project/toy.py");
  await debugTarget(server, undefined, false);
  expect([debugged, shown]).toEqual([[], ["There is no target toy.py."]]);
});

test.each([
  ["Install", "workbench.extensions.installExtension"],
  ["Show Extension", "workbench.extensions.search"],
])("without a debugger, %s leads to one", async (button, command) => {
  extensions.all = [{ packageJSON: {} }];
  edit("/project/toy.py");
  answers.push(button);
  await debugTarget(server, undefined, false);
  await Promise.resolve();
  expect(debugged).toEqual([]);
  expect(shown).toEqual([
    "There is no debugger for Python: install the Python Debugger extension.",
  ]);
  expect(executed).toEqual([[command, "ms-python.debugpy"]]);
});
