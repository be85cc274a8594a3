import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("the steps of the walkthrough are done by doing them", async (scene) => {
  const window = await scene.open({ open: scene.workspace() });
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Open Walkthrough");
  const done = async () =>
    await window.page.locator(".getting-started-step:has(.complete:not(.hidden))").count();
  await window.page.getByText("Choose the Python that has torch").first().waitFor();
  await scene.picture("walkthrough");
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await expect.poll(() => window.hover("a / (")).toMatch(/guard/i);
  await window.deleteLine("print(");
  await window.save();
  await expect.poll(() => window.squiggles()).toHaveLength(1);
  await window.clickText("b.sum()");
  await window.quickFix("Show the full explanation");
  await window.preview.getByText("torch's whole message").waitFor();
  await window.palette("Fullgraph: Open Walkthrough");
  await expect.poll(done).toBe(5);
  await scene.picture("walkthrough-done");
});
