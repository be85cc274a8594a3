import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "pyproject.toml": "[tool.fullgraph]\ntimeout = 21\n",
  "forever.py": `from pathlib import Path

import torch


@torch.compile
def twice(x):
    print("loss")
    return x * 2


if __name__ == "__main__":
    twice(torch.ones(2))
    while not Path("end").exists():
        pass
`,
};

scenario("a time limit is neutral, and can be raised", async (scene) => {
  const window = await scene.enter(PROJECT);
  await window.openFile("forever.py");
  await window.openView("Fullgraph");
  // A click is lost where VS Code draws the row anew meanwhile.
  const stop = window.treeRow("forever.py").locator('.actions [aria-label^="Stop"]');
  await window.until(stop, () => window.treeAction("forever.py", "Analyze"));
  await expect
    .poll(() => window.target("forever.py"))
    .toMatchObject({
      description: expect.stringContaining("stopped at its time limit") as string,
    });
  await scene.picture("time-limit");
  const found = await window.squiggles();
  expect(found).toContainEqual({ severity: "warning", text: 'print("loss")' });
  expect(found.filter(({ severity }) => severity === "error")).toEqual([]);
  await expect
    .poll(() => window.problems())
    .toContainEqual(
      expect.stringContaining("Stopped after 21 s, its time limit: the rest was not analyzed"),
    );
  await scene.picture("time-limit-problems");

  // A run that takes long is not repeated unasked.
  await window.typeBehind("return x * 2", "  # doubled");
  await window.save();
  const question = /^forever\.py took \d+ s\. Run it again after each save\?$/;
  await expect.poll(() => window.messages()).toEqual([expect.stringMatching(question)]);
  await scene.picture("run-on-save-question");
  await window.answer("No");
  await expect.poll(() => window.messages()).toEqual([]);

  writeFileSync(join(scene.sharedFolder, "end"), "");
  await window.clickText("while not");
  const raise = window.page.locator(".action-widget .action", {
    hasText: "Run again with a limit of 105 s",
  });
  await window.until(raise, () => window.page.keyboard.press("Control+."));
  await scene.picture("raise-limit");
  await raise.click();
  await expect
    .poll(() => window.target("forever.py"))
    .toMatchObject({
      description: expect.stringMatching(/^1 graph break · ran [\d.]+ s$/) as string,
    });
  expect(await window.squiggles()).toEqual([{ severity: "warning", text: 'print("loss")' }]);
  await expect
    .poll(async () => (await window.lenses()).join("\n"))
    .toMatch(
      /^1 graph · 1 graph break · \d+ guards · compiled in [\d.]+ s\n▶ Analyze with Fullgraph/,
    );
  await scene.picture("limit-raised");
});
