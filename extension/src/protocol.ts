// Written by scripts/protocol_types.py from fullgraph_server/protocol.py: change it there.

import type { Location, Range, TextDocumentIdentifier } from "vscode-languageclient";

export const TARGETS = "fullgraph/targets";
export const REPORT = "fullgraph/report";
export const GUARDS = "fullgraph/guards";
export const INTERPRETER = "fullgraph/interpreter";
export const ENVIRONMENT = "fullgraph/environment";
export const BUG_REPORT = "fullgraph/bugReport";
export const DEBUG_CONFIGURATION = "fullgraph/debugConfiguration";
export const STATUS = "fullgraph/status";
export const RUN = "fullgraph.run";
export const STAGES = "fullgraph.stages";
export const RECIPES = "fullgraph.recipes";
export const KERNELS = "fullgraph.kernels";
export const MINIFY = "fullgraph.minify";
export const STOP = "fullgraph.stop";
export const CLEAR = "fullgraph.clear";
export const RUN_ON_SAVE = "fullgraph.runOnSave";
export const SHOW_EXPLANATION = "fullgraph.showExplanation";
export const SHOW_TARGET = "fullgraph.showTarget";
export const SHOW_SOURCE = "fullgraph.showSource";
export const OPEN_REPRO = "fullgraph.openRepro";
export const EXPLANATION_SCHEME = "fullgraph-explanation";
export const KERNEL_SCHEME = "fullgraph-kernel";

/** Asks for the targets of the open folders, or of one document. */
export interface TargetsParams {
  textDocument?: TextDocumentIdentifier;
}

/** Something that can be run. */
export interface TargetItem {
  id: string;
  label: string;
  kind: "script" | "pytest" | "example";
  uri: string;
  folder: string;
  configured: boolean;
  stale: boolean;
  runOnSave: boolean;
  range?: Range;
  selectionRange?: Range;
  state?: "queued" | "running" | "finished" | "raised" | "exited" | "crashed" | "timeout" | "memory" | "cancelled" | "not-started";
}

/** Asks for what the last run of a target told. */
export interface ReportParams {
  target: string;
}

/** One captured graph. */
export interface GraphItem {
  compileId: string;
  ops: number;
  location?: Location;
}

/** One function of the user's code with all its compilations. */
export interface FrameItem {
  function: string;
  location: Location;
  graphs: GraphItem[];
  ops: number;
  breaks: number;
  guards: number;
  recompiles: number;
  seconds: number;
  findings: number[];
}

/** Which failure of a target is meant; the first one, if neither is given. */
export interface MinifyOptions {
  fault: number;
  compileId: string;
}

/** What a person should look at. */
export interface FindingItem {
  kind: "graph-break" | "recompile" | "recompile-limit" | "compile-error" | "capture-error" | "accuracy" | "skipped-frame" | "target-error";
  code: string;
  severity: "error" | "warning" | "information";
  message: string;
  location: Location;
  count: number;
  explanation: string;
  minify?: MinifyOptions;
}

/** A piece of generated code: a kernel, or the whole of what was written for a graph. */
export interface KernelItem {
  uri: string;
  name: string;
  graph: string;
  operators: string;
  locations: Location[];
}

/** What the last run of a target told, so far if it is still on. */
export interface ReportItem {
  target: string;
  generation: number;
  torch: string;
  seconds: number;
  frames: FrameItem[];
  findings: FindingItem[];
  kernels: KernelItem[];
}

/** Asks for the guards of one function of a report. */
export interface GuardsParams {
  target: string;
  generation: number;
  frame: number;
}

/** A condition under which a compiled function may be used again. */
export interface GuardItem {
  name: string;
  kind: string;
  expected: string;
  failures: number;
  location?: Location;
}

/** Asks about the Python that runs the targets of a file or folder. */
export interface InterpreterParams {
  uri: string;
}

/** A Python, and whether targets can run with it. */
export interface InterpreterItem {
  path: string;
  origin: string;
  python?: string;
  torch?: string;
  problem?: string;
}

/** The state of a target has changed. */
export interface StatusParams {
  target: string;
  generation: number;
  stale: boolean;
  runOnSave: boolean;
  state?: "queued" | "running" | "finished" | "raised" | "exited" | "crashed" | "timeout" | "memory" | "cancelled" | "not-started";
}

/** The answer to ``fullgraph.run``. */
export interface RunSummary {
  target: string;
  status: string;
  findings: number;
}

/** The answer to ``fullgraph.minify``. */
export interface MinifySummary {
  target: string;
  status: string;
  nodes: number;
  nodesAtFirst: number;
  queries: number;
  seconds: number;
  reproduces: boolean;
  message: string;
  repro?: string;
}

/** Asks about a target, by its id or a file's URI; a repro is a file, too. */
export interface TargetParams {
  target: string;
}

/** A bug report, or why there is none. */
export interface BugReportItem {
  text?: string;
  problem?: string;
}

/** Asks how a target starts in a debugger, with torch.compile or without. */
export interface DebugParams {
  target: string;
  uncompiled: boolean;
}

/** A launch configuration of debugpy. */
export interface DebugConfiguration {
  name: string;
  type: string;
  request: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  python: string;
  justMyCode: boolean;
  subProcess: boolean;
  console: string;
  program?: string;
  module?: string;
}

/** How a program starts in a debugger, or why it cannot. */
export interface DebugItem {
  configuration?: DebugConfiguration;
  problem?: string;
}

/** What a diagnostic carries for later requests about it. */
export interface FindingData {
  target: string;
  generation: number;
  kind: "graph-break" | "recompile" | "recompile-limit" | "compile-error" | "capture-error" | "accuracy" | "skipped-frame" | "target-error";
  count: number;
  rendered: string;
  explanation: string;
  minify?: MinifyOptions;
}
