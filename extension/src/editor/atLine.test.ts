import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AtLine, movedLine } from "./atLine";
import { childrenOf, lineItem, type LineNode } from "./atLineItems";
import { AT_LINE, type AtLineItem, type LineEntry } from "../protocol";
import type { Server } from "../server/server";
import { EventEmitter, executed, type TreeView, Uri, window, workspace } from "../testing/vscode";

const FILE = Uri.file("/project/model.py");
const NOTHING = "Nothing is known of this line.";

const serverChanged = new EventEmitter<unknown>();
const targetChanged = new EventEmitter<{ state?: string }>();
/** The lines that the server was asked about, and what it knows of each. */
let asked: unknown[];
let known: AtLineItem;
let atLine: AtLine;
let view: TreeView;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  known = {
    sections: [{ kind: "graphs", title: "Graphs", entries: [], description: "" }],
  };
  const request = (method: string, params: unknown) => {
    asked.push([method, params]);
    return Promise.resolve(known);
  };
  put(4);
  const server = {
    request,
    onDidChange: serverChanged.event,
    onDidChangeTarget: targetChanged.event,
  };
  atLine = new AtLine(server as unknown as Server);
  const made = window.trees.at(-1);
  if (made === undefined) {
    throw new Error("no view was made");
  }
  view = made;
});

afterEach(() => {
  atLine.dispose();
  window.activeTextEditor = undefined;
  vi.useRealTimers();
});

/** Put the cursor on a line, counted from 0. */
function put(line: number, uri = FILE, languageId = "python"): void {
  window.activeTextEditor = {
    document: { languageId, uri },
    selection: { active: { line, character: 2 } },
  };
  window.selectionChanged.fire(undefined);
}

function edit(startLine: number, endLine: number, text: string): void {
  workspace.textChanged.fire({ document: { uri: FILE }, contentChanges: [change()] });
  function change() {
    const start = { line: startLine, character: 0 };
    return { range: { start, end: { line: endLine, character: 0 } }, text };
  }
}

function question(line: number): unknown {
  const textDocument = { uri: FILE.toString() };
  return [AT_LINE, { textDocument, position: { line, character: 0 } }];
}

test("it follows the cursor, and asks once when that rests", async () => {
  put(5);
  put(6);
  await vi.runAllTimersAsync();
  expect(asked).toEqual([question(6)]);
  expect(view.message).toBe("model.py:7");
  expect(atLine.getChildren()).toMatchObject([{ section: { kind: "graphs" } }]);

  put(6);
  await vi.runAllTimersAsync();
  expect(asked).toHaveLength(1);
});

test("a hidden view asks for nothing until it is shown", async () => {
  view.visible = false;
  put(6);
  await vi.runAllTimersAsync();
  expect(asked).toEqual([]);
  view.visible = true;
  view.shown.fire({ visible: true });
  await vi.runAllTimersAsync();
  expect(asked).toEqual([question(6)]);
});

test("the end of a run shows what it told", async () => {
  await vi.runAllTimersAsync();
  targetChanged.fire({ state: "running" });
  expect(asked).toHaveLength(1);
  known = { sections: [], nothing: NOTHING };
  targetChanged.fire({ state: "finished" });
  await vi.runAllTimersAsync();
  expect(asked).toHaveLength(2);
  expect(atLine.getChildren()).toEqual([]);
  expect(view.message).toBe(`model.py:5 · ${NOTHING}`);
});

test("a document that is no program leaves the last line", async () => {
  await vi.runAllTimersAsync();
  put(1, Uri.parse("fullgraph-kernel:///kernel.py"));
  put(1, FILE, "markdown");
  await vi.runAllTimersAsync();
  expect(asked).toEqual([question(4)]);
  expect(view.message).toBe("model.py:5");
});

test("a pinned line stays, moves with its text, and gives way to the cursor's", async () => {
  await vi.runAllTimersAsync();
  await atLine.pin(true);
  expect(executed.at(-1)).toEqual(["setContext", "fullgraph.atLine.pinned", true]);
  expect(view.message).toBe("model.py:5 · pinned");

  put(9);
  edit(1, 1, "one\ntwo\n");
  await vi.runAllTimersAsync();
  expect(asked).toEqual([question(4), question(6)]);
  expect(view.message).toBe("model.py:7 · pinned");

  await atLine.pin(false);
  await vi.runAllTimersAsync();
  expect(executed.at(-1)).toEqual(["setContext", "fullgraph.atLine.pinned", false]);
  expect(asked.at(-1)).toEqual(question(9));
  expect(view.message).toBe("model.py:10");
});

test.each([
  ["a line above", [2, 0, 2, 0], "new\n", 6],
  ["a line at its beginning", [5, 0, 5, 0], "new\n", 6],
  ["a line below", [6, 0, 6, 0], "new\n", 5],
  ["two lines above gone", [1, 0, 3, 0], "", 3],
  ["a word in it", [5, 4, 5, 8], "word", 5],
  ["its own lines gone", [3, 2, 7, 0], "", 3],
] as const)("an edit moves it: %s", (_, [line, character, endLine, endCharacter], text, moved) => {
  const range = { start: { line, character }, end: { line: endLine, character: endCharacter } };
  expect(movedLine(5, { range, text })).toBe(moved);
});

const ENTRY: LineEntry = { label: "x", description: "f32[8]", details: "", notes: [] };
const location = {
  uri: FILE.toString(),
  range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } },
};

function entryNode(changes: Partial<LineEntry>): LineNode {
  return { kind: "entry", id: "findings/0", entry: { ...ENTRY, ...changes } };
}

test("a finding has what to do below it, and a menu", () => {
  const node = entryNode({
    severity: "warning",
    explanation: "fullgraph-explanation:/GB0059.md",
    notes: ["It breaks.", "Leave it out."],
    details: "**It breaks**",
    location,
  });
  const item = lineItem(node);
  expect(item).toMatchObject({
    label: "x",
    description: "f32[8]",
    iconPath: { id: "warning" },
    contextValue: "finding",
    tooltip: { value: "**It breaks**" },
    command: { command: "vscode.open", arguments: [FILE, {}] },
  });
  expect(childrenOf(node).map(lineItem)).toMatchObject([
    { id: "findings/0/0", label: "It breaks.", tooltip: "It breaks." },
    { id: "findings/0/1", label: "Leave it out." },
  ]);
});

test("a kernel opens in the second column, and what has no place opens nothing", () => {
  const uri = "fullgraph-kernel:///1/kernel.py";
  const kernel = lineItem(entryNode({ location: { ...location, uri } }));
  expect(kernel.command?.arguments?.[1]).toMatchObject({ viewColumn: 2 });
  const plain = lineItem(entryNode({}));
  expect(plain.command).toBeUndefined();
  expect(plain.contextValue).toBeUndefined();
  expect(plain.tooltip).toBe("x\nf32[8]");
});

test("a section has an id that is the same for every line", () => {
  const section = { kind: "guards", title: "Guards", entries: [ENTRY], description: "" } as const;
  const node: LineNode = { kind: "section", section: { ...section, entries: [ENTRY] } };
  expect(lineItem(node)).toMatchObject({ id: "guards", iconPath: { id: "shield" } });
  expect(childrenOf(node)).toEqual([{ kind: "entry", id: "guards/0", entry: ENTRY }]);
});
