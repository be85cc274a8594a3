import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const CELLS = [
  "%matplotlib inline\nimport torch",
  `@torch.compile
def step(x):
    x = x.sin()
    torch._dynamo.graph_break()
    return x * 2`,
  "step(torch.ones(4))",
  "raise SystemExit('this cell is not run')",
];
const NOTEBOOK = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { language_info: { name: "python" } },
  cells: CELLS.map((source) => ({
    cell_type: "code",
    metadata: {},
    execution_count: null,
    outputs: [],
    source,
  })),
};
const BREAK = { severity: "warning", text: "torch._dynamo.graph_break()" };

scenario(
  "a notebook up to a cell is analyzed, and its cells show what was found",
  async (scene) => {
    const window = await scene.enter({ "model.ipynb": JSON.stringify(NOTEBOOK) });
    const { page } = window;
    await window.openFile("model.ipynb");
    await window.clickText("step(torch.ones");
    await page.keyboard.press("Control+Alt+g");
    await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([BREAK]);
    await expect
      .poll(() => window.lenses())
      .toContainEqual(expect.stringContaining("1 graph break"));
    await expect
      .poll(() => window.hover("torch._dynamo.graph_break()"))
      .toContain("`torch._dynamo.graph_break` breaks the graph");
    await scene.picture("notebook");

    await window.openView("Fullgraph");
    await window.expand("model.ipynb");
    const finding = window.treeRow("cell 2:4: `torch._dynamo.graph_break` breaks the graph");
    await window.until(page.getByText("Cell 2 of 4"), () => finding.click());
    await scene.picture("notebook-tree");

    // The fix changes the cells, and the next run finds nothing.
    await window.clickText("graph_break()");
    await window.quickFix("Fix: Remove the graph break");
    await page.keyboard.press("Control+s");
    await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([]);
    await scene.picture("notebook-fixed");
  },
);
