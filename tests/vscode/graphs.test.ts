import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";
import type { Window } from "./harness/window.ts";

const PROGRAM = `import torch


def normalized(x, eps=1e-6):
    spread = x.std(-1, keepdim=True)
    return (x - x.mean(-1, keepdim=True)) / (spread + eps)


@torch.compile
def step(x, w):
    h = normalized(
        x @ w,
        eps=1e-5,
    )
    print("half way")
    h = torch.relu(h)
    if h.sum() > 0:
        h = normalized(h)
    return h - h.max()


@torch.compile
def total(rows):
    result = rows[0]
    for row in rows[1:]:
        result = result + row.sin()
        print("one more row")
    return result


if __name__ == "__main__":
    for batch in (4, 6):
        step(torch.randn(batch, 8), torch.randn(8, 8))
    total(torch.randn(3, 8))
`;

const ONE = "#1a80c4";
const TWO = "#e08f00";
const THREE = "#009e73";
const EAGER = "#8c8c8c";

const STEP = {
  ...{ 11: ["1", ONE], 12: [ONE], 13: [ONE], 14: [ONE] },
  ...{ 15: [EAGER], 16: ["2", TWO], 17: [EAGER, TWO], 18: ["3", THREE], 19: [THREE] },
};
const MARKS = {
  ...{ 5: [ONE, THREE], 6: [ONE, THREE], ...STEP },
  ...Object.fromEntries([24, 25, 26, 27, 28].map((line) => [line, [EAGER]])),
};

/** By line, what the gutter shows: the number of a graph, and the colours of the bars from left to right. */
async function gutter({ editor }: Window): Promise<Record<number, string[]>> {
  return await editor.evaluate((shown) => {
    const top = (element: Element) => Math.round(element.getBoundingClientRect().top);
    const numbers = [...shown.querySelectorAll(".line-numbers")];
    const lines = new Map(numbers.map((item) => [top(item), Number(item.textContent)]));
    const marks = [...shown.querySelectorAll(".glyph-margin-widgets [class*='ced-']")];
    return Object.fromEntries(
      marks.map((item) => {
        const image = /base64,([^"]+)/.exec(getComputedStyle(item).backgroundImage)?.[1] ?? "";
        const icon = new DOMParser().parseFromString(atob(image), "image/svg+xml");
        const colours = [...icon.querySelectorAll("line")].map((bar) => bar.getAttribute("stroke"));
        const texts = [...icon.querySelectorAll("text")].map((number) => number.textContent);
        return [lines.get(top(item)), [...texts, ...colours]];
      }),
    ) as Record<number, string[]>;
  });
}

/** Whether the only breakpoint is to the right of the mark of its line. */
async function besideItsMark({ editor }: Window): Promise<boolean> {
  return await editor.evaluate((shown) => {
    const point = shown.querySelector(".codicon-debug-breakpoint")?.getBoundingClientRect();
    const marks = [...shown.querySelectorAll(".glyph-margin-widgets [class*='ced-']")];
    return marks
      .map((mark) => mark.getBoundingClientRect())
      .some((mark) => mark.top === point?.top && mark.right <= point.left);
  });
}

scenario("the gutter tells which graph a line is in, and what ran eagerly", async (scene) => {
  const window = await scene.enter({ "model.py": PROGRAM });
  await window.openFile("model.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => gutter(window), { timeout: LONG }).toEqual(MARKS);
  await expect
    .poll(() => window.hover("normalized(h)"))
    .toContain("graph 3 of 3 · compilations 2/0, 2/1 · step");
  await expect.poll(() => window.hover("row.sin")).toContain("the whole of total runs eagerly: ");
  await scene.picture("graph-marks");

  // A breakpoint is beside the mark of its line, not above it.
  await window.clickText("torch.relu");
  await window.page.keyboard.press("F9");
  await expect.poll(() => besideItsMark(window)).toBe(true);
  await expect.poll(() => gutter(window)).toEqual(MARKS);
  await scene.picture("graph-marks-breakpoint");

  await window.typeBehind("import torch", "\n");
  await window.typeBehind("torch.relu(h)", " + 1");
  // An edited line has no mark until the next run: the number stands where the graph begins now.
  const unchanged = Object.entries({ ...MARKS, 17: ["2", EAGER, TWO] }).filter(
    ([line]) => line !== "16",
  );
  const moved = Object.fromEntries(unchanged.map(([line, marks]) => [Number(line) + 1, marks]));
  await expect.poll(() => gutter(window)).toEqual(moved);

  await window.palette("Fullgraph: Toggle Graphs in the Gutter");
  await expect.poll(() => gutter(window)).toEqual({});
  await window.palette("Fullgraph: Toggle Graphs in the Gutter");
  await expect.poll(() => gutter(window)).toEqual(moved);
});
