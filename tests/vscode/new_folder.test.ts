import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS, LONG } from "./harness/examples.ts";
import { ROOT, VENV } from "./harness/paths.ts";
import { scenario } from "./harness/scene.ts";

scenario("a folder without targets says what was looked for, and gets its first", async (scene) => {
  const folder = join(scene.folder, "new");
  scene.write({ "notes.md": "To do: a model.\n" }, folder);
  const window = await scene.open({
    open: folder,
    settings: {
      "fullgraph.interpreter": join(VENV, "bin/python"),
      "fullgraph.runInductor": "idle",
    },
  });
  await window.openView("Fullgraph");
  await expect
    .poll(() => window.welcome())
    .toContain("Fullgraph found nothing to run: no script that uses torch.compile, no test");
  await scene.picture("no-targets");

  scene.write({ "toy.py": readFileSync(join(ROOT, "examples/toy.py"), "utf8") }, folder);
  await expect.poll(() => window.target("toy.py")).toMatchObject({ description: "" });
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles(), { timeout: LONG }).toEqual(BREAKS);
  // Asked for by a setting, TorchInductor runs by itself when nothing else does, as a layer.
  await expect
    .poll(() => window.target("TorchInductor"), { timeout: LONG })
    .toMatchObject({ description: expect.stringContaining("TorchInductor wrote") as string });
  await scene.picture("torchinductor-idle");

  await window.palette("Fullgraph: Analyze…");
  await window.quickRow("Dry Run").waitFor();
  await window.page.keyboard.type("Debug This");
  await window.choose("Debug This Target");
  await expect
    .poll(() => window.messages())
    .toEqual([expect.stringContaining("install the Python Debugger extension")]);
  await scene.picture("no-debugger");
});
