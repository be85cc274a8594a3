import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import { ROOT } from "./harness/paths.ts";
import { scenario, type Scene } from "./harness/scene.ts";
import type { Window } from "./harness/window.ts";

const TRACES = join(ROOT, "tests/compiler/traces");
const PROGRAM = readFileSync(join(TRACES, "program.py"), "utf8");
const LOG = gunzipSync(readFileSync(join(TRACES, "torch-2.13.log.gz"))).toString();
/** The log as it was before the last function was compiled again. */
const SHORTER = LOG.slice(0, LOG.lastIndexOf("\nV", LOG.lastIndexOf('"recompile_reasons"')) + 1);

/** A folder with the logs of four ranks, one of which has compiled a function once more. */
function job(scene: Scene): string {
  const folder = join(scene.folder, "job-1842");
  mkdirSync(folder);
  [SHORTER, SHORTER, LOG, SHORTER].forEach((log, rank) => {
    writeFileSync(join(folder, `dedicated_log_torch_trace_rank_${rank}_x1f3.log`), log);
  });
  return folder;
}

async function openTrace(window: Window, kind: string, path: string): Promise<void> {
  await window.palette("Fullgraph: Open Trace…");
  await window.choose(kind);
  await window.enterPath(path, "Open Trace");
}

scenario("a trace of another machine is seen on the source, rank by rank", async (scene) => {
  const logs = job(scene);
  const window = await scene.enter({ "program.py": PROGRAM });
  await window.openFile("program.py");
  await openTrace(window, "A folder of logs…", `${logs}/`);
  await expect
    .poll(() => window.squiggles())
    .toEqual(
      expect.arrayContaining([
        { severity: "info", text: "a" },
        { severity: "warning", text: 'print("woo")' },
        { severity: "warning", text: "torch._dynamo.graph_break()" },
        { severity: "error", text: 'print("hi")' },
      ]),
    );
  await expect
    .poll(() => window.target("job-1842"))
    .toMatchObject({
      level: 1,
      description: expect.stringMatching(/^3 failures .* 4 ranks/) as string,
    });

  await window.widenSideBar(200);
  await window.expand("job-1842");
  await window.expand("Ranks");
  await expect
    .poll(async () => (await window.tree()).filter(({ label }) => /^Ranks?\b/.test(label)))
    .toEqual([
      { level: 2, label: "Ranks", description: "4 · rank 2 differs" },
      {
        level: 3,
        label: "Rank 2",
        description: "20 compilations · 16 graphs · 3 graph breaks · 11 recompilations",
      },
      { level: 3, label: "Ranks 0-1 and 3", description: "3" },
    ]);
  await window.treeRows.filter({ hasText: "is compiled twice on rank 2" }).click();
  await expect.poll(() => window.line()).toBe(57);
  await expect
    .poll(() => window.squiggles())
    .toContainEqual({ severity: "warning", text: "forward" });
  await window.clickText("forward(self");
  await expect.poll(async () => (await window.lenses()).join("\n")).toContain("37 guards");
  await expect.poll(() => window.hover("forward(self")).toContain("is compiled twice on rank 2");
  await scene.picture("traces");

  await window.treeRow("Rank 2").click();
  await expect.poll(() => window.target("job-1842, rank 2")).toMatchObject({ level: 1 });
  await window.palette("Fullgraph: Compare Traces…");
  await window.choose("job-1842");
  await window.choose("job-1842, rank 2");
  await window.preview.getByText("Totals").first().waitFor();
  await scene.picture("trace-comparison");
  await window.widenSideBar(-200);
});

scenario("a folder of another machine is mapped to one of the workspace", async (scene) => {
  // Too little is left of it to be recognized.
  const rest = PROGRAM.slice(0, PROGRAM.indexOf("if b.sum()")) + "return x\n";
  scene.write({ "job.log": LOG });
  const window = await scene.enter({ "program.py": rest });
  await window.openFile("program.py");
  await openTrace(window, "A log file…", join(scene.folder, "job.log"));
  await window.answer("Map a Remote Folder…");
  const typed = window.quickInput.locator("input");
  await expect.poll(() => typed.inputValue()).toBe("/home/user/project");
  await window.page.keyboard.press("Enter");
  await window.enterPath(`${scene.sharedFolder}/`, "Map");
  await expect
    .poll(() => window.squiggles())
    .toContainEqual({ severity: "warning", text: 'print("woo")' });
  const settings = join(scene.sharedFolder, ".vscode/settings.json");
  await expect
    .poll(() => JSON.parse(readFileSync(settings, "utf8")) as unknown)
    .toEqual({ "fullgraph.tracePaths": { "/home/user/project": "." } });

  await window.treeAction("job.log", "Close Trace");
  await expect.poll(() => window.squiggles()).toEqual([]);
  await expect.poll(() => window.target("job.log")).toBeUndefined();
  await window.palette("Fullgraph: Open Trace…");
  await window.choose("job.log");
  await expect.poll(() => window.target("job.log")).toMatchObject({ level: 1 });
});
