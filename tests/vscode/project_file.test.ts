import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS, LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "pyproject.toml": "[tool.fullgraph]\ntimeout = 60\n",
  ".vscode/launch.json": JSON.stringify({
    version: "0.2.0",
    configurations: [
      {
        name: "Toy, twice",
        type: "debugpy",
        request: "launch",
        program: "${workspaceFolder}/toy.py",
        args: ["--twice"],
      },
    ],
  }),
};

const [PRINT] = BREAKS;

scenario(
  "a target of launch.json outlives a syntax error, and is saved to pyproject.toml",
  async (scene) => {
    const window = await scene.enter(PROJECT);
    await window.openFile("toy.py");
    await window.openView("Fullgraph");
    await window.treeAction("Toy, twice", "Analyze");
    await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual(BREAKS);
    const ran = expect.stringMatching(/^3 graphs · 2 graph breaks .* s$/) as string;
    await expect.poll(() => window.lenses()).toContainEqual(ran);
    await scene.picture("launch-target");

    // What does not parse is not run: the last results stay, faded where the line was edited.
    await window.typeBehind("b.sum() < 0:", " (");
    await window.save();
    await expect
      .poll(() => window.lenses())
      .toContainEqual(expect.stringMatching(/^3 graphs · 2 graph breaks .* \(stale\)$/));
    await expect.poll(() => window.squiggles()).toEqual([PRINT]);
    await scene.picture("syntax-error");
    await window.page.keyboard.press("Backspace");
    await window.page.keyboard.press("Backspace");
    await window.save();
    await expect.poll(() => window.lenses(), { timeout: LONG }).toContainEqual(ran);
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);

    await window.openMenu("Toy, twice", "Save to pyproject.toml");
    await scene.picture("target-menu");
    await window.takeMenuAction("Toy, twice", "Save to pyproject.toml", "pyproject.toml");
    const added = window.editor.locator(".view-line", { hasText: "--twice" });
    await added.waitFor();
    await scene.picture("target-saved");
    expect(readFileSync(join(scene.sharedFolder, "pyproject.toml"), "utf8")).toBe(
      PROJECT["pyproject.toml"],
    );
  },
);
