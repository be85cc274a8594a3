import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";

scenario(
  "targets are run from the tree, whose items open their lines, and by name",
  async (scene) => {
    const window = await scene.enter();
    await window.openView("Fullgraph");
    await expect
      .poll(() => window.tree())
      .toEqual(
        ["block.py::Block", "block.py::clip", "toy.py", "train.py"].map((label) => ({
          level: 1,
          label,
          description: "",
        })),
      );

    await window.treeAction("toy.py", "Analyze");
    await window.expand("toy.py");
    await expect
      .poll(() => window.tree())
      .toEqual(
        expect.arrayContaining([
          {
            level: 1,
            label: "toy.py",
            description: expect.stringMatching(/^2 graph breaks · ran [\d.]+ s$/) as string,
          },
          {
            level: 2,
            label: "toy_example",
            description: expect.stringMatching(
              /^toy.py:7 · 3 graphs · 2 graph breaks · \d+ guards · compiled in [\d.]+ s$/,
            ) as string,
          },
          { level: 3, label: "9: `print` breaks the graph", description: "" },
          {
            level: 3,
            label: "10: a branch on the data of `b.sum()` breaks the graph",
            description: "",
          },
          { level: 3, label: "Graphs", description: "3" },
        ]),
      );

    await window.treeRow("10: a branch on the data of `b.sum()` breaks the graph").click();
    await expect.poll(() => window.activeFile()).toBe("toy.py");
    await expect.poll(() => window.line()).toBe(10);

    await window.expand("Guards");
    await expect
      .poll(() => window.tree())
      .toContainEqual({
        level: 4,
        label: "a",
        description: expect.stringMatching(/^TENSOR_MATCH · .*float32/) as string,
      });
    await scene.picture("breaks");

    const filter = window.page.locator('.part.sidebar [aria-label^="Filter Findings"]').first();
    await filter.click();
    await window.quickRow("graph breaks").click();
    await scene.picture("filter");
    await window.page.keyboard.press("Enter");
    await window.page.getByText("Filter: only graph breaks").waitFor();
    await filter.click();
    await window.quickRow("graph breaks").click();
    await window.page.keyboard.press("Enter");
    await window.page.getByText("Filter: only graph breaks").waitFor({ state: "detached" });

    await window.palette("Fullgraph: Clear All Findings");
    await expect.poll(() => window.squiggles()).toEqual([]);
    await expect.poll(() => window.target("toy.py")).toMatchObject({ description: "" });

    await window.openFile("block.py");
    await window.palette("Fullgraph: Analyze…");
    await window.choose("Analyze Another Target…");
    await window.quickRow("block.py::clip").waitFor();
    await scene.picture("pick");
    await window.choose("block.py::clip");
    await expect
      .poll(() => window.squiggles())
      .toContainEqual({ severity: "warning", text: "norm > limit" });
  },
);
