import { expect } from "vitest";
import { BREAKS, LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "scale.py": `import torch


# fullgraph: half(f32[8])
def half(x):
    return x / 2


def scale(x, factor):
    print("scaling")
    return x * factor
`,
};

scenario(
  "an example call is completed, checked while it is typed, and explained",
  async (scene) => {
    const window = await scene.enter(PROJECT);
    const { page, editor } = window;
    await window.openFile("scale.py");
    await expect.poll(() => window.lenses()).toEqual(["▶ Analyze with Fullgraph"]);
    await window.clickText("def scale");
    await page.keyboard.press("Control+Shift+Enter"); // a line above it
    await page.keyboard.type("# fullgraph:");
    const offered = page.locator(".suggest-widget.visible .monaco-list-row");
    await offered.filter({ hasText: "example call of scale" }).waitFor();
    await scene.picture("example-completion");
    await page.keyboard.press("Enter");
    await editor.locator(".view-line", { hasText: "# fullgraph: scale(x, factor)" }).waitFor();

    // Its first argument is selected: what is typed takes the place of it.
    await page.keyboard.type("f32[4, 8]");
    await expect.poll(() => window.squiggles()).toEqual([{ severity: "error", text: "factor" }]);
    await expect.poll(() => window.hover("factor)")).toContain("Example call");
    await scene.picture("example-mistake");
    // Tab goes on to the next one.
    await page.keyboard.press("Tab");
    await page.keyboard.type("2");
    await expect.poll(() => window.squiggles()).toEqual([]);
  },
);

scenario("the calls that a run saw become example calls", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await expect.poll(() => window.lenses()).toEqual(["▶ Analyze with Fullgraph"]);
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual(BREAKS);
  await window.clickText("def toy_example");
  await window.quickFix("Add example calls from the last run");
  await window.editor.locator(".view-line", { hasText: "# fullgraph: toy_example(" }).waitFor();
  await scene.picture("example-from-run");
});
