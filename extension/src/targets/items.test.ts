import { expect, test } from "vitest";
import { treeItem } from "./items";
import type { Node, RankNode, TargetNode } from "./nodes";
import { artifact, finding, frame, layer, rank, report, target } from "../testing/reports";
import { TreeItemCollapsibleState } from "../testing/vscode";

const BREAK = finding();
const FAILURE = finding({ kind: "compile-error", severity: "error" });

function node(item: Parameters<typeof target>[0], told?: Parameters<typeof report>[0]): TargetNode {
  return {
    kind: "target",
    id: "target/toy",
    item: target(item),
    report: told && report(told),
    parent: undefined,
  };
}

test.each([
  ["not run", node({}), "circle-outline", ""],
  ["queued", node({ state: "queued" }), "watch", "queued"],
  ["running", node({ state: "running" }, { findings: [BREAK] }), "loading~spin", "running"],
  [
    "clean",
    node(
      { state: "finished" },
      {
        frames: [frame({ graphs: [{ compileId: "0/0", ops: 2 }] })],
        leftOut: "TorchInductor not run",
      },
    ),
    "pass",
    "no graph breaks · TorchInductor not run · ran 0.4 s",
  ],
  [
    "ignored",
    node(
      { state: "finished" },
      { frames: [frame({ graphs: [{ compileId: "0/0", ops: 2 }] })], ignored: 2 },
    ),
    "pass",
    "no other findings · 2 findings ignored · ran 0.4 s",
  ],
  [
    "ignored, with a hint",
    node(
      { state: "finished" },
      {
        frames: [frame({ graphs: [{ compileId: "0/0", ops: 2 }] })],
        findings: [finding({ kind: "perf-hint", severity: "information" })],
        ignored: 1,
      },
    ),
    "pass",
    "no other graph breaks · 1 finding ignored · ran 0.4 s",
  ],
  [
    "dry",
    node(
      { state: "finished" },
      {
        frames: [frame({ graphs: [{ compileId: "0/0", ops: 2 }] })],
        dry: { label: "preview for h100", sentence: "", unknown: [] },
      },
    ),
    "pass",
    "preview for h100 · no graph breaks · ran 0.4 s",
  ],
  ["idle", node({ state: "finished" }, {}), "pass", "nothing was compiled · ran 0.4 s"],
  [
    "broken",
    node({ state: "finished" }, { findings: [BREAK] }),
    "warning",
    "1 graph break · ran 0.4 s",
  ],
  [
    "failed",
    node({ state: "finished" }, { findings: [FAILURE] }),
    "error",
    "1 failure · ran 0.4 s",
  ],
  [
    "raised",
    node({ state: "raised" }, { findings: [BREAK] }),
    "error",
    "raised an exception · 1 graph break · ran 0.4 s",
  ],
  [
    "out of memory",
    node({ state: "memory" }, { findings: [BREAK] }),
    "error",
    "used too much memory · 1 graph break · ran 0.4 s",
  ],
  [
    "at an end for lack of data",
    node(
      { state: "finished" },
      { findings: [BREAK, finding({ kind: "target-error", severity: "warning" })] },
    ),
    "warning",
    "1 graph break · 1 problem · ran 0.4 s",
  ],
  [
    "frozen",
    node(
      { state: "finished" },
      { findings: [finding({ kind: "late-compile", severity: "error" })] },
    ),
    "error",
    "1 late compilation · ran 0.4 s",
  ],
  [
    "compiled again for two causes",
    node(
      { state: "finished" },
      {
        findings: [
          finding({ kind: "recompile", severity: "information", count: 5 }),
          finding({ kind: "recompile", severity: "information", count: 2 }),
          finding({ kind: "recompile-limit" }),
        ],
      },
    ),
    "warning",
    "1 function runs eagerly · 7 recompilations · ran 0.4 s",
  ],
  [
    "stopped by a limit",
    node(
      { state: "raised" },
      { findings: [finding({ kind: "recompile-limit", severity: "error" })] },
    ),
    "error",
    "raised an exception · 1 failure · ran 0.4 s",
  ],
  ["stopped", node({ state: "cancelled" }), "circle-slash", "stopped"],
  [
    "stopped at its limit",
    node(
      { state: "timeout" },
      { findings: [finding({ kind: "target-error", severity: "information" })] },
    ),
    "circle-slash",
    "stopped at its time limit · nothing was compiled · ran 0.4 s",
  ],
  [
    "stopped at its limit after a finding",
    node({ state: "timeout" }, { findings: [BREAK] }),
    "warning",
    "stopped at its time limit · 1 graph break · ran 0.4 s",
  ],
  [
    "stale",
    node({ state: "finished", stale: true }, { findings: [BREAK] }),
    "warning",
    "stale · 1 graph break · ran 0.4 s",
  ],
])("a target that is %s looks so", (_, target, icon, description) => {
  const item = treeItem(target);
  expect(item.iconPath).toMatchObject({ id: icon });
  expect(item.description).toBe(description);
});

test("what is stale is dimmed", () => {
  const fresh = treeItem(node({ state: "finished" }, { findings: [BREAK] }));
  const stale = treeItem(node({ state: "finished", stale: true }, { findings: [BREAK] }));
  expect(fresh.iconPath).toMatchObject({ color: { id: "problemsWarningIcon.foreground" } });
  expect(stale.iconPath).toMatchObject({ color: { id: "disabledForeground" } });
});

test.each([
  [{}, "target.idle.new.onSave_found"],
  [{ configured: true }, "target.idle.new.onSave"],
  [{ kind: "torchrun" as const, configured: true }, "target.idle.new.ranks.onSave"],
  [{ kind: "trace" as const, state: "running" as const }, "trace.busy"],
  [{ kind: "trace" as const, state: "finished" as const }, "trace.idle"],
  [{ state: "running" as const }, "target.busy.ran.onSave_found"],
  [{ state: "finished" as const, runOnSave: false }, "target.idle.ran.byHand_found"],
  [{ state: "timeout" as const }, "target.idle.ranOut.onSave_found"],
])("the menu of %j is chosen by %s", (item, value) => {
  expect(treeItem(node(item)).contextValue).toBe(value);
});

function findingNode(changes: Parameters<typeof finding>[0]): Node {
  return { kind: "finding", id: "f", target: target().id, finding: finding(changes) };
}

test("a failure that can be minified has a menu of its own", () => {
  const minify = { fault: 1, compileId: "0/0" };
  expect(treeItem(findingNode({ minify })).contextValue).toBe("finding.minifiable");
  expect(treeItem(findingNode({})).contextValue).toBe("finding");
});

test("a trace looks like one, and opens nothing", () => {
  const trace = node(
    { kind: "trace", state: "finished", label: "job" },
    {
      target: "trace:/job",
      frames: [frame({ graphs: [{ compileId: "0/0", ops: 2 }] })],
      findings: [BREAK, finding({ kind: "rank-difference" })],
      ranks: [rank(), rank({ rank: 1 })],
    },
  );
  const item = treeItem(trace);
  expect(item.collapsibleState).toBe(TreeItemCollapsibleState.Collapsed);
  expect(item.iconPath).toMatchObject({
    id: "pulse",
    color: { id: "problemsWarningIcon.foreground" },
  });
  expect(item.description).toBe(
    "1 graph break · 1 difference between ranks · 2 ranks · compiled in 0.4 s",
  );
  expect(item.tooltip).toContain("torch 2.13.0");
  expect(item.command).toBeUndefined();
});

test.each([
  [[false, false], "2", undefined],
  [[false, true], "2 · rank 1 differs", "problemsWarningIcon.foreground"],
  [[true, true, false], "3 · 2 differ", "problemsWarningIcon.foreground"],
])("ranks that differ (%j) are told", (differs, description, colour) => {
  const ranks = differs.map((differs, index) => rank({ rank: index, differs }));
  const of = node({ kind: "trace" });
  const item = treeItem({ kind: "ranks", id: "r", of, ranks, groups: [] });
  expect(item).toMatchObject({ label: "Ranks", description });
  expect(item.iconPath).toMatchObject({ color: colour && { id: colour } });
});

test.each([
  [false, undefined, "These ranks are alike."],
  [true, "problemsWarningIcon.foreground", "These ranks differ from most."],
])("a group of ranks says how many there are (differs: %s)", (differs, colour, tooltip) => {
  const ranks = [0, 1].map((number): RankNode => ({
    ...{ kind: "rank", id: `${number}`, of: node({ kind: "trace" }) },
    rank: rank({ rank: number, differs }),
  }));
  const item = treeItem({ kind: "rankGroup", id: "r", label: "Ranks 0-1", ranks });
  expect(item).toMatchObject({ label: "Ranks 0-1", description: "2", tooltip });
  expect(item.iconPath).toMatchObject({ color: colour && { id: colour } });
});

test("a rank of a trace opens as one of its own, that of a run does not", () => {
  const of = (kind: "trace" | "torchrun"): Node => ({
    ...{ kind: "rank", id: "r", of: node({ kind }) },
    rank: rank({ rank: 3, compilations: 4, breaks: 1, recompiles: 2, differs: true }),
  });
  const item = treeItem(of("trace"));
  expect(item).toMatchObject({
    label: "Rank 3",
    description: "4 compilations · 2 graphs · 1 graph break · 2 recompilations",
    iconPath: { id: "warning" },
    command: { command: "fullgraph.showRank", arguments: [{ rank: { rank: 3 } }] },
    contextValue: "rank",
  });
  expect(treeItem(of("torchrun"))).not.toHaveProperty("command");
});

test("a finding begins with its line, and opens it", () => {
  const item = treeItem(findingNode({ count: 3 }));
  expect(item).toMatchObject({ label: "toy.py:3: `print` breaks the graph", description: "×3" });
  expect(item.command).toMatchObject({
    command: "vscode.open",
    arguments: [{ path: "/project/toy.py" }, { selection: { numbers: [2, 4, 2, 9] } }],
  });
});

test("below a function of the same file, a finding has the number of its line only", () => {
  const below = (file: string) => treeItem({ ...findingNode({}), file } as Node).label;
  expect(below("file:///project/toy.py")).toBe("3: `print` breaks the graph");
  expect(below("file:///project/model.py")).toBe("toy.py:3: `print` breaks the graph");
});

test("a function says what became of it", () => {
  const of = frame({ breaks: 2, guards: 1200, recompiles: 1, findings: [0] });
  const item = treeItem({ kind: "frame", id: "f", report: report(), index: 0, frame: of });
  expect(item.description).toBe(
    "toy.py:3 · 0 graphs · 2 graph breaks · 1,200 guards · 1 recompilation · compiled in 0.2 s",
  );
});

test("a guard says what it expects, and how often it failed", () => {
  const guard = {
    name: "a",
    kind: "TENSOR_MATCH",
    expected: "size [10]",
    failures: 2,
    ambient: false,
    origin: "parameter of `f`",
    code: "check_tensor(L['a'])",
    ...(BREAK.location && { originLocation: BREAK.location }),
  };
  const item = treeItem({ kind: "guard", id: "g", guard, count: 1 });
  expect(item.label).toBe("a");
  expect(item.description).toBe("failed 2 times · TENSOR_MATCH · size [10]");
  expect(item.tooltip).toContain("parameter of `f`, from toy.py:3");
  expect(item.tooltip).toMatch(/\ncheck_tensor\(L\['a'\]\)$/);
  expect(item.contextValue).toBe("guard.origin");
});

test("guards on the state of the process have a node of their own", () => {
  const item = treeItem({ kind: "ambient", id: "g/ambient", guards: [] });
  expect(item).toMatchObject({ label: "Global State", description: "0" });
  expect(item.collapsibleState).toBe(TreeItemCollapsibleState.Collapsed);
});

test("a document opens beside the source, and can be compared if it has changed", () => {
  const node = (previous?: string) =>
    treeItem({
      ...{ kind: "artifact", id: "a" },
      artifact: artifact({
        locations: [frame().location, frame().location],
        ...(previous && { previous }),
      }),
    });
  expect(node()).toMatchObject({
    label: "Output code",
    description: "toy.py:3",
    contextValue: "artifact",
    command: { command: "vscode.open", arguments: [{}, { viewColumn: 2 }] },
  });
  expect(node("fullgraph-kernel:///0/output_code.py")).toMatchObject({
    description: "changed · toy.py:3",
    contextValue: "artifact.changed",
  });
});

test("a graph can be opened once it has documents", () => {
  const graph = { compileId: "0/0", ops: 3 };
  const item = (artifacts: ReturnType<typeof artifact>[]) =>
    treeItem({ kind: "graph", id: "g", graph, artifacts }).collapsibleState;
  expect(item([])).toBe(TreeItemCollapsibleState.None);
  expect(item([artifact()])).toBe(TreeItemCollapsibleState.Collapsed);
});

test.each([
  [layer(), "Preview for h100", "nothing was compiled · ran 0.4 s", undefined],
  [
    layer({ stale: true }),
    "Preview for h100",
    "stale · nothing was compiled · ran 0.4 s",
    "disabledForeground",
  ],
  [
    layer({
      ...{ layer: "stages", label: "Compiler stages", verdict: "No stage is at fault." },
      report: report(),
    }),
    "Compiler stages",
    "No stage is at fault. · ran 0.4 s",
    undefined,
  ],
  [
    layer({ state: "not-started", report: report({ findings: [FAILURE] }) }),
    "Preview for h100",
    "could not start · 1 failure · ran 0.4 s",
    "problemsErrorIcon.foreground",
  ],
])("a layer tells its outcome", (told, label, description, colour) => {
  const item = treeItem({ kind: "layer", id: "l", layer: told });
  expect(item).toMatchObject({ label, description, contextValue: "layer" });
  expect(item.iconPath).toMatchObject({ id: "layers", color: colour && { id: colour } });
});

test("what is of the run has no place", () => {
  const ofRun = finding({ kind: "target-error", message: "no Python" });
  delete ofRun.location;
  const item = treeItem({ kind: "finding", id: "f", target: "toy", finding: ofRun });
  expect(item).toMatchObject({
    label: "no Python",
    description: "",
    tooltip: "no Python (GB0059)",
  });
  expect(item.command).toBeUndefined();
});
