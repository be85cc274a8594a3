import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { VENV } from "./harness/paths.ts";
import { descendants } from "./harness/processes.ts";
import { scenario } from "./harness/scene.ts";

const SETTINGS = ".vscode/settings.json";

scenario(
  "an interpreter that is missing or has no torch is told, until another is selected",
  async (scene) => {
    const broken = JSON.stringify({ "fullgraph.interpreter": "gone/bin/python" });
    const folder = scene.workspace({ [SETTINGS]: broken });
    execFileSync(join(VENV, "bin/python"), ["-m", "venv", "--without-pip", join(folder, "venv")]);
    const window = await scene.open({ open: folder });
    // It is of the run: no line of the file is at fault.
    const told = (text: string) =>
      expect.poll(() => window.messages()).toContainEqual(expect.stringContaining(text));

    await window.openFile("toy.py");
    await expect.poll(() => window.status()).toMatch(/There is no interpreter .*gone\/bin\/python/);
    await scene.picture("missing");
    await window.palette("Fullgraph: Analyze This File");
    await told("There is no interpreter");

    await window.palette("Fullgraph: Select Interpreter…");
    await window.quickRow("venv/bin/python").waitFor();
    await scene.picture("select");
    await window.choose("venv/bin/python");
    await expect.poll(() => window.status()).toContain("Install torch (pip install torch)");
    await scene.picture("no-torch");
    await window.palette("Fullgraph: Analyze This File");
    await told("Install torch (pip install torch)");

    await window.palette("Fullgraph: Select Interpreter…");
    await window.choose(".venv/bin/python");
    await expect.poll(() => window.status()).toContain("torch 2.");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  },
);

scenario("a server that dies at its start is told once", async (scene) => {
  const folder = scene.workspace();
  // A Python as far as can be seen, which does not run the server.
  const python = join(folder, "python.sh");
  scene.write(
    {
      "python.sh": `#!/bin/sh\ncase "$*" in *start.py*) echo "no server today" >&2; exit 3;; esac\nexec '${VENV}/bin/python' "$@"\n`,
      [SETTINGS]: JSON.stringify({ "fullgraph.interpreter": python }),
    },
    folder,
  );
  chmodSync(python, 0o755);
  const window = await scene.open({ open: folder });
  await window.openFile("toy.py");
  await expect
    .poll(() => window.messages())
    .toEqual([expect.stringContaining("Fullgraph's server did not start with")]);
  await expect.poll(() => descendants(scene.pid, "start.py")).toEqual([]);
  await scene.picture("dead");
  await window.answer("Show Output");
  // The panel holds only the lines that fit in it; the file of the output has all of them.
  await window.page.locator(".panel .view-line").getByText("[error]").first().waitFor();
  await expect.poll(() => scene.output("Fullgraph")).toContain("no server today");
  await scene.picture("dead-output");
  await expect.poll(() => window.status()).toContain("did not start");
});
