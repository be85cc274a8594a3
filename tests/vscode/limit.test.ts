import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "pyproject.toml": "[tool.fullgraph]\ntimeout = 21\n",
  "forever.py": `import torch


@torch.compile
def twice(x):
    print("loss")
    return x * 2


if __name__ == "__main__":
    twice(torch.ones(2))
    while True:
        pass
`,
};

scenario("a time limit is neutral, and can be raised", async (scene) => {
  const window = await scene.enter(PROJECT);
  await window.openFile("forever.py");
  await window.openView("Fullgraph");
  await window.treeAction("forever.py", "Analyze");
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
      expect.stringContaining("Stopped after 21 s, its time limit: findings are up to here"),
    );
  await scene.picture("time-limit-problems");

  await window.clickText("True:");
  const raise = window.page.locator(".action-widget .action", {
    hasText: "Run again with a limit of 105 s",
  });
  await window.until(raise, () => window.page.keyboard.press("Control+."));
  await scene.picture("raise-limit");
});
