import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const FIT = `import os
import sys

import torch


@torch.compile
def step(x):
    if sys.argv[1:] == ["--loud"] and os.environ["HOW"] == "so":
        print("loud")
    return x * 2


step(torch.ones(4))
`;

const LAUNCH = `{
    // Use IntelliSense to learn about possible attributes.
    "configurations": [
        {
            "name": "Fit loudly", "type": "debugpy", "request": "launch",
            "module": "package.fit", "args": ["--loud"], "envFile": "\${workspaceFolder}/how.env",
        },
        { "name": "Asks", "type": "debugpy", "request": "launch", "program": "\${input:program}" },
        { "name": "Server", "type": "node", "request": "launch", "program": "server.js" },
    ],
}
`;

scenario("a launch configuration runs from the view of targets, as it says", async (scene) => {
  const window = await scene.enter({
    "package/fit.py": FIT,
    "how.env": "HOW=so\n",
    ".vscode/launch.json": LAUNCH,
  });
  await window.openFile("fit.py");
  await window.openView("Fullgraph");
  await window.treeAction("Fit loudly", "Analyze");
  const print = { severity: "warning", text: 'print("loud")' };
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual([print]);
  const rows = window.page.locator(".pane-body .monaco-list-row");
  expect(await rows.filter({ hasText: /Asks|Server/ }).count()).toBe(0);
  await scene.picture("launch");
});
