import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CLEAR,
  READ_TRACE,
  REPORT,
  type ReportItem,
  RUN,
  type TargetItem,
  TARGETS,
  TRACE_DIFF,
} from "../protocol";
import { RecentTraces } from "./recentTraces";
import type { Server } from "../server/server";
import type { Targets } from "../targets/targets";
import { keepingMemory } from "../testing/memory";
import { finding, frame, rank, report, target } from "../testing/reports";
import { dialogs, executed, folder, shown, Uri, window, workspace } from "../testing/vscode";
import { Traces } from "./traces";

const LOG = "/logs/job.log";
const FROM_DISK = ["from disk", "$(file) A log file…", "$(folder) A folder of logs…"];

/** What the server has, how reading ends, the commands that it got, and what the view showed. */
let opened: TargetItem[];
let told: ReportItem;
let status: string;
let commanded: unknown[][];
let revealed: string[];
let recent: RecentTraces;
let traces: Traces;

beforeEach(() => {
  workspace.workspaceFolders = [folder("/project")];
  workspace.files.clear();
  workspace.files.add(LOG);
  opened = [];
  told = report({ frames: [frame()], findings: [finding()] });
  status = "finished";
  commanded = [];
  revealed = [];
  shown.length = executed.length = dialogs.offered.length = dialogs.taken.length = 0;
  window.documents.length = 0;
  dialogs.chosen = undefined;
  window.statusBar = "";
  const server = {
    available: () => Promise.resolve(true),
    request: (method: string) =>
      Promise.resolve({ [TARGETS]: [...opened, target()], [REPORT]: told }[method]),
    command(command: string, ...args: unknown[]) {
      commanded.push([command, ...args]);
      const summary = { target: `trace:${args.join("#")}`, status, findings: 1 };
      return Promise.resolve(
        { [READ_TRACE]: summary, [TRACE_DIFF]: "fullgraph-comparison:///a" }[command],
      );
    },
  };
  const view = { reveal: (id: string) => Promise.resolve(revealed.push(id)) };
  recent = new RecentTraces(keepingMemory());
  traces = new Traces(server as unknown as Server, view as unknown as Targets, recent);
});

afterEach(() => {
  workspace.workspaceFolders = undefined;
});

function trace(path: string): TargetItem {
  return target({ id: `trace:${path}`, label: path, kind: "trace", uri: `file://${path}` });
}

test("a file that a menu names is read, shown and remembered", async () => {
  await traces.open([Uri.file(LOG)] as never);
  expect(commanded).toEqual([[READ_TRACE, LOG]]);
  expect(revealed).toEqual([`trace:${LOG}`]);
  expect(await recent.all()).toEqual([LOG]);
  expect(window.statusBar).toBe("$(search) Fullgraph: 1 finding");
});

test("recent traces are offered first, then what is on disk", async () => {
  await recent.add(LOG);
  dialogs.taken.push("$(history) job.log");
  await traces.open([]);
  expect(dialogs.offered).toEqual([["recent", "$(history) job.log", ...FROM_DISK]]);
  expect(revealed).toEqual([`trace:${LOG}`]);
});

test("a folder is chosen in a dialog", async () => {
  dialogs.taken.push("$(folder) A folder of logs…");
  dialogs.chosen = Uri.file("/logs");
  await traces.open([]);
  expect(commanded).toEqual([[READ_TRACE, "/logs"]]);
});

test("a dialog that is left opens nothing", async () => {
  dialogs.taken.push("$(file) A log file…");
  await traces.open([]);
  expect([commanded, revealed]).toEqual([[], []]);
});

test("what is no trace is told, and not kept", async () => {
  status = "not-started";
  told = report({
    findings: [finding({ kind: "target-error", message: "/logs holds no trace." })],
  });
  await traces.open([Uri.file("/logs")] as never);
  expect(commanded).toEqual([
    [READ_TRACE, "/logs"],
    [CLEAR, "trace:/logs"],
  ]);
  expect(shown).toEqual(["/logs holds no trace."]);
  expect([revealed, await recent.all()]).toEqual([[], []]);
});

test("a trace without compilations is told of", async () => {
  told = report();
  await traces.open([Uri.file(LOG)] as never);
  expect(shown).toEqual(["The trace has no compilations."]);
});

test("a trace of other files leads to mapping their folder", async () => {
  workspace.workspaceFolders = [folder("/other")];
  await traces.open([Uri.file(LOG)] as never);
  expect(shown).toEqual(["The files of the trace are not in this workspace."]);
});

test("a rank is read as a trace of its own", async () => {
  const of = { kind: "target" as const, id: "t", item: trace("/logs"), report: told };
  await traces.showRank({
    ...{ kind: "rank", id: "r", rank: rank({ rank: 3 }) },
    of: { ...of, parent: undefined },
  });
  expect(commanded).toEqual([[READ_TRACE, "/logs", 3]]);
  expect(revealed).toEqual(["trace:/logs#3"]);
});

test("two traces are compared, one that is not open yet", async () => {
  opened = [trace("/a"), trace("/b")];
  await recent.add(LOG);
  dialogs.taken.push("$(history) job.log", "$(pulse) /b");
  await traces.compare(undefined);
  expect(dialogs.offered[0]).toEqual(
    ["open", "$(pulse) /a", "$(pulse) /b", "recent", "$(history) job.log"].concat(FROM_DISK),
  );
  expect(commanded).toEqual([
    [READ_TRACE, LOG],
    [TRACE_DIFF, `trace:${LOG}`, "trace:/b"],
  ]);
  expect(String(window.documents[0]?.[0])).toBe("fullgraph-comparison:///a");
});

test("the trace that a menu names is the later one, and is not offered again", async () => {
  opened = [trace("/a"), trace("/b")];
  dialogs.taken.push("$(pulse) /a");
  await traces.compare({
    ...{ kind: "target", id: "t", item: trace("/b") },
    ...{ report: told, parent: undefined },
  });
  expect(dialogs.offered).toEqual([["open", "$(pulse) /a", ...FROM_DISK]]);
  expect(commanded).toEqual([[TRACE_DIFF, "trace:/a", "trace:/b"]]);
});

test("a comparison of which one trace is not chosen is none", async () => {
  opened = [trace("/a"), trace("/b")];
  dialogs.taken.push("$(pulse) /a");
  await traces.compare(undefined);
  expect(dialogs.offered[1]).not.toContain("$(pulse) /a");
  expect(commanded).toEqual([]);
});

test("open traces are read again, and nothing else", async () => {
  opened = [trace("/a"), trace("/b")];
  await traces.readAgain();
  expect(commanded).toEqual([
    [RUN, "trace:/a"],
    [RUN, "trace:/b"],
  ]);
});
