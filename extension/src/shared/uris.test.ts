import { beforeEach, expect, test } from "vitest";
import { openBeside } from "../actions/artifacts";
import { showExplanation } from "./explanation";
import { openRepro } from "./repros";
import { showSource } from "../actions/kernels";
import { Milestones } from "./milestones";
import { executed, shown, window } from "../testing/vscode";

const HOSTILE = [
  "command:workbench.action.quit",
  "https://evil/x.md",
  "vscode://evil.extension/x",
  "untitled:x",
  "//server/share/x.md",
  "file:x",
  "",
];
const NOWHERE = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

beforeEach(() => {
  executed.length = shown.length = window.documents.length = 0;
});

test("commands that a link can call open only what the server leads to", async () => {
  for (const uri of HOSTILE) {
    await showExplanation(uri, new Milestones());
    await openBeside(uri);
    await openRepro(uri);
    await showSource({ uri, range: NOWHERE });
  }
  await showExplanation("file:///etc/passwd", new Milestones());
  await showExplanation("fullgraph-kernel:/1/x.py", new Milestones());
  await openBeside("file:///etc/passwd");
  expect(window.documents).toEqual([]);
  expect(executed.filter(([command]) => command !== "setContext")).toEqual([]);
  expect(shown).toHaveLength(4 * HOSTILE.length + 3);
});

test("what the server leads to is opened", async () => {
  await showExplanation("fullgraph-explanation:/x.md?[]", new Milestones());
  await openBeside("fullgraph-kernel:/1/x.py");
  await openRepro("file:///w/.fullgraph/repros/x-1.py");
  await showSource({ uri: "file:///w/x.py", range: NOWHERE });
  expect(window.documents).toHaveLength(4);
  expect(shown).toEqual([]);
});
