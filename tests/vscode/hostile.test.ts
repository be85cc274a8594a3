import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";

const TEXT =
  "``` [quit](command:workbench.action.quit) ![](https://evil.invalid/x.png) <img src=x> ` www.evil.invalid";
const PROGRAM = `import torch\n\ntorch.ones(1)\nraise ValueError("${TEXT}")\n`;

scenario("what a program says does nothing in hovers and explanations", async (scene) => {
  const window = await scene.open({ open: scene.workspace({ "hostile.py": PROGRAM }) });
  await window.openFile("hostile.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(() => window.squiggles())
    .toEqual([{ severity: "error", text: expect.stringContaining("ValueError") as string }]);

  const hover = window.page.locator(".monaco-hover:visible");
  expect(await window.hover("raise ValueError")).toContain("ValueError: ``` [quit](command:");
  const links = await hover
    .locator("a[data-href]")
    .evaluateAll((found) => found.map((link) => link.getAttribute("data-href") ?? ""));
  expect(links).toEqual([expect.stringMatching(/^command:fullgraph\.showExplanation\?/)]);
  expect(await hover.locator("img").count()).toBe(0);
  await scene.picture("hostile-hover");

  await hover.getByText("Full explanation").click();
  await window.preview.getByText("torch's whole message").waitFor();
  const leads = await window.preview
    .getByRole("link")
    .evaluateAll((found) => found.map((link) => link.getAttribute("data-href") ?? ""));
  expect(leads.filter((link) => !link.includes("hostile.py"))).toEqual([]);
  expect(await window.preview.locator("img").count()).toBe(0);
  await scene.picture("hostile-explanation");
});
