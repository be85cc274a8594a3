import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

/** The layout of nanoGPT: no main guard, settings by a file that is executed, arguments needed. */
const PROJECT = {
  "gpt.py": `from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class GPTConfig:
    width: int = 16


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear = nn.Linear(config.width, config.width)

    def forward(self, x):
        x = self.linear(x)
        if x.sum() > 0:
            x = x * 2
        return x
`,
  "configurator.py": `import sys

for arg in sys.argv[1:]:
    key, value = arg.removeprefix("--").split("=")
    assert key in globals(), f"unknown setting {key}"
    globals()[key] = type(globals()[key])(value)
`,
  "train_gpt.py": `import torch

from gpt import GPT, GPTConfig

data, steps, compile = "", 2, 1
exec(open("configurator.py").read())
if not data:
    raise SystemExit("give --data=...")
model = GPT(GPTConfig())
if compile:
    model = torch.compile(model)
for step in range(steps):
    model(torch.randn(4, 16)).sum().backward()
`,
};

scenario("from a model file to its squiggles by the program that trains it", async (scene) => {
  const window = await scene.enter(PROJECT);
  await window.openFile("gpt.py");
  await window.clickText("width: int"); // the key is for an editor that has the focus
  await window.page.keyboard.press("Control+Alt+g");
  await window.quickRow("train_gpt.py").waitFor();
  await scene.picture("which-program");
  await window.choose("train_gpt.py with arguments…");
  const input = window.quickInput.locator("input").first();
  await expect.poll(() => input.getAttribute("placeholder")).toContain("--device cpu");
  await input.fill("--data=toy");
  await window.page.keyboard.press("Enter");
  const branch = { severity: "warning", text: "x.sum() > 0" };
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([branch]);
  await scene.picture("program-squiggles");

  // From now on the key means that program: with the line mended, nothing is asked again.
  await window.deleteLine("if x.sum() > 0");
  // Without the name: an inlay hint may stand behind it.
  await window.deleteLine("= x * 2");
  await window.save();
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([]);
  await window.page.keyboard.press("Control+Alt+g");
  await window.page.locator(".statusbar", { hasText: "Fullgraph: no findings" }).waitFor();

  // The arguments are remembered, and those that are to stay are saved.
  await window.openFile("train_gpt.py");
  await window.palette("Fullgraph: Analyze…");
  await window.choose("Analyze with Arguments…");
  await expect.poll(() => input.inputValue()).toBe("--data=toy");
  await input.fill("--data=toy --steps=1");
  await scene.picture("run-with-arguments");
  await window.page.keyboard.press("Enter");
  await window.openView("Fullgraph");
  const target = "train_gpt.py --data=toy --steps=1";
  await expect
    .poll(() => window.target(target), { timeout: LONG })
    .toMatchObject({ description: expect.stringContaining("no graph breaks") as string });
  await window.takeMenuAction(target, "Save to pyproject.toml", "pyproject.toml");
  await window.save();
  const saved = `[[tool.fullgraph.targets]]
name = "${target}"
script = "train_gpt.py"
args = ["--data=toy", "--steps=1"]
`;
  await expect
    .poll(() => readFileSync(join(scene.sharedFolder, "pyproject.toml"), "utf8"))
    .toBe(saved);
  const named = async () => (await window.tree()).filter(({ label }) => label === target);
  await expect
    .poll(async () => (await named()).map(({ description }) => description))
    .toContain("");
  await scene.picture("arguments-saved");
});
