import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "logged.py": `import torch


@torch.compile
def step(x):
    print("loss")
    return x * 2


if __name__ == "__main__":
    step(torch.ones(3))
`,
};

scenario("a quick fix ignores a finding that is meant to be there", async (scene) => {
  const window = await scene.enter(PROJECT);
  await window.openFile("logged.py");
  await window.clickText("import torch");
  await window.page.keyboard.press("Control+Alt+g");
  const finding = { severity: "warning", text: 'print("loss")' };
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([finding]);

  await window.clickText('print("loss")');
  const fix = window.page.locator(".action-widget .action", {
    hasText: "Ignore GB0059 on this line",
  });
  await window.until(fix, () => window.page.keyboard.press("Control+."));
  await scene.picture("ignore-fix");
  await fix.click();
  await window.editor.locator(".view-line", { hasText: "ignore[GB0059]" }).waitFor();

  // The save runs it again.
  await window.save();
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([]);
  await window.page.keyboard.press("Control+Alt+g");
  await window.page
    .locator(".statusbar", { hasText: "Fullgraph: 1 finding ignored" })
    .waitFor({ timeout: LONG });
  await scene.picture("ignored");
});

scenario("a quick fix accepts a finding into the baseline", async (scene) => {
  const pyproject = '[tool.fullgraph]\nbaseline = "known.json"\n';
  const window = await scene.enter({ ...PROJECT, "pyproject.toml": pyproject });
  await window.openFile("logged.py");
  await window.clickText("import torch");
  await window.page.keyboard.press("Control+Alt+g");
  const finding = { severity: "warning", text: 'print("loss")' };
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([finding]);

  await window.clickText('print("loss")');
  const fix = window.page.locator(".action-widget .action", {
    hasText: "Add to the baseline known.json",
  });
  await window.until(fix, () => window.page.keyboard.press("Control+."));
  await scene.picture("baseline-fix");
  await fix.click();
  await expect.poll(() => window.squiggles()).toEqual([]);
  const file = (name: string) => readFileSync(join(scene.sharedFolder, name), "utf8");
  expect(file("pyproject.toml")).toBe(pyproject);
  expect(JSON.parse(file("known.json"))).toMatchObject({
    findings: [{ path: "logged.py", code: "GB0059", line: 'print("loss")' }],
  });

  await window.openView("Fullgraph");
  const description = async () => (await window.target("logged.py"))?.description;
  await expect
    .poll(description)
    .toMatch(/^no other findings · TorchInductor not run · 1 finding ignored · ran [\d.]+ s$/);
  await scene.picture("baseline-accepted");
});
