import { expect, test } from "vitest";
import { kernelPicks } from "./kernels";
import type { KernelItem } from "../protocol";
import { QuickPickItemKind } from "../testing/vscode";

function kernel(name: string, graph: string, operators: string, line = 2): KernelItem {
  const range = { start: { line, character: 4 }, end: { line, character: 9 } };
  const locations = [{ uri: "file:///project/toy.py", range }];
  return { uri: `fullgraph-kernel:/1/${name}`, name, graph, operators, locations };
}

const KERNELS = [
  kernel("0_0_forward.py", "0/0 forward", ""),
  kernel("relu", "0/0 forward", "relu", 4),
  kernel("mul", "0/0 backward", "mul"),
];

test("kernels stand under their graph, with their operations and lines", () => {
  const picks = kernelPicks(KERNELS, () => false);
  expect(picks.map(({ label }) => label)).toEqual([
    "0/0 forward",
    "0_0_forward.py",
    "relu",
    "0/0 backward",
    "mul",
  ]);
  expect(picks[0]?.kind).toBe(QuickPickItemKind.Separator);
  expect(picks[2]).toMatchObject({ description: "relu", detail: "/project/toy.py:5" });
});

test("those of the cursor's line come first, without the whole code", () => {
  const picks = kernelPicks(KERNELS, ({ locations }) => locations[0]?.range.start.line === 2);
  expect(picks.map(({ label }) => label)).toEqual([
    "at the cursor",
    "mul",
    "0/0 forward",
    "0_0_forward.py",
    "relu",
  ]);
});
