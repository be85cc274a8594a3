import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

/** Compiled for two flags in turn, which takes two compilations where both are kept. */
const FLAGS = `import torch


# fullgraph: step(f32[2], True)
# fullgraph: step(f32[2], False)
# fullgraph: step(f32[2], True)
# fullgraph: step(f32[2], False)
def step(x, flag):
    y = x.sin() if flag else x.cos()
    return y + 1
`;

scenario("a lens leads to each recompilation of the worst case", async (scene) => {
  const window = await scene.enter({ "flags.py": FLAGS });
  await window.openFile("flags.py");
  await window.palette("Fullgraph: Analyze This File");
  const lens = (counts: RegExp) =>
    expect.poll(async () => (await window.lenses()).join("\n"), { timeout: LONG }).toMatch(counts);
  await lens(/2 graphs · .* · 1 recompilation · [^]*Profile recompilations/);

  await window.clickLens("Profile recompilations");
  const page = window.preview;
  await page
    .getByRole("heading", { name: "Recompilations of flags.py" })
    .waitFor({ timeout: LONG });
  const rows = page.locator("table").last().locator("tbody tr");
  await expect
    .poll(() => rows.allInnerTexts())
    .toEqual([
      expect.stringMatching(/^0\/1\s+flags\.py:5\s+flag was True, is now False/),
      expect.stringMatching(/^0\/2\s+flags\.py:6\s+flag was False, is now True/),
      expect.stringMatching(/^0\/3\s+flags\.py:7\s+flag was True, is now False/),
    ]);
  await scene.picture("recompiles");

  await page.getByRole("link", { name: "flags.py:9" }).first().click();
  await expect.poll(() => window.activeFile()).toBe("flags.py");
  await expect.poll(() => window.line()).toBe(9);
  await lens(/2 graphs · .* · 1 recompilation · /); // The profile is a layer beside the ordinary result.
  await expect.poll(() => window.squiggles()).toEqual([{ severity: "info", text: "flag" }]);
});
