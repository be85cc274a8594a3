import { beforeEach, expect, test } from "vitest";
import { analyze, copyBugReport, minify, type Named } from "./failures";
import { minified } from "../shared/repros";
import { BUG_REPORT, MINIFY, STAGES } from "../protocol";
import type { Server } from "../server/server";
import { finding, target } from "../testing/reports";
import { answers, clipboard, shown, Uri, ViewColumn, window } from "../testing/vscode";

const FAILURE = { fault: 2, compileId: "0/0" };
const TARGET: Named = {
  kind: "target",
  id: "target/toy",
  item: target({ id: "toy" }),
  report: undefined,
  parent: undefined,
};

let commands: unknown[][];
let asked: unknown[][];
let answer: unknown;

const server = {
  available: () => Promise.resolve(true),
  command: (...command: unknown[]) => Promise.resolve(commands.push(command)),
  request: (...question: unknown[]) => {
    asked.push(question);
    return Promise.resolve(answer);
  },
} as unknown as Server;

beforeEach(() => {
  commands = [];
  asked = [];
  answers.length = shown.length = window.documents.length = 0;
  clipboard.text = "";
  window.activeTextEditor = undefined;
});

function found(changes: Parameters<typeof finding>[0] = {}): Named {
  return { kind: "finding", id: "f", target: "toy", finding: finding(changes) };
}

function edit(languageId: string, path = "/project/toy.py"): void {
  window.activeTextEditor = { document: { languageId, uri: Uri.file(path) } };
}

test("before there was a Python file, the user is told", async () => {
  edit("markdown");
  await minify(server, undefined);
  await copyBugReport(server, undefined);
  expect([commands, asked]).toEqual([[], []]);
  expect(shown).toEqual(Array(2).fill("There is no Python file to act on: open one first."));
});

test("what a menu names is meant", async () => {
  await analyze(server, STAGES, TARGET);
  await analyze(server, STAGES, found());
  await minify(server, TARGET);
  await minify(server, found({ minify: FAILURE }));
  expect(commands).toEqual([
    [STAGES, "toy"],
    [STAGES, "toy"],
    [MINIFY, "toy"],
    [MINIFY, "toy", FAILURE],
  ]);
});

test("from the palette it is the last Python file, wherever the focus is", async () => {
  edit("python");
  await minify(server, undefined);
  edit("markdown");
  await minify(server, undefined);
  expect(commands).toEqual(Array(2).fill([MINIFY, "file:///project/toy.py"]));
});

test("a repro is opened beside its source", async () => {
  const repro = "file:///project/.fullgraph/repros/toy-1.py";
  await minified({ repro } as Parameters<typeof minified>[0]);
  const [[uri, how] = []] = window.documents;
  expect(String(uri)).toBe(repro);
  expect(how).toEqual({ viewColumn: ViewColumn.Beside, preview: false });
});

test("where there is none, nothing is opened", async () => {
  await minified(undefined);
  await minified({} as Parameters<typeof minified>[0]);
  expect(window.documents).toEqual([]);
});

test("a bug report goes to the clipboard", async () => {
  answer = { text: "### Versions", holds: "It holds weights." };
  answers.push("Copy");
  await copyBugReport(server, found());
  expect(asked).toEqual([[BUG_REPORT, { target: "toy" }]]);
  expect(clipboard.text).toBe("### Versions");
  expect(shown).toEqual(["It holds weights.", "The bug report is on the clipboard."]);
});

test("before a bug report is copied, the user is told what it holds", async () => {
  answer = { text: "### Versions", holds: "It holds weights." };
  await copyBugReport(server, found());
  expect(clipboard.text).toBe("");
  expect(shown).toEqual(["It holds weights."]);
});

test("the server says why there is no bug report", async () => {
  answer = { problem: "toy.py has no failure to report: analyze it first." };
  await copyBugReport(server, found());
  expect(clipboard.text).toBe("");
  expect(shown).toEqual(["toy.py has no failure to report: analyze it first."]);
});
