import { expect } from "vitest";
import { BREAKS, LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a verified fix is in the light bulb, and takes a graph break away", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual(BREAKS);
  // The first run may be too long for fixes to be tried ahead of time: it imports torch.
  await window.palette("Fullgraph: Analyze This File");

  await expect
    .poll(() => window.hover("b.sum() < 0"), { timeout: LONG })
    .toContain("Fix: Choose with torch.where (verified: ");
  await scene.picture("fix-hover");

  await window.clickText("b.sum() < 0");
  const rows = window.page.locator(".action-widget .monaco-list-row.action");
  const fix = rows.filter({ hasText: "Fix: Choose with `torch.where` (verified: " });
  await window.until(fix, () => window.page.keyboard.press("Control+."));
  await scene.picture("fix-light-bulb");
  expect(await rows.first().innerText()).toContain("Choose with");
  await fix.click();
  await window.editor.locator(".view-line", { hasText: "torch.where(" }).waitFor();
  await window.save();
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual(BREAKS.slice(0, 1));
});
