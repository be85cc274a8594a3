import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";

const TEXT =
  "``` [quit](command:workbench.action.quit) ![](https://evil.invalid/x.png) <img src=x> ` www.evil.invalid";
const PROGRAM = `import torch\n\ntorch.ones(1)\nraise ValueError("${TEXT}")\n`;

/** Where links lead. */
async function destinations(links: Locator): Promise<string[]> {
  return await links.evaluateAll((found) =>
    found.map((link) => link.getAttribute("data-href") ?? ""),
  );
}

scenario("what a program says does nothing in hovers and explanations", async (scene) => {
  const window = await scene.enter({ "hostile.py": PROGRAM });
  await window.openFile("hostile.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(() => window.squiggles())
    .toEqual([{ severity: "error", text: expect.stringContaining("ValueError") as string }]);

  const hover = window.page.locator(".monaco-hover:visible");
  await expect
    .poll(() => window.hover("raise ValueError"))
    .toContain("ValueError: ``` [quit](command:");
  await expect
    .poll(() => destinations(hover.locator("a[data-href]")))
    .toEqual([expect.stringMatching(/^command:fullgraph\.showExplanation\?/)]);
  expect(await hover.locator("img").count()).toBe(0);
  await scene.picture("hostile-hover");

  await hover.getByText("Full explanation").click();
  await window.preview.getByText("torch's whole message").waitFor();
  let leads: string[] = [];
  await expect
    .poll(async () => (leads = await destinations(window.preview.getByRole("link"))))
    .toContainEqual(expect.stringContaining("hostile.py"));
  expect(leads.filter((link) => !link.includes("hostile.py"))).toEqual([]);
  expect(await window.preview.locator("img").count()).toBe(0);
  await scene.picture("hostile-explanation");
});
