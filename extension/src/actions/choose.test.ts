import { afterEach, expect, test } from "vitest";
import { askArguments, choicePicks, targetOfFile } from "./choose";
import { target } from "../testing/reports";
import { keepingMemory } from "../testing/memory";
import { dialogs, Uri } from "../testing/vscode";
import type { Server } from "../server/server";
import type { SuggestedTargets } from "../protocol";

const MODEL = Uri.file("/project/model.py");
const TRAIN = target({ id: "/project/train.py", label: "train.py" });
const TEST = target({ id: "pytest:/project/test.py", label: "test.py", kind: "pytest" });

afterEach(() => {
  dialogs.typed = undefined;
});

function suggesting(answer: Partial<SuggestedTargets>): Server {
  const suggested = { targets: [], sure: false, ...answer };
  return { request: () => Promise.resolve(suggested) } as unknown as Server;
}

function chosen(answer: Partial<SuggestedTargets>, memory = keepingMemory()) {
  return targetOfFile(suggesting(answer), memory, MODEL as never);
}

test("nobody is asked where it is sure", async () => {
  expect(await chosen({ targets: [TRAIN], sure: true })).toBe(TRAIN.id);
  expect(await chosen({ targets: [], sure: true })).toBe(MODEL.toString());
});

test("programs, the file itself and an example call can be chosen", () => {
  const labels = choicePicks([TRAIN, TEST], MODEL as never, keepingMemory()).map(
    ({ label }) => label,
  );
  expect(labels.map((label) => label.replace(/^\$\(\w+\) /, ""))).toEqual([
    "train.py",
    "train.py with arguments…",
    "test.py",
    expect.stringContaining("model.py"),
    expect.stringMatching(/^Run .*model.py as a script$/),
    expect.stringMatching(/^Run .*model.py as a script with arguments…$/),
    "Add an example call",
  ]);
});

test("a launch configuration has its arguments, and the file is not offered twice", () => {
  const launch = target({ id: "launch:Small", label: "Small", uri: "file:///project/train.py" });
  const file = Uri.file("/project/train.py") as never;
  const labels = choicePicks([launch, TRAIN], file, keepingMemory()).map(({ label }) => label);
  expect(labels.map((label) => label.replace(/^\$\(\w+\) /, ""))).toEqual([
    "Small",
    "train.py",
    "train.py with arguments…",
    expect.stringContaining("train.py"),
    "Add an example call",
  ]);
});

test("what is chosen is run, and a list that is left runs nothing", async () => {
  dialogs.taken.push("test.py");
  expect(await chosen({ targets: [TRAIN, TEST] })).toBe(TEST.id);
  expect(await chosen({ targets: [TRAIN, TEST] })).toBeUndefined();
});

test("arguments make a target of their own, and are there the next time", async () => {
  const memory = keepingMemory();
  dialogs.taken.push("train.py with arguments…");
  dialogs.typed = " --steps 2 ";
  expect(await chosen({ targets: [TRAIN] }, memory)).toBe("/project/train.py -- --steps 2");
  dialogs.typed = "";
  expect(await askArguments(memory, TRAIN.id)).toBe(TRAIN.id);
  expect(dialogs.suggested).toBe("--steps 2");
  dialogs.typed = undefined;
  expect(await askArguments(memory, TRAIN.id)).toBeUndefined();
});
