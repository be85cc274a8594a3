import type { Memento } from "vscode";
import { beforeEach, expect, test, vi } from "vitest";
import { devicePicks, dryRun, previewKernels } from "./previews";
import { type DeviceItem, DEVICES, KERNELS, REPORT, RUN, SHOW_EXPLANATION } from "../protocol";
import type { Server } from "../server/server";
import { finding, report, target } from "../testing/reports";
import { answers, dialogs, executed, shown, Uri, window } from "../testing/vscode";

const L4: DeviceItem = { name: "l4", gpu: "NVIDIA L4", description: "58 SMs" };
const H100: DeviceItem = { name: "h100", gpu: "NVIDIA H100", description: "132 SMs" };
const KERNEL = {
  uri: "fullgraph-kernel:///1/triton_poi_0.py",
  name: "triton_poi_0",
  graph: "0/0 inference",
  operators: "relu",
  locations: [],
};
const NODE = {
  kind: "target" as const,
  id: "target/toy",
  item: target({ id: "toy" }),
  report: undefined,
  parent: undefined,
};

let commands: unknown[][];
let kept: unknown;
let told = report();

const server = {
  available: () => Promise.resolve(true),
  command: (...command: unknown[]) => {
    commands.push(command);
    return Promise.resolve({ target: "toy", status: "finished", findings: 2 });
  },
  request: (method: string) =>
    Promise.resolve({ [DEVICES]: [L4, H100], [REPORT]: told }[method] as unknown),
} as unknown as Server;

const memory = {
  get: () => kept,
  update: (_: string, value: unknown) => {
    kept = value;
    return Promise.resolve();
  },
} as unknown as Memento;

beforeEach(() => {
  commands = [];
  kept = undefined;
  told = report({ kernels: [KERNEL] });
  shown.length = window.documents.length = dialogs.offered.length = dialogs.taken.length = 0;
  window.activeTextEditor = undefined;
});

test("a dry run is for once, and tells what it found", async () => {
  await dryRun(server, NODE);
  expect(commands).toEqual([[RUN, "toy", { dryRun: true }]]);
  expect(window.statusBar).toBe("$(search) Fullgraph: 2 findings");
});

test("kernels are written for the GPU that is taken, and one of them is opened", async () => {
  dialogs.taken.push("NVIDIA H100", "triton_poi_0");
  await previewKernels(server, memory, NODE);
  expect(commands).toEqual([[KERNELS, "toy", { device: "h100" }]]);
  expect(dialogs.offered).toEqual([
    ["NVIDIA L4", "NVIDIA H100"],
    ["0/0 inference", "triton_poi_0"],
  ]);
  expect(window.documents.map(([uri]) => String(uri))).toEqual([KERNEL.uri]);
});

test("the GPU of the last time comes first", async () => {
  expect(devicePicks([L4, H100], undefined).map(({ label }) => label)).toEqual([
    "NVIDIA L4",
    "NVIDIA H100",
  ]);
  dialogs.taken.push("NVIDIA H100");
  await previewKernels(server, memory, NODE);
  dialogs.taken.length = 0;
  await previewKernels(server, memory, NODE);
  expect(dialogs.offered.at(-1)).toEqual(["NVIDIA H100", "NVIDIA L4"]);
  expect(commands).toHaveLength(1);
  expect(kept).toBe("h100");
});

test("where no kernel could be written, what the run says of it is told", async () => {
  const unknown = ["No kernel is known: this torch is a CPU build."];
  told = report({ dry: { label: "preview for h100", sentence: "nothing ran", unknown } });
  dialogs.taken.push("NVIDIA H100");
  await previewKernels(server, memory, NODE);
  expect(shown).toEqual([
    `No kernel was generated: TorchInductor compiled nothing. ${unknown.join("")}`,
  ]);
});

test("where something stopped it, that is told, with what to do about it", async () => {
  const stopped = finding({ kind: "target-error", severity: "error", message: "no environment" });
  told = report({ findings: [finding(), stopped] });
  dialogs.taken.push("NVIDIA H100");
  answers.push("What to Do");
  executed.length = 0;
  await previewKernels(server, memory, NODE);
  expect(shown).toEqual(["no environment"]);
  await vi.waitFor(() => {
    expect(executed).toEqual([[SHOW_EXPLANATION, stopped.explanation]]);
  });
});

test("without a target nothing is asked", async () => {
  window.activeTextEditor = { document: { languageId: "markdown", uri: Uri.file("/a.md") } };
  await previewKernels(server, memory, undefined);
  await dryRun(server, undefined);
  expect([commands, dialogs.offered]).toEqual([[], []]);
  expect(shown).toEqual(Array(2).fill("There is no Python file to act on: open one first."));
});
