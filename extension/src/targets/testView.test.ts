import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  LAYERS,
  type OutputParams,
  REPORT,
  type ReportItem,
  RUN,
  type RunSummary,
  STOP,
  type TargetItem,
  TARGETS,
} from "../protocol";
import type { Server } from "../server/server";
import { Targets } from "./targets";
import { TestView } from "./testView";
import { keepingMemory } from "../testing/memory";
import { finding, frame, report, target } from "../testing/reports";
import {
  EventEmitter,
  extensions,
  folder,
  TestController,
  type TestItem,
  TestRunRequest,
  tests,
  workspace,
} from "../testing/vscode";

const BLOCK = target({
  id: "/project/block.py::Block",
  label: "block.py::Block",
  kind: "example",
  uri: "file:///project/block.py",
  selectionRange: { start: { line: 8, character: 6 }, end: { line: 8, character: 11 } },
});
const TEST = target({
  id: "pytest:/project/test_block.py::test_one",
  label: "test_block.py::test_one",
  kind: "pytest",
  uri: "file:///project/test_block.py",
  selectionRange: { start: { line: 4, character: 0 }, end: { line: 4, character: 15 } },
});
const COMPILED = frame({ graphs: [{ compileId: "0/0", ops: 2 }] });

/** What the server has, and what it was asked for. */
let listed: TargetItem[];
let reports: Map<string, ReportItem>;
let asked: string[];
let commands: string[];
/** What runs of the server wait for: it answers once a test says so. */
let answers: Map<string, (summary: RunSummary | undefined) => void>;
let available: boolean;
let printed: EventEmitter<OutputParams>;
let changed: EventEmitter<undefined>;
let targets: Targets;
let view: TestView;
let controller: TestController;

beforeEach(() => {
  listed = [target(), BLOCK, TEST];
  reports = new Map();
  asked = [];
  commands = [];
  answers = new Map();
  available = true;
  printed = new EventEmitter();
  changed = new EventEmitter();
  workspace.workspaceFolders = [folder("/project")];
  const server = {
    onDidPrint: printed.event,
    onDidChange: changed.event,
    available: () => Promise.resolve(available),
    request(method: string, { target }: { target: string }) {
      asked.push(method);
      const answer = { [TARGETS]: listed, [REPORT]: reports.get(target), [LAYERS]: [] }[method];
      return Promise.resolve(answer);
    },
    command(command: string, id: string) {
      commands.push(`${command} ${id}`);
      return command === RUN
        ? new Promise((resolve) => answers.set(id, resolve))
        : Promise.resolve();
    },
  } as unknown as Server;
  targets = new Targets(server, keepingMemory());
  view = new TestView(server, targets);
  controller = tests.controllers.at(-1) ?? new TestController();
});

afterEach(() => {
  view.dispose();
  targets.dispose();
  workspace.workspaceFolders = undefined;
  extensions.installed.clear();
});

/** What the view shows. */
function shown(): Record<string, string[]> {
  return Object.fromEntries(
    [...controller.items].map(([, { label, children }]) => [
      label,
      [...children].map(([, child]) => child.label),
    ]),
  );
}

function item({ id, uri }: TargetItem): TestItem {
  const found = controller.items.get(uri)?.children.get(id);
  if (!found) {
    throw new Error(`${id} is not shown`);
  }
  return found;
}

/** Run a target to its end as the key or a save does. */
async function runElsewhere({ id }: TargetItem, state: TargetItem["state"], told?: ReportItem) {
  const status = { target: id, generation: 1, stale: false, runOnSave: true };
  await targets.status({ ...status, state: "queued" });
  await targets.status({ ...status, state: "running" });
  if (told) {
    reports.set(id, told);
  }
  await targets.status(state ? { ...status, state } : status);
}

async function answer({ id }: TargetItem, status: string): Promise<void> {
  await vi.waitUntil(() => answers.has(id));
  answers.get(id)?.({ target: id, status, findings: 0, compiled: true });
}

test("nothing is asked for before the view is opened, and nothing runs by itself", async () => {
  await runElsewhere(BLOCK, "finished", report());
  await targets.refresh();
  expect([asked, shown()]).toEqual([[], {}]);
  await controller.resolveHandler();
  expect(shown()).toEqual({ "block.py": ["Block"], "test_block.py": ["test_one"] });
  expect([commands, controller.runs]).toEqual([[], []]);
});

test("a test has no icon in the gutter where the Python extension has one", async () => {
  await controller.resolveHandler();
  expect(item(TEST).range?.numbers).toEqual([4, 0, 4, 15]);
  extensions.installed.set("ms-python.python", {
    isActive: true,
    exports: undefined,
    activate: () => Promise.resolve(),
  });
  await targets.refresh();
  await vi.waitUntil(() => item(TEST).range === undefined);
  expect(item(BLOCK).range?.numbers[0]).toBe(8);
});

test("what is chosen runs, and what it told is its outcome", async () => {
  await controller.resolveHandler();
  const run = controller.analyze(new TestRunRequest());
  reports.set(BLOCK.id, report({ frames: [COMPILED], findings: [finding()] }));
  reports.set(TEST.id, report({ frames: [COMPILED] }));
  await answer(BLOCK, "finished");
  await answer(TEST, "finished");
  await run;
  expect(commands).toEqual([`${RUN} ${BLOCK.id}`, `${RUN} ${TEST.id}`]);
  expect(controller.runs[0]?.told).toEqual([
    "enqueued Block",
    "enqueued test_one",
    "failed Block: `print` breaks the graph at 2",
    "passed test_one",
    "end",
  ]);
});

test("what is excluded does not run", async () => {
  await controller.resolveHandler();
  const run = controller.analyze(new TestRunRequest(undefined, [item(BLOCK)]));
  await answer(TEST, "cancelled");
  await run;
  expect(commands).toEqual([`${RUN} ${TEST.id}`]);
  expect(controller.runs[0]?.told).toEqual(["enqueued test_one", "skipped test_one", "end"]);
});

test("a run that is cancelled stops what is not over", async () => {
  await controller.resolveHandler();
  const run = controller.analyze(new TestRunRequest());
  await answer(BLOCK, "finished");
  await vi.waitUntil(() => controller.runs[0]?.told.includes("skipped Block"));
  controller.runs[0]?.cancelled.fire(undefined);
  expect(commands.slice(2)).toEqual([`${STOP} ${TEST.id}`]);
  answers.get(TEST.id)?.(undefined);
  await run;
  expect(controller.runs[0]?.told.at(-1)).toBe("end");
});

test("without a server nothing runs, and its reason is told once", async () => {
  await controller.resolveHandler();
  available = false;
  await controller.analyze(new TestRunRequest());
  expect([commands, controller.runs]).toEqual([[], []]);
});

test.each([
  ["finished", report({ frames: [COMPILED] }), "passed Block"],
  ["exited", report({ frames: [COMPILED] }), "passed Block"],
  [
    "finished",
    report({
      frames: [COMPILED],
      findings: [finding({ kind: "recompile", severity: "information" })],
    }),
    "passed Block",
  ],
  ["finished", report({ findings: [finding({ kind: "nothing-compiled" })] }), "skipped Block"],
  [
    "raised",
    report({
      findings: [finding({ kind: "target-error", severity: "error", message: "ValueError" })],
    }),
    "errored Block: ValueError at 2",
  ],
  [
    "finished",
    report({
      findings: [finding({ kind: "target-error", severity: "error", message: "no such test" })],
    }),
    "errored Block: no such test at 2",
  ],
  ["timeout", report(), "errored Block"],
  ["cancelled", report({ findings: [finding()] }), "skipped Block"],
  [undefined, undefined, "skipped Block"],
] as const)("a run elsewhere that is %s with %o is shown as %s", async (state, told, outcome) => {
  await controller.resolveHandler();
  await runElsewhere(BLOCK, state, told);
  expect(controller.runs.map((run) => run.told)).toEqual([["started Block", outcome, "end"]]);
  expect(commands).toEqual([]);
});

test("what ran before the view was opened is shown", async () => {
  listed = [{ ...BLOCK, state: "finished", stale: true }];
  reports.set(BLOCK.id, report({ frames: [COMPILED] }));
  await controller.resolveHandler();
  expect(controller.runs[0]?.told).toEqual(["started Block", "passed Block", "end"]);
  expect(controller.invalidated).toEqual(["Block"]);
});

test("what is no longer shown by its run is out of date", async () => {
  await controller.resolveHandler();
  await runElsewhere(BLOCK, "finished", report({ frames: [COMPILED] }));
  await targets.status({
    target: BLOCK.id,
    generation: 1,
    stale: true,
    runOnSave: true,
    state: "finished",
  });
  await targets.status({ target: BLOCK.id, generation: 0, stale: false, runOnSave: true });
  expect(controller.invalidated).toEqual(["Block", "Block"]);
  expect(controller.runs).toHaveLength(1);
});

test("a run ends with the server, and with the target", async () => {
  await controller.resolveHandler();
  const running = { generation: 1, stale: false, runOnSave: true, state: "running" as const };
  await targets.status({ ...running, target: BLOCK.id });
  changed.fire(undefined);
  await targets.status({ ...running, target: TEST.id });
  listed = [BLOCK];
  await targets.refresh();
  await vi.waitUntil(() => controller.runs[1]?.told.includes("end"));
  expect(controller.runs.map((run) => run.told)).toEqual([
    ["started Block", "end"],
    ["started test_one", "end"],
  ]);
});

test("what a program prints is in the output of its run", async () => {
  await controller.resolveHandler();
  await targets.status({
    target: BLOCK.id,
    generation: 1,
    stale: false,
    runOnSave: true,
    state: "running",
  });
  printed.fire({ target: BLOCK.id, label: "block.py::Block", generation: 1, text: "one\ntwo\n" });
  printed.fire({ target: TEST.id, label: "test_block.py", generation: 2, text: "of another\n" });
  expect(controller.runs[0]?.output).toBe("one\r\ntwo\r\n");
});
