import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Node, TargetNode } from "./nodes";
import {
  GUARDS,
  type LayerItem,
  LAYERS,
  REPORT,
  type ReportItem,
  type TargetItem,
  TARGETS,
} from "../protocol";
import type { Server } from "../server/server";
import { Targets } from "./targets";
import { keepingMemory } from "../testing/memory";
import { finding, frame, layer, report, target } from "../testing/reports";
import { dialogs, shown as shownMessages, Uri, window, workspace } from "../testing/vscode";

const ID = target().id;
const STATUS = { target: ID, generation: 1, stale: false, runOnSave: true };

/** What the server has, and the requests that it got. */
let listed: TargetItem[];
let told: ReportItem | undefined;
let layers: LayerItem[];
let asked: string[];
let targets: Targets;
let changed: (Node | undefined)[];
let memory: ReturnType<typeof keepingMemory>;

beforeEach(() => {
  vi.useFakeTimers();
  listed = [target()];
  told = undefined;
  layers = [];
  asked = [];
  changed = [];
  memory = keepingMemory();
  const request = (method: string) => {
    asked.push(method);
    const answer = { [TARGETS]: listed, [REPORT]: told, [LAYERS]: layers, [GUARDS]: [] }[method];
    return Promise.resolve(answer);
  };
  targets = new Targets({ request } as unknown as Server, memory);
  targets.onDidChangeTreeData((node) => changed.push(node));
});

afterEach(() => {
  targets.dispose();
  vi.useRealTimers();
});

async function root(): Promise<TargetNode> {
  const [node] = await targets.getChildren();
  if (node?.kind !== "target") {
    throw new Error("no target is shown");
  }
  return node;
}

test("the list is asked for once, when it is shown", async () => {
  expect(asked).toEqual([]);
  await targets.getChildren();
  await targets.getChildren();
  expect(asked).toEqual([TARGETS]);
});

test("what ran before the view was shown has its report", async () => {
  listed = [target({ state: "finished" })];
  told = report({ frames: [frame()] });
  expect(await targets.getChildren(await root())).toMatchObject([{ kind: "frame" }]);
});

test("a run that is over is told anew, also if a part of its report was shown", async () => {
  listed = [target({ state: "running" })];
  told = report({ findings: [finding()] });
  const node = await root();
  told = report({ findings: [finding(), finding()] });
  await targets.status({ ...STATUS, state: "finished" });
  expect(await targets.getChildren(node)).toHaveLength(2);
  expect(changed).toEqual([node]);
  expect(node.item.state).toBe("finished");
});

test("while a target runs again, what its last run told stays", async () => {
  listed = [target({ state: "finished" })];
  told = report({ findings: [finding()] });
  const node = await root();
  await targets.status({ ...STATUS, state: "running" });
  expect(await targets.getChildren(node)).toHaveLength(1);
});

test("a preview is shown below its target, until that is cleared", async () => {
  listed = [target({ state: "finished" })];
  told = report({ frames: [frame()] });
  const node = await root();
  layers = [layer()];
  await targets.status({ ...STATUS, state: "finished" });
  const [, preview] = await targets.getChildren(node);
  expect(preview).toMatchObject({ kind: "layer", layer: { label: "Preview for h100" } });
  await targets.status(STATUS);
  expect(await targets.getChildren(node)).toEqual([]);
});

test("a target that was cleared is as if it had never run", async () => {
  listed = [target({ state: "finished" })];
  told = report({ findings: [finding()] });
  const node = await root();
  await targets.status(STATUS);
  expect(await targets.getChildren(node)).toEqual([]);
  expect(node.item).not.toHaveProperty("state");
});

test("a trace that was closed is gone from the view", async () => {
  listed = [target({ kind: "trace", state: "finished" })];
  told = report();
  await root();
  listed = [];
  await targets.status(STATUS);
  expect(changed).toEqual([undefined]);
  expect(await targets.getChildren()).toEqual([]);
});

test("what the list does not have yet is asked for before it is revealed", async () => {
  await targets.getChildren();
  listed = [target(), target({ id: "trace:/job", kind: "trace" })];
  await targets.reveal("trace:/job");
  await targets.reveal(ID);
  expect(asked).toEqual([TARGETS, TARGETS]);
});

test("an item that is listed anew while it is revealed is no error of a command", async () => {
  Object.assign(window.trees.at(-1) ?? {}, { isNew: true });
  await targets.reveal(ID);
  expect(asked).toContain(TARGETS);
});

test("a filter shows findings of some kinds, and the functions that have one; the view says so", async () => {
  const limit = finding({ kind: "recompile-limit", kindName: "recompile limits hit" });
  const problem = finding({ kind: "target-error", kindName: "problems" });
  listed = [target({ state: "finished" })];
  told = report({
    findings: [finding(), limit, problem],
    frames: [frame({ findings: [0] }), frame({ findings: [1] }), frame()],
  });
  const node = await root();
  const view = window.trees.at(-1);
  const shown = async () => {
    const children = await targets.getChildren(node);
    return children.map(({ id }) => id.replace(node.id, ""));
  };
  expect(await shown()).toEqual(["/finding/2", "/0", "/1", "/2"]);

  dialogs.offered.length = 0;
  dialogs.taken.push("recompile limits hit");
  await targets.chooseFilter();
  expect(dialogs.offered).toEqual([["graph breaks", "recompile limits hit"]]);
  expect(view?.message).toBe("Filter: only recompile limits hit");
  expect(changed).toEqual([undefined]);
  expect(await shown()).toEqual(["/finding/2", "/1"]);

  const next = new Targets({ request: () => Promise.resolve([]) } as unknown as Server, memory);
  expect(window.trees.at(-1)?.message).toBe("Filter: only recompile limits hit");
  next.dispose();

  await targets.chooseFilter(); // left with Escape
  expect(await shown()).toEqual(["/finding/2", "/1"]);
  dialogs.taken.push("");
  await targets.chooseFilter(); // nothing is selected
  expect(view?.message).toBe("");
  expect(await shown()).toEqual(["/finding/2", "/0", "/1", "/2"]);
});

test("without findings there is nothing to filter", async () => {
  shownMessages.length = 0;
  await targets.chooseFilter();
  expect(shownMessages).toEqual(["There are no findings to filter: analyze a file first."]);
});

test("many changes of files are one refresh", async () => {
  await targets.getChildren();
  for (let times = 0; times < 10; times++) {
    workspace.fileChanged.fire(Uri.file("/project/toy.py"));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(changed).toEqual([]);
  await vi.advanceTimersByTimeAsync(500);
  expect(changed).toEqual([undefined]);
  await targets.getChildren();
  expect(asked).toEqual([TARGETS, TARGETS]);
});

test("a target that the list does not have makes it be asked for anew", async () => {
  await targets.getChildren();
  await targets.status({ ...STATUS, target: "new", state: "running" });
  await vi.advanceTimersByTimeAsync(500);
  expect(changed).toEqual([undefined]);
});

test("nodes stay the same when the list is asked for anew", async () => {
  const before = await root();
  await targets.refresh();
  expect(await root()).toBe(before);
});

test("a view that is shown is told of a new list once it is there, a hidden one at once", async () => {
  await targets.getChildren();
  const refreshed = targets.refresh();
  expect([asked, changed]).toEqual([[TARGETS, TARGETS], []]);
  await refreshed;
  expect(changed).toEqual([undefined]);
  Object.assign(window.trees.at(-1) ?? {}, { visible: false });
  await targets.refresh();
  expect([asked, changed]).toEqual([
    [TARGETS, TARGETS],
    [undefined, undefined],
  ]);
});

test("of two refreshes only the newer one is told", async () => {
  await targets.getChildren();
  await Promise.all([targets.refresh(), targets.refresh()]);
  expect(changed).toEqual([undefined]);
});

test("another server begins with nothing", async () => {
  listed = [target({ state: "finished" })];
  told = report({ findings: [finding()] });
  const before = await root();
  listed = [target()];
  targets.reset();
  const after = await root();
  expect(after).not.toBe(before);
  expect(await targets.getChildren(after)).toEqual([]);
});
