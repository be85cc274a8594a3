import { expect } from "vitest";
import { LONG, PRODUCT } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a line, its Triton kernel and its PTX, for a GPU that is not there", async (scene) => {
  const window = await scene.enter({ "model.py": PRODUCT });
  await window.openFile("model.py");
  // Three columns need room.
  await window.palette("View: Toggle Primary Side Bar Visibility");
  await window.clickText("relu");
  await window.palette("Fullgraph: Analyze…");
  await window.choose("Preview Kernels for…");
  await window.choose("NVIDIA H100 80GB HBM3");
  const first = window.quickRows.filter({ hasText: "triton_poi_fused_add_exp_relu" }).first();
  await first.waitFor({ timeout: 2 * LONG });
  await expect.poll(() => first.textContent()).toContain("model.py:7");
  await first.click();

  await expect.poll(() => window.activeFile()).toMatch(/^triton_poi_fused_add_exp_relu.*\.py$/);
  const text = (words: string) => window.editor.locator(".view-line", { hasText: words }).first();
  await text("nothing ran on a GPU").waitFor();
  await window.clickLens("PTX");
  await expect.poll(() => window.activeFile()).toMatch(/\.ptx$/);
  await text("nothing ran on a GPU").waitFor();
  await text(".target sm_90a").waitFor();

  await window.page.keyboard.press("Control+1");
  await window.shows("model.py");
  await window.clickText("torch.relu");
  await window.page.locator(".view-overlays [class*='ced-']").first().waitFor();
  await scene.picture("preview");

  await window.palette("Fullgraph: Open Compile Report");
  const facts = () => window.preview.getByRole("listitem").allInnerTexts();
  await expect
    .poll(facts, { timeout: LONG })
    .toContain("preview for NVIDIA H100 80GB HBM3: nothing ran on a GPU");
  const kernels = window.preview.getByRole("region", { name: "Kernels" });
  await kernels.getByRole("columnheader", { name: "Registers" }).waitFor();
  await scene.picture("preview-report");

  await window.openFile("model.py");
  await window.openView("Fullgraph");
  const description = async () => (await window.target("model.py"))?.description;
  await expect.poll(description).toMatch(/^preview for h100 · /);
  // What is run on save is the program as it is; the preview stays below it.
  await window.typeBehind("return z.exp()", " * 2");
  await window.save();
  await expect.poll(description, { timeout: LONG }).toMatch(/^no graph breaks · /);
  const preview = async () => (await window.target("Preview for h100"))?.description;
  await expect.poll(preview, { timeout: LONG }).toMatch(/^stale · no graph breaks · /);
});
