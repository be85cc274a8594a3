import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const PROJECT = {
  "pair.py": `import sys

import torch

MORE = len(sys.argv) > 1


@torch.compile
def double(x):
    if MORE:
        print("more")
    return x * 2


if __name__ == "__main__":
    double(torch.ones(4))
`,
  "pyproject.toml": `[[tool.fullgraph.targets]]
name = "plain"
script = "pair.py"

[[tool.fullgraph.targets]]
name = "talks"
script = "pair.py"
args = ["--more"]
`,
};

scenario("several targets of a file name their results, and one can be chosen", async (scene) => {
  const window = await scene.enter(PROJECT);
  await window.openFile("pair.py");
  await window.openView("Fullgraph");
  const summaries = async () => (await window.lenses())[0] ?? "";
  await window.treeAction("plain", "Analyze");
  await expect.poll(summaries, { timeout: LONG }).toMatch(/^1 graph · \d+ guards/);
  await window.treeAction("talks", "Analyze");
  const print = { severity: "warning", text: 'print("more")' };
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([print]);
  await expect
    .poll(summaries)
    .toMatch(/^1 graph · 1 graph break .* · talks\s*\|\s*1 graph .* · plain$/);
  await scene.picture("two-targets");

  await window.palette("Fullgraph: Show Results of…");
  await window.choose("plain");
  await expect.poll(() => window.squiggles()).toEqual([]);
  await expect.poll(summaries).toMatch(/^1 graph · \d+ guards/);
  await window.palette("Fullgraph: Show Results of…");
  await window.choose("All Targets");
  await expect.poll(() => window.squiggles()).toEqual([print]);
});
