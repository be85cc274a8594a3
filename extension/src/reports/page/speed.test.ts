import { expect, test } from "vitest";
import { speedItem } from "../../testing/performance";
import { facts, shares } from "./speed";

test("what was measured is told in a few words", () => {
  expect(facts(speedItem())).toEqual([
    "a call takes 10 ms",
    "12 ms uncompiled",
    "1.15 to 1.25 times as fast (95 % confidence)",
    "20 samples",
  ]);
});

test("what was not measured is not told", () => {
  expect(facts(speedItem({ eager: 0 }))).toEqual(["a call takes 10 ms"]);
  expect(facts(speedItem({ compiled: 0 }))).toEqual([]);
});

test("shares are those of the time of a whole call", () => {
  const { parts } = speedItem();
  expect(shares(parts).map(({ label, share }) => [label, share])).toEqual([
    ["checking guards", "< 1 %"],
    ["between graphs, uncompiled", "61 %"],
    ["kernels", "39 %"],
  ]);
});
