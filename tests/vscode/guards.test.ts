import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a hover tells what a guard is on, and leads to where that comes from", async (scene) => {
  const window = await scene.open({ open: scene.workspace({}, "examples") });
  await window.openFile("block.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(() => window.squiggles(), { timeout: LONG })
    .toContainEqual({ severity: "info", text: "x" });
  await expect.poll(async () => (await window.lenses()).join("\n")).toContain("Profile");

  const hover = window.page.locator(".monaco-hover:visible");
  const heads = await window.hover("heads, width //");
  expect(heads).toContain("attribute, from line 16");
  await scene.picture("hover-guards");
  await hover.getByRole("link", { name: "line 16" }).click();
  await expect.poll(() => window.line()).toBe(16);

  const forward = await window.hover("forward(self");
  expect(forward).toContain("size of x at dimension 1 was 16, is now 24");
  expect(forward).toContain("called from line 12");
  expect(forward).toContain("grad mode on");
  await scene.picture("hover-function");

  await window.openView("Fullgraph");
  await window.expand("forward");
  await window.expand("Guards");
  await window.expand("State of the Process");
  await expect
    .poll(async () => (await window.tree()).map(({ label }) => label))
    .toContain("GLOBAL_STATE");
  await scene.picture("guards-tree");
});
