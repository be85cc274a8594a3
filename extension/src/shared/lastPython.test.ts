import { beforeEach, expect, test } from "vitest";
import { lastPython, neededPython, rememberPython } from "./lastPython";
import { shown, Uri, window } from "../testing/vscode";

function editor(uri: string, languageId = "python") {
  return { document: { languageId, uri: Uri.parse(uri) } };
}

beforeEach(() => {
  shown.length = 0;
});

test("before there was a Python file, who needs one is told", () => {
  window.activeTextEditor = editor("output://fullgraph", "Log");
  expect(lastPython()).toBeUndefined();
  expect(neededPython()).toBeUndefined();
  expect(shown).toEqual(["There is no Python file to act on: open one first."]);
});

test("a file is remembered when others get the focus: pages, output, generated code, old versions", () => {
  const listening = rememberPython();
  const toy = editor("file:///project/toy.py");
  window.editorChanged.fire(toy);
  for (const other of [
    undefined,
    editor("output://fullgraph", "Log"),
    editor("fullgraph-kernel:///1/triton_poi_0.py"),
    editor("git:///project/old.py"),
  ]) {
    window.activeTextEditor = other;
    window.editorChanged.fire(other);
    expect(neededPython()).toBe(toy);
  }
  expect(shown).toEqual([]);
  listening.dispose();
});

test("a file stays the last one when it is closed, a text without a file does not", () => {
  const closed = (uri: string, isUntitled: boolean) => {
    const { document } = editor(uri);
    return { document: { ...document, isClosed: true, isUntitled } };
  };
  window.activeTextEditor = closed("file:///project/toy.py", false);
  expect(lastPython()).toBe(window.activeTextEditor);
  window.activeTextEditor = closed("untitled://Untitled-1", true);
  expect(lastPython()).toBeUndefined();
});
