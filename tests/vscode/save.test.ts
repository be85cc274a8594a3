import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const [, BRANCH] = BREAKS;

scenario("a mended break goes when the file is saved", async (scene) => {
  const window = await scene.open({ open: scene.workspace() });
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  await window.deleteLine("print(");
  await window.save();
  await expect.poll(() => window.squiggles()).toEqual([BRANCH]);
  await expect
    .poll(() => window.lenses())
    .toContainEqual(expect.stringMatching(/^2 graphs · 1 break · \d+ guards · [\d.]+ s$/));
  await scene.picture("mended");
});

scenario("without run on save, a target is stale after a save", async (scene) => {
  const window = await scene.open({ open: scene.workspace() });
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await window.palette("Fullgraph: Turn Off Run on Save");
  await window.choose("toy.py");

  await window.deleteLine("print(");
  await window.save();
  // Before the editor loses the focus: VS Code then forgets that it was about to ask for lenses.
  await expect
    .poll(() => window.lenses())
    .toContainEqual(expect.stringMatching(/^3 graphs · 2 breaks .*\(stale\)$/));
  await window.openView("Fullgraph");
  await expect
    .poll(() => window.target("toy.py"))
    .toMatchObject({ description: expect.stringContaining("stale") as string });
  await scene.picture("stale");
});
