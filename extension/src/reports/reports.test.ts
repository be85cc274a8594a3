import type { ExtensionContext } from "vscode";
import { beforeEach, expect, test } from "vitest";
import {
  KERNELS,
  type LayerItem,
  LAYERS,
  type PerformanceItem,
  type RunSummary,
} from "../protocol";
import type { ToPage } from "./page/messages";
import { Reports } from "./reports";
import type { Server } from "../server/server";
import { kernel, performanceItem } from "../testing/performance";
import { layer, report, target } from "../testing/reports";
import { dialogs, Uri, type WebviewPanel, window } from "../testing/vscode";

const ID = "/project/model.py";
const NODE = {
  ...{ kind: "target" as const, id: "target", report: undefined, parent: undefined },
  item: target({ id: ID }),
};
const STATUS = { target: ID, generation: 2, stale: false, runOnSave: true };

/** What the server has, how its runs end, and the commands that it got. */
let told: PerformanceItem | undefined;
let status: string;
let ran: Partial<RunSummary>;
let commanded: unknown[][];
let layers: LayerItem[];
let asked: object[];
let reports: Reports;

beforeEach(() => {
  told = performanceItem({ kernels: [kernel()] });
  status = "finished";
  ran = {};
  commanded = [];
  layers = [];
  asked = [];
  dialogs.taken.length = 0;
  window.panels.length = 0;
  const server = {
    available: () => Promise.resolve(true),
    request(method: string, params: object) {
      if (method === LAYERS) {
        return Promise.resolve(layers);
      }
      asked.push(params);
      return Promise.resolve(told);
    },
    command(...command: unknown[]) {
      commanded.push(command);
      told ??= performanceItem();
      return Promise.resolve({ target: ID, status, findings: 0, ...ran });
    },
  };
  const extension = { extensionUri: Uri.file("/extension") } as unknown as ExtensionContext;
  reports = new Reports(server as unknown as Server, extension);
});

function panel(): WebviewPanel {
  const [first] = window.panels;
  if (first === undefined) {
    throw new Error("no panel was opened");
  }
  return first;
}

test("a report that is there is shown without a run, in one panel", async () => {
  await reports.open(NODE);
  await reports.open(NODE);
  expect(commanded).toEqual([]);
  expect(window.panels).toHaveLength(1);
  expect(panel()).toMatchObject({ title: "Report: model.py", revealed: 1 });
});

test("a target that did not run, or not until kernels, is run", async () => {
  told = undefined;
  await reports.open(NODE);
  told = performanceItem();
  await reports.open(NODE);
  expect(commanded).toEqual([
    [KERNELS, ID],
    [KERNELS, ID],
  ]);
});

test("the user chooses between the ordinary result and layers with kernels, times or speed", async () => {
  const kernels = [
    { uri: "", name: "relu", graph: "0/0 forward", operators: "relu", locations: [] },
  ];
  layers = [
    layer({ report: report({ kernels }) }),
    layer({ layer: "stages" }),
    layer({ layer: "times", label: "Compile times" }),
    layer({ layer: "speed", label: "Speed" }),
  ];
  dialogs.taken.push("Preview for h100");
  await reports.open(NODE);
  expect(dialogs.offered.at(-1)).toEqual([
    "Ordinary Run",
    "Preview for h100",
    "Compile times",
    "Speed",
  ]);
  expect(asked).toEqual([{ target: ID, layer: "preview" }]);
  expect(commanded).toEqual([]);
  await reports.open(NODE); // dismissed
  expect(window.panels).toHaveLength(1);
});

test("a layer opens its own report", async () => {
  await reports.open({ kind: "layer", id: "l", layer: layer({ report: report({ target: ID }) }) });
  expect(asked).toEqual([{ target: ID, layer: "preview" }]);
});

test("a run that was stopped opens nothing", async () => {
  status = "cancelled";
  await reports.measure("fullgraph.compileTimes", NODE);
  expect(commanded).toEqual([["fullgraph.compileTimes", ID]]);
  expect(window.panels).toEqual([]);
});

test("what was measured is shown, of the layer that the run has made", async () => {
  ran = { layer: "speed" };
  await reports.measure("fullgraph.speed", NODE);
  expect(commanded).toEqual([["fullgraph.speed", ID]]);
  expect(asked).toEqual([{ target: ID, layer: "speed" }]);
  expect(window.panels).toHaveLength(1);
});

test("a panel that was closed is opened anew", async () => {
  await reports.open(NODE);
  panel().dispose();
  await reports.open(NODE);
  expect(window.panels).toHaveLength(2);
});

test("a page that was hidden gets its report again", async () => {
  await reports.open(NODE);
  const before = panel().posted.length;
  panel().said.fire({ kind: "ready" });
  expect(panel().posted.slice(before)).toEqual([{ kind: "report", report: told, running: false }]);
});

test("while a target runs again, its page says so; then it shows the new report", async () => {
  await reports.open(NODE);
  await reports.status({ ...STATUS, state: "running" });
  expect(panel().posted.at(-1)).toEqual({ kind: "running", running: true });
  told = performanceItem({ generation: 2 });
  await reports.status({ ...STATUS, state: "finished" });
  expect(panel().posted.at(-1)).toEqual({ kind: "report", report: told, running: false });
});

test("a page is not drawn anew when its target has only become stale", async () => {
  await reports.open(NODE);
  told = structuredClone(told);
  await reports.status({ ...STATUS, stale: true, state: "finished" });
  expect(panel().posted).toEqual([{ kind: "running", running: false }]);
});

test("nothing of an older run is shown after a newer one", async () => {
  told = performanceItem({ generation: 2, kernels: [kernel()] });
  await reports.open(NODE);
  const reportsOf = () => panel().posted.filter((message) => (message as ToPage).kind === "report");
  const before = reportsOf().length;
  told = performanceItem({ generation: 1 });
  await reports.status({ ...STATUS, state: "finished" });
  expect(reportsOf()).toHaveLength(before);

  reports.reset(); // another server counts anew
  await reports.status({ ...STATUS, state: "finished" });
  expect(reportsOf()).toHaveLength(before + 1);
});
