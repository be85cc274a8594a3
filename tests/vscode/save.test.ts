import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const [, BRANCH] = BREAKS;

scenario("a save runs the target again, or makes it stale", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  await window.deleteLine("print(");
  await window.save();
  await expect.poll(() => window.squiggles()).toEqual([BRANCH]);
  const lens = expect.stringMatching(
    /^2 graphs · 1 graph break · \d+ guards · compiled in [\d.]+ s$/,
  ) as string;
  await expect.poll(() => window.lenses()).toContainEqual(lens);
  await scene.picture("mended");

  await window.palette("Fullgraph: Toggle Run on Save…");
  await window.choose("toy.py");
  await window.deleteLine("a / (torch");
  await window.save();
  await expect
    .poll(() => window.lenses())
    .toContainEqual(expect.stringMatching(/^2 graphs · 1 graph break .*\(stale\)$/));
  await window.openView("Fullgraph");
  await expect
    .poll(() => window.target("toy.py"))
    .toMatchObject({ description: expect.stringContaining("stale") as string });
  await scene.picture("stale");

  await window.palette("Fullgraph: Toggle Run on Save…");
  await window.choose("toy.py");
});
