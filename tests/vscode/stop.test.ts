import { expect } from "vitest";
import { ENDLESS } from "./harness/examples.ts";
import { descendants, isAlive, type Process } from "./harness/processes.ts";
import { scenario } from "./harness/scene.ts";

scenario(
  "an endless program is stopped from the tree, from its lens, and with its window",
  async (scene) => {
    const window = await scene.enter({ "endless.py": ENDLESS });
    await window.openFile("endless.py");
    await window.openView("Fullgraph");
    await window.treeAction("endless.py", "Analyze");
    await expect.poll(() => window.target("endless.py")).toMatchObject({ description: "running" });
    await expect.poll(() => window.lenses()).toContain("■ Stop");
    await scene.picture("running");
    await window.treeAction("endless.py", "Stop");
    await expect
      .poll(() => window.target("endless.py"))
      .toMatchObject({ description: expect.stringContaining("stopped") as string });

    await expect.poll(() => window.lenses()).toContain("▶ Analyze with Fullgraph");
    await window.clickLens("Analyze with Fullgraph");
    await expect.poll(() => window.target("endless.py")).toMatchObject({ description: "running" });
    await window.clickLens("Stop");
    await expect
      .poll(() => window.target("endless.py"))
      .toMatchObject({ description: expect.stringContaining("stopped") as string });
    await expect.poll(() => descendants(scene.pid, "endless.py")).toEqual([]);
    await scene.picture("stopped");

    await window.clickLens("Analyze with Fullgraph");
    await expect.poll(() => window.target("endless.py")).toMatchObject({ description: "running" });
    let started: Process[] = [];
    await expect
      .poll(() => {
        const servers = descendants(scene.pid, "server/start.py");
        return (started = servers.flatMap(({ pid }) => descendants(pid, "python"))).length;
      })
      .toBeGreaterThan(1);
    await window.page.close();
    await expect.poll(() => started.filter(({ pid }) => isAlive(pid))).toEqual([]);
  },
);
