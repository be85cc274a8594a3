import { beforeEach, expect, test } from "vitest";
import { forget, reply, showOutput, tell } from "./messages";
import { answers, executed, shown } from "../testing/vscode";

beforeEach(() => {
  forget();
  shown.length = answers.length = executed.length = 0;
});

test("a failure is not told twice in a row", () => {
  tell("one");
  tell("one");
  tell("two");
  tell("one");
  expect(shown).toEqual(["one", "two", "one"]);
});

test("a failure is news again once it was over", () => {
  tell("one");
  forget();
  tell("one");
  expect(shown).toEqual(["one", "one"]);
});

test("what the user does is always answered", () => {
  reply("no");
  reply("no");
  expect(shown).toEqual(["no", "no"]);
});

test("a button executes its command", async () => {
  answers.push(showOutput().title);
  tell("one", showOutput());
  await Promise.resolve();
  await Promise.resolve();
  expect(executed).toEqual([["fullgraph.showOutput"]]);
});

test("no text of a program is a link in a message", () => {
  reply("[x](command:workbench.action.quit) is no target");
  expect(shown).toEqual(["[x] (command:workbench.action.quit) is no target"]);
});
