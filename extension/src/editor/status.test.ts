import { expect, test } from "vitest";
import type { InterpreterItem } from "../protocol";
import { statusText } from "./status";
import { LanguageStatusSeverity } from "../testing/vscode";

const READY = { kind: "ready", python: { path: "/usr/bin/python3", version: "3.12.1" } } as const;
const GOOD: InterpreterItem = {
  path: "/project/.venv/bin/python",
  origin: ".venv",
  python: "3.11.7",
  torch: "2.13.0+cpu",
};

test("versions are told as people say them", () => {
  expect(statusText(READY, GOOD, false)).toMatchObject({
    text: "Fullgraph: Python 3.11 · torch 2.13",
    detail: "/project/.venv/bin/python (.venv)",
    severity: LanguageStatusSeverity.Information,
    busy: false,
    command: { command: "fullgraph.selectInterpreter" },
  });
});

test("a run makes it busy", () => {
  expect(statusText(READY, GOOD, true).busy).toBe(true);
});

test("the folder's interpreter is named as such for a notebook", () => {
  expect(statusText(READY, { ...GOOD, origin: "the Python extension" }, false, true).detail).toBe(
    "/project/.venv/bin/python (the Python extension: the folder's interpreter, since none is known for the notebook)",
  );
});

test("an interpreter without torch is an error that says what to do", () => {
  const without = { path: GOOD.path, origin: GOOD.origin, python: "3.11.7" };
  const problem = "It has no torch: install it, or select another interpreter.";
  expect(statusText(READY, { ...without, problem }, false)).toMatchObject({
    text: "Fullgraph: Python 3.11",
    detail: problem,
    severity: LanguageStatusSeverity.Error,
    command: { command: "fullgraph.selectInterpreter" },
  });
});

test("an interpreter that is not there has no versions", () => {
  const missing = { path: "/gone", origin: "setting", problem: "/gone is not there." };
  expect(statusText(READY, missing, false)).toMatchObject({
    text: "Fullgraph",
    detail: "/gone is not there.",
  });
});

test.each([
  [{ kind: "restricted" }, LanguageStatusSeverity.Warning, "workbench.trust.manage"],
  [
    { kind: "noPython", message: "no" },
    LanguageStatusSeverity.Error,
    "fullgraph.selectInterpreter",
  ],
  [{ kind: "failed", message: "no" }, LanguageStatusSeverity.Error, "fullgraph.showOutput"],
] as const)("%j offers what helps", (state, severity, command) => {
  expect(statusText(state, undefined, false)).toMatchObject({
    severity,
    busy: false,
    command: { command },
  });
});

test("while the server starts it is busy", () => {
  expect(statusText({ kind: "starting" }, undefined, false).busy).toBe(true);
});
