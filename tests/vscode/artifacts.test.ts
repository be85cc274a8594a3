import { expect } from "vitest";
import { LONG, PRODUCT } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("each form that a graph took opens from the tree, and is followed", async (scene) => {
  const window = await scene.enter({ "model.py": PRODUCT });
  await window.openFile("model.py");
  await window.palette("Fullgraph: Open Generated Kernels");
  await window.quickRows.first().waitFor({ timeout: LONG });
  await window.page.keyboard.press("Escape");

  await window.openView("Fullgraph");
  for (const label of ["model.py", "step", "Graphs", "Graph 0/0", "forward"]) {
    await window.expand(label);
  }
  const labels = async () => (await window.tree()).map(({ label }) => label);
  await expect
    .poll(labels)
    .toEqual(
      expect.arrayContaining([
        ...["forward", "Graph after post-grad passes", "IR before fusion", "Output code"],
        ...["cpp_fused_add_exp_relu_threshold_backward_0", "backward"],
      ]),
    );
  await window.until(window.page.getByRole("tab", { name: /^fx_graph_transformed/ }), () =>
    window.treeRow("Graph after post-grad passes").click(),
  );
  await window.page.keyboard.press("Control+1");
  await window.shows("model.py");
  await window.clickText("relu(y)");
  const marked = window.page.locator(".view-overlays [class*='ced-']");
  await expect.poll(() => marked.count()).toBeGreaterThan(0);
  await scene.picture("artifacts");

  await window.typeBehind("torch.relu(y) + 1", "00");
  await window.save();
  const changed = { description: expect.stringContaining("changed") as string };
  await expect
    .poll(() => window.target("Graph after post-grad passes"), { timeout: LONG })
    .toMatchObject(changed);
  const diff = window.page.locator(".monaco-diff-editor");
  await window.until(diff, () =>
    window.treeAction("Graph after post-grad passes", "Compare with Previous Run"),
  );
  await expect.poll(() => diff.locator(".line-insert").count()).toBeGreaterThan(0);
  await scene.picture("artifacts-compared");
});
