import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a hover tells what a guard is on, and leads to where that comes from", async (scene) => {
  const window = await scene.enter();
  await window.openFile("block.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(() => window.squiggles(), { timeout: LONG })
    .toContainEqual({ severity: "info", text: "x" });
  await expect.poll(async () => (await window.lenses()).join("\n")).toContain("Profile");

  const hover = window.page.locator(".monaco-hover:visible");
  await expect.poll(() => window.hover("heads, width //")).toContain("attribute, from line 16");
  await scene.picture("hover-guards");
  await hover.getByRole("link", { name: "line 16" }).click();
  await expect.poll(() => window.line()).toBe(16);

  const forward = () => window.hover("forward(self");
  await expect.poll(forward).toContain("size of x at dimension 1 was 16, is now 24");
  await expect.poll(forward).toContain("called from line 12");
  await expect.poll(forward).toContain("grad mode on");
  await scene.picture("hover-function");

  await window.openView("Fullgraph");
  await window.expand("Block.forward");
  await window.expand("Guards");
  await window.expand("Global State");
  await expect
    .poll(async () => (await window.tree()).map(({ label }) => label))
    .toContain("GLOBAL_STATE");
  await scene.picture("guards-tree");
});
