import { expect, test } from "vitest";
import { icon, type Mark, marksOf } from "./graphMarks";
import type { GraphLinesItem } from "../protocol";

function item(startLine: number, endLine: number, ...graphs: number[]): GraphLinesItem {
  const label = graphs.map((graph) => `graph ${graph}`).join("\n");
  return { startLine, endLine, graphs, label, eager: false, reason: "" };
}

function eager(of: GraphLinesItem): GraphLinesItem {
  return { ...of, eager: true, reason: "it breaks" };
}

function colours(svg: string): string[] {
  return [...svg.matchAll(/stroke="(.*?)"/g)].map(([, colour = ""]) => colour);
}

function number({ icon: svg }: Mark): string | undefined {
  return />(\d+)<\/text>/.exec(svg)?.[1];
}

const GREY = "#8c8c8c";

test("the number of a graph stands on the first line of it, and where it goes on after another", () => {
  const marks = marksOf([
    item(2, 4, 1),
    item(6, 6, 1),
    item(7, 7, 2),
    item(8, 8, 1),
    item(9, 9, 1),
  ]);
  expect(marks.map((mark) => [mark.startLine, mark.endLine, number(mark)])).toEqual([
    [2, 2, "1"],
    [3, 4, undefined],
    [6, 6, undefined],
    [7, 7, "2"],
    [8, 8, "1"],
    [9, 9, undefined],
  ]);
});

test("lines of several graphs have a bar for each, as many as there is room for, and no number", () => {
  const [two, many] = marksOf([item(0, 3, 1, 2), item(4, 4, 1, 2, 3, 4)]);
  expect([two?.startLine, two?.endLine, two && number(two)]).toEqual([0, 3, undefined]);
  expect(new Set(colours(two?.icon ?? "")).size).toBe(2);
  expect(colours(many?.icon ?? "")).toHaveLength(3);
});

test("what ran eagerly has a dotted grey bar, beside those of its graphs", () => {
  const [alone, both] = marksOf([eager(item(0, 1)), eager(item(2, 2, 1))]);
  expect(colours(alone?.icon ?? "")).toEqual([GREY]);
  expect(alone?.icon).toContain("stroke-dasharray");
  expect(alone?.hover).toBe("it breaks");
  expect(colours(both?.icon ?? "")).toEqual([GREY, ...colours(icon([1], false))]);
  expect(both?.colour).toBe(colours(icon([1], false))[0]);
  expect(both?.hover).toBe("graph 1  \nit breaks");
});

test("six graphs have colours of their own, the seventh that of the first", () => {
  const found = [1, 2, 3, 4, 5, 6, 7].map((graph) => colours(icon([graph], false))[0]);
  expect(new Set([...found.slice(0, 6), GREY]).size).toBe(7);
  expect(found[6]).toBe(found[0]);
});
