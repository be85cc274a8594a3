import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const [PRINT, BRANCH] = BREAKS;

scenario("typing runs the target on the unsaved text", async (scene) => {
  const folder = scene.workspace();
  const settings = { "fullgraph.runOn": "type" };
  const window = await scene.open({ open: folder, settings });
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  await window.deleteLine("print(");
  await expect
    .poll(() => window.lenses())
    .toContainEqual(
      expect.stringMatching(/^2 graphs · 1 graph break · \d+ guards · compiled in [\d.]+ s$/),
    );
  await expect.poll(() => window.squiggles()).toEqual([BRANCH]);
  expect(readFileSync(join(folder, "toy.py"), "utf8")).toContain("print(");
  await scene.picture("unsaved");
});

scenario("what was found on an edited line fades until the next run", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  await window.deleteLine("import torch");
  await expect.poll(() => window.lenses()).toContainEqual(expect.stringMatching(/\(stale\)$/));
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await window.typeBehind("b.sum() < 0:", "  # changed");
  await expect.poll(() => window.squiggles()).toEqual([PRINT]);
  await expect.poll(() => window.hover("b.sum()")).toContain("edited since the run");
  await scene.picture("edited");
});
