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

/** Of its edits none holds: a text is made of the number, and two calls compile the function. */
const NAMED = `import torch


def step(x):
    name = f"{x.sum().item():.1f}"
    return x * len(name)


torch.compile(step)(torch.ones(10))
torch.compile(step)(torch.ones(10))
`;

scenario("where no fix is verified, the hover and a page show what was tried", async (scene) => {
  const window = await scene.enter({ "named.py": NAMED });
  await window.openFile("named.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(async () => (await window.squiggles()).length, { timeout: LONG })
    .toBeGreaterThan(0);
  await window.clickText("x.sum().item()");
  await window.quickFix("Try fixes");
  await expect
    .poll(() => window.hover("x.sum().item()"), { timeout: 2 * LONG })
    .toContain("No edit is verified.");
  await scene.picture("fix-tried-hover");
  await window.clickText("x.sum().item()");
  await window.quickFix("No edit is verified: show what was tried");
  await window.preview.getByText("Fixes that were tried").waitFor();
  await expect.poll(() => window.preview.innerText()).toContain("Let torch capture numbers");
  await scene.picture("fix-tried-page");
});
