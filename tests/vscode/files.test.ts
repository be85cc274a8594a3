import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { ROOT, VENV } from "./harness/paths.ts";
import { scenario } from "./harness/scene.ts";

const TOY = readFileSync(join(ROOT, "examples/toy.py"), "utf8");

scenario("a single file is analyzed without a folder", async (scene) => {
  const window = await scene.open({ file: join(scene.workspace(), "toy.py") });
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await scene.picture("no-folder");
});

scenario(
  "a file outside of the folder is analyzed, an untitled one has to be saved",
  async (scene) => {
    const elsewhere = scene.workspace({ "outside.py": TOY }, "elsewhere");
    const window = await scene.enter();
    await window.palette("File: Open File...");
    await window.enterPath(join(elsewhere, "outside.py"), "OK");
    await window.shows("outside.py");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);

    await window.palette("File: New Untitled Text File");
    await window.shows("Untitled-1");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.messages()).toEqual([expect.stringMatching(/[Ss]ave/)]);
    await scene.picture("untitled");
  },
);

scenario("settings of the wrong type are told, and as good as none", async (scene) => {
  const settings = { "fullgraph.interpreter": 7, "fullgraph.timeout": "soon" };
  const folder = scene.workspace({ ".vscode/settings.json": JSON.stringify(settings) });
  const window = await scene.open({ open: folder });
  await window.openFile("toy.py");
  await expect.poll(() => window.status()).toContain(join(folder, ".venv"));
  await scene.picture("wrong-settings");
  await expect
    .poll(async () => (await window.messages()).toSorted())
    .toEqual([
      expect.stringMatching(/^The setting fullgraph\.interpreter must be .* ignored\.$/),
      expect.stringMatching(/^The setting fullgraph\.timeout must be .* ignored\.$/),
    ]);
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
});

scenario("a folder of several has its own interpreter and targets", async (scene) => {
  const interpreter = join(VENV, "bin/python");
  const first = scene.workspace({ "one.py": TOY }, "first");
  const second = scene.workspace(
    {
      "two.py": TOY,
      ".vscode/settings.json": JSON.stringify({ "fullgraph.interpreter": interpreter }),
    },
    "second λ",
  );
  scene.write({
    "both.code-workspace": JSON.stringify({ folders: [{ path: first }, { path: second }] }),
  });
  const window = await scene.open({ open: join(scene.folder, "both.code-workspace") });
  await window.openFile("one.py");
  await expect.poll(() => window.status()).toContain(join(first, ".venv/bin/python"));
  await window.openFile("two.py");
  await expect.poll(() => window.status()).toContain(interpreter);
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  await window.openView("Fullgraph");
  await expect
    .poll(async () => (await window.tree()).filter(({ level }) => level === 1))
    .toMatchObject([{ label: "first" }, { label: "second λ" }]);
  await expect
    .poll(() => window.target("two.py"))
    .toMatchObject({ level: 2, description: expect.stringContaining("2 graph breaks") as string });
  await expect.poll(() => window.target("one.py")).toMatchObject({ level: 2, description: "" });
  await scene.picture("folders");
});
