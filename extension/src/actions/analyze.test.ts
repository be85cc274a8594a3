import { expect, test } from "vitest";
import { testAt } from "./analyze";
import { target } from "../testing/reports";

function lines(start: number, end: number) {
  return { start: { line: start, character: 0 }, end: { line: end, character: 0 } };
}

const TARGETS = [
  target({ id: "file" }),
  target({ id: "class", kind: "pytest", range: lines(3, 20) }),
  target({ id: "method", kind: "pytest", range: lines(5, 8) }),
  target({ id: "example", kind: "example", range: lines(6, 6) }),
];

test.each([
  [2, undefined],
  [3, "class"],
  [5, "method"],
  [6, "method"],
  [8, "method"],
  [9, "class"],
  [21, undefined],
])("the innermost test around line %i is %s", (line, id) => {
  expect(testAt(TARGETS, line)?.id).toBe(id);
});
