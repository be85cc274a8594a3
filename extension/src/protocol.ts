// Written by scripts/protocol_types.py from protocol/ and kinds.py: change it there.

import type { Location, Position, Range, TextDocumentIdentifier } from "vscode-languageclient";

export const TARGETS = "fullgraph/targets";
export const SUGGESTED_TARGETS = "fullgraph/suggestedTargets";
export const REPORT = "fullgraph/report";
export const LAYERS = "fullgraph/layers";
export const PERFORMANCE = "fullgraph/performance";
export const COUNTERPARTS = "fullgraph/counterparts";
export const GRAPH_LINES = "fullgraph/graphLines";
export const AT_LINE = "fullgraph/atLine";
export const GUARDS = "fullgraph/guards";
export const INTERPRETER = "fullgraph/interpreter";
export const INTERPRETERS = "fullgraph/interpreters";
export const ENVIRONMENT = "fullgraph/environment";
export const BUG_REPORT = "fullgraph/bugReport";
export const DEBUG_CONFIGURATION = "fullgraph/debugConfiguration";
export const DEVICES = "fullgraph/devices";
export const TOOL = "fullgraph/tool";
export const STATUS = "fullgraph/status";
export const OUTPUT = "fullgraph/output";
export const RUN = "fullgraph.run";
export const STAGES = "fullgraph.stages";
export const RECIPES = "fullgraph.recipes";
export const RECOMPILES = "fullgraph.recompiles";
export const KERNELS = "fullgraph.kernels";
export const ASSEMBLY = "fullgraph.assembly";
export const READ_TRACE = "fullgraph.readTrace";
export const TRACE_DIFF = "fullgraph.traceDiff";
export const MINIFY = "fullgraph.minify";
export const TRY_FIXES = "fullgraph.tryFixes";
export const STOP = "fullgraph.stop";
export const CLEAR = "fullgraph.clear";
export const RAISE_LIMIT = "fullgraph.raiseLimit";
export const RUN_ON_SAVE = "fullgraph.runOnSave";
export const SHOW_RESULTS = "fullgraph.showResults";
export const ADD_TO_BASELINE = "fullgraph.addToBaseline";
export const SAVE_TARGET = "fullgraph.saveTarget";
export const SHOW_EXPLANATION = "fullgraph.showExplanation";
export const SHOW_TARGET = "fullgraph.showTarget";
export const SHOW_SOURCE = "fullgraph.showSource";
export const OPEN_ARTIFACT = "fullgraph.openArtifact";
export const OPEN_REPRO = "fullgraph.openRepro";
export const EXPLANATION_SCHEME = "fullgraph-explanation";
export const PROFILE_SCHEME = "fullgraph-profile";
export const COMPARISON_SCHEME = "fullgraph-comparison";
export const KERNEL_SCHEME = "fullgraph-kernel";

/** A request for the targets of the open folders, or of one document. */
export interface TargetsParams {
  textDocument?: TextDocumentIdentifier;
}

/** A program that can run. */
export interface TargetItem {
  id: string;
  label: string;
  kind: "script" | "module" | "console-script" | "pytest" | "example" | "torchrun" | "trace";
  uri: string;
  folder: string;
  configured: boolean;
  stale: boolean;
  runOnSave: boolean;
  range?: Range;
  selectionRange?: Range;
  state?: "queued" | "running" | "finished" | "raised" | "exited" | "crashed" | "timeout" | "memory" | "cancelled" | "not-started";
}

/** A request for the targets that can analyze a document. */
export interface SuggestedTargetsParams {
  textDocument: TextDocumentIdentifier;
}

/** The targets that can analyze a document, the likeliest first. */
export interface SuggestedTargets {
  targets: TargetItem[];
  sure: boolean;
}

/** A request about a target, by its id or the URI of a file or repro. */
export interface TargetParams {
  target: string;
}

/** The new state of a target. */
export interface StatusParams {
  target: string;
  generation: number;
  stale: boolean;
  runOnSave: boolean;
  state?: "queued" | "running" | "finished" | "raised" | "exited" | "crashed" | "timeout" | "memory" | "cancelled" | "not-started";
}

/** Output that a program has printed. */
export interface OutputParams {
  target: string;
  label: string;
  generation: number;
  text: string;
}

/** Options that make one run a dry run: with tensors that have no data. */
export interface DryRunOptions {
  dryRun?: boolean;
  device?: string;
}

/** A GPU for which kernels can be previewed; the machine need not have it. */
export interface DeviceItem {
  name: string;
  gpu: string;
  description: string;
}

/** The answer to ``fullgraph.run``. */
export interface RunSummary {
  target: string;
  status: string;
  findings: number;
  compiled: boolean;
  ignored?: number;
  document?: string;
  layer?: string;
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

/** A request for the report of a target, or of one of its layers. */
export interface ReportParams {
  target: string;
  layer?: string;
}

/** The failure to minify; the first failure of the target if no field is set. */
export interface MinifyOptions {
  fault: number;
  compileId: string;
}

/** A request for the guards of one function of a report. */
export interface GuardsParams {
  target: string;
  generation: number;
  frame: number;
}

/** The data of a diagnostic, for later requests about the finding. */
export interface FindingData {
  target: string;
  generation: number;
  kind: "graph-break" | "recompile" | "late-compile" | "recompile-limit" | "compile-error" | "capture-error" | "export-error" | "accuracy" | "skipped-frame" | "nothing-compiled" | "rank-difference" | "cudagraph-skip" | "perf-hint" | "cache-miss" | "cache-bypass" | "unused-ignore" | "target-error";
  count: number;
  rendered: string;
  explanation: string;
  minify?: MinifyOptions;
}

/** A request for the places in other documents that correspond to a place. */
export interface CounterpartsParams {
  textDocument: TextDocumentIdentifier;
  position: Position;
  among: string[];
}

/** A request for the graph of each line, and for the lines that ran eagerly. */
export interface GraphLinesParams {
  textDocument: TextDocumentIdentifier;
}

/** Consecutive lines that ran alike; lines that add nothing to graphs are left out. */
export interface GraphLinesItem {
  startLine: number;
  endLine: number;
  graphs: number[];
  label: string;
  eager: boolean;
  reason: string;
}

/** A request for everything known about a line. */
export interface AtLineParams {
  textDocument: TextDocumentIdentifier;
  position: Position;
}

/** One thing known about a line. */
export interface LineEntry {
  label: string;
  description: string;
  details: string;
  notes: string[];
  severity?: "error" | "warning" | "information";
  location?: Location;
  explanation?: string;
}

/** The things of one kind known about a line. */
export interface LineSection {
  kind: "findings" | "graphs" | "shapes" | "guards" | "sizes" | "kernels" | "compilations";
  title: string;
  entries: LineEntry[];
  description: string;
}

/** Everything known about a line. */
export interface AtLineItem {
  sections: LineSection[];
  nothing?: string;
}

/** A request about the Python that runs the targets of a file or folder. */
export interface InterpreterParams {
  uri: string;
}

/** A request for available interpreters; the first of the answer is in use. */
export interface InterpretersParams {
  uri: string;
  known?: string[];
}

/** A Python, and whether targets can run with it. */
export interface InterpreterItem {
  path: string;
  origin: string;
  python?: string;
  torch?: string;
  problem?: string;
}

/** A call of an agent tool, with the arguments that `fullgraph mcp` describes. */
export interface ToolParams {
  name: string;
  arguments: Record<string, unknown>;
}

/** A bug report, or the problem that prevents it. */
export interface BugReportItem {
  text?: string;
  holds?: string;
  problem?: string;
}

/** A request for a target's launch configuration, with or without torch.compile. */
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

/** The launch configuration of a program, or the problem that prevents it. */
export interface DebugItem {
  configuration?: DebugConfiguration;
  problem?: string;
}

/** A captured graph; ``span`` is the line of user code of the first operation. */
export interface GraphItem {
  compileId: string;
  ops: number;
  location?: Location;
}

/** A compiled function of the user, with the function's resume functions. */
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

/** A problem or a remark that the user should look at. */
export interface FindingItem {
  kind: "graph-break" | "recompile" | "late-compile" | "recompile-limit" | "compile-error" | "capture-error" | "export-error" | "accuracy" | "skipped-frame" | "nothing-compiled" | "rank-difference" | "cudagraph-skip" | "perf-hint" | "cache-miss" | "cache-bypass" | "unused-ignore" | "target-error";
  kindName: string;
  code: string;
  severity: "error" | "warning" | "information";
  message: string;
  count: number;
  explanation: string;
  minify?: MinifyOptions;
  location?: Location;
}

/** A document that the client may request, and the report that contains it. */
export interface KernelItem {
  uri: string;
  name: string;
  graph: string;
  operators: string;
  locations: Location[];
}

/** A document that the client may request, and the report that contains it. */
export interface ArtifactItem {
  uri: string;
  name: string;
  file: string;
  compileId: string;
  phase: string;
  locations: Location[];
  previous?: string;
}

/** The run of one rank: its end, its counts, whether it differs from most ranks. */
export interface RankItem {
  rank: number;
  compilations: number;
  graphs: number;
  breaks: number;
  recompiles: number;
  seconds: number;
  differs: boolean;
  group: number;
}

/** A dry run: the program ran without data. */
export interface DryItem {
  label: string;
  sentence: string;
  unknown: string[];
}

/** The report of one run of a target. */
export interface ReportItem {
  target: string;
  generation: number;
  torch: string;
  seconds: number;
  frames: FrameItem[];
  findings: FindingItem[];
  kernels: KernelItem[];
  artifacts: ArtifactItem[];
  ranks: RankItem[];
  rankGroups: string[];
  dry?: DryItem;
  ignored?: number;
  leftOut?: string;
  files?: string;
}

/** The report of one run of a target. */
export interface LayerItem {
  layer: string;
  label: string;
  stale: boolean;
  report: ReportItem;
  state?: "finished" | "raised" | "exited" | "crashed" | "timeout" | "memory" | "cancelled" | "not-started";
  verdict?: string;
}

/** A guard of a compiled function, and the origin of the guarded value. */
export interface GuardItem {
  name: string;
  kind: string;
  expected: string;
  failures: number;
  ambient: boolean;
  origin: string;
  location?: Location;
  originLocation?: Location;
  code: string;
}

/** A step of the compiler, nested in ``depth`` other steps. */
export interface PhaseItem {
  name: string;
  start: number;
  seconds: number;
  compileId: string;
  depth: number;
  part: "dynamo" | "aot" | "inductor" | "build";
}

/** One compilation of a frame. */
export interface CompilationItem {
  compileId: string;
  function: string;
  location: Location;
  start: number;
  seconds: number;
  reason: string;
}

/** A kernel or library function with its launches in one piece of code. */
export interface KernelRow {
  uri: string;
  name: string;
  language: string;
  compileId: string;
  phase: "forward" | "backward" | "inference";
  operators: string;
  locations: Location[];
  launches: number;
  arguments: string;
  grid: string;
  read?: number;
  written?: number;
  flops?: number;
  seconds?: number;
  config?: string;
  registers?: number;
  spills?: number;
  shared?: number;
  problem?: string;
}

/** An operation of a lowered graph, and the index of the launch that computes it. */
export interface OperationItem {
  name: string;
  operator: string;
  inputs: string[];
  kernel?: number;
  location?: Location;
}

/** The lowered graph of one piece of code. */
export interface PictureItem {
  name: string;
  operations: OperationItem[];
  kernels: string[];
  documents: string[];
}

/** The time that a fresh process takes for the program. */
export interface TimesItem {
  cache: "cold" | "warm";
  seconds: number;
  compiling: number;
}

/** A part of the time of a compiled call, in seconds and as a share of the call. */
export interface SpeedPartItem {
  kind: "recompile" | "guards" | "between" | "entry" | "launch" | "kernel" | "copy" | "autograd" | "release";
  label: string;
  seconds: number;
}

/** A cause of a call's time: it takes ``seconds``, and can save ``gain`` seconds. */
export interface SpeedCauseItem {
  message: string;
  hint: string;
  gain: number;
  location?: Location;
}

/** The measured speed of compiled calls, with the parts and causes of the time. */
export interface SpeedItem {
  verdict: string;
  compiled: number;
  eager: number;
  low: number;
  high: number;
  samples: number;
  parts: SpeedPartItem[];
  causes: SpeedCauseItem[];
  notes: string[];
}

/** The numbers of hits, misses and bypasses in one cache. */
export interface CacheCountItem {
  name: string;
  hits: number;
  misses: number;
  bypasses: number;
}

/** Graphs that were not found in a cache, and the known reasons. */
export interface CacheUseItem {
  label: string;
  sentences: string;
  location: Location;
  source?: Location;
}

/** The lookups of a run in the compiler's caches, in order. */
export interface CachesItem {
  warm: boolean;
  counts: CacheCountItem[];
  uses: CacheUseItem[];
  notes: string[];
}

/** The report of one run of a target. */
export interface PerformanceItem {
  target: string;
  label: string;
  generation: number;
  torch: string;
  seconds: number;
  complete: boolean;
  phases: PhaseItem[];
  compilations: CompilationItem[];
  kernels: KernelRow[];
  pictures: PictureItem[];
  times: TimesItem[];
  findings: FindingItem[];
  dry?: DryItem;
  layer?: string;
  speed?: SpeedItem;
  caches?: CachesItem;
}

/** A note on a finding, such as its reason. */
export interface NoteItem {
  label: string;
  text: string;
}

/** Source lines from row ``start``, with a finding in rows ``first`` to ``last``. */
export interface ExcerptItem {
  start: number;
  lines: string[];
  first: number;
  last: number;
}

/** A problem or a remark that the user should look at. */
export interface ToldFindingItem {
  finding: FindingItem;
  place: string;
  notes: NoteItem[];
  excerpt?: ExcerptItem;
}

/** The report of one run of a target. */
export interface TraceItem {
  report: ReportItem;
  findings: ToldFindingItem[];
  texts: Record<string, string>;
  rank?: number;
}

/** The kinds of findings, in the order in which summaries name them. */
export const KINDS: Readonly<Record<FindingItem["kind"], { one: string; many: string; summary: "" | "itself" | "eager" | "failure" | "problem"; sumsCompilations: boolean }>> = {
  "graph-break": {"one": "graph break", "many": "graph breaks", "summary": "itself", "sumsCompilations": false},
  "recompile": {"one": "recompilation", "many": "recompilations", "summary": "itself", "sumsCompilations": true},
  "late-compile": {"one": "late compilation", "many": "late compilations", "summary": "itself", "sumsCompilations": true},
  "recompile-limit": {"one": "recompile limit hit", "many": "recompile limits hit", "summary": "eager", "sumsCompilations": false},
  "compile-error": {"one": "compile error", "many": "compile errors", "summary": "failure", "sumsCompilations": false},
  "capture-error": {"one": "capture error", "many": "capture errors", "summary": "failure", "sumsCompilations": false},
  "export-error": {"one": "export problem", "many": "export problems", "summary": "problem", "sumsCompilations": false},
  "accuracy": {"one": "wrong result", "many": "wrong results", "summary": "failure", "sumsCompilations": false},
  "skipped-frame": {"one": "skipped frame", "many": "skipped frames", "summary": "eager", "sumsCompilations": false},
  "nothing-compiled": {"one": "function without a graph", "many": "functions without a graph", "summary": "", "sumsCompilations": false},
  "rank-difference": {"one": "difference between ranks", "many": "differences between ranks", "summary": "itself", "sumsCompilations": false},
  "cudagraph-skip": {"one": "skipped CUDA graph", "many": "skipped CUDA graphs", "summary": "", "sumsCompilations": false},
  "perf-hint": {"one": "performance hint", "many": "performance hints", "summary": "", "sumsCompilations": false},
  "cache-miss": {"one": "cache miss", "many": "cache misses", "summary": "", "sumsCompilations": false},
  "cache-bypass": {"one": "cache bypass", "many": "cache bypasses", "summary": "", "sumsCompilations": false},
  "unused-ignore": {"one": "unused ignore comment", "many": "unused ignore comments", "summary": "", "sumsCompilations": false},
  "target-error": {"one": "problem", "many": "problems", "summary": "problem", "sumsCompilations": false},
};

/** How a run ended, of a program. */
export const ENDINGS: Readonly<Record<string, string>> = {"raised": "raised an exception", "crashed": "crashed", "timeout": "stopped at its time limit", "memory": "used too much memory", "cancelled": "stopped", "not-started": "could not start"};

/** An analysis: the command of the server, and that of the client. */
export interface Analysis {
  id: string;
  command: string;
  client: string;
  title: string;
  question: string;
  group: string;
  opens: string;
}

/** The analyses of fullgraph_server/analyses, in the order of "Analyze…". */
export const ANALYSES: readonly Analysis[] = [
  {"id": "dry-run", "command": "fullgraph.run", "client": "fullgraph.dryRun", "title": "Dry Run", "question": "The ordinary run with tensors that have no data: for models of any size", "group": "graph breaks, guards, recompilations", "opens": ""},
  {"id": "speed", "command": "fullgraph.speed", "client": "fullgraph.measureSpeed", "title": "Why Is It Not Faster?", "question": "Compiled calls compared with uncompiled ones, what takes their time, and why", "group": "speed", "opens": "report"},
  {"id": "kernels", "command": "fullgraph.kernels", "client": "fullgraph.openKernels", "title": "Open Generated Kernels", "question": "The Triton or C++ that TorchInductor writes, next to your lines", "group": "generated code", "opens": ""},
  {"id": "preview", "command": "fullgraph.kernels", "client": "fullgraph.previewKernels", "title": "Preview Kernels for…", "question": "The Triton kernels for a GPU that this machine need not have", "group": "generated code", "opens": ""},
  {"id": "build", "command": "fullgraph.assembly", "client": "fullgraph.openAssembly", "title": "Open Compiled Kernels (Assembly)", "question": "The PTX, SASS, LLVM IR or assembly of the built kernels", "group": "generated code", "opens": ""},
  {"id": "recompiles", "command": "fullgraph.recompiles", "client": "fullgraph.profileRecompilations", "title": "Profile Recompilations", "question": "Each recompilation, what changed before it, and what it cost", "group": "recompilations and compile time", "opens": "profile"},
  {"id": "late-compile", "command": "fullgraph.frozen", "client": "fullgraph.findLateCompilations", "title": "Find Compilations After the Warm-up", "question": "Calls that compile when everything should be compiled already", "group": "recompilations and compile time", "opens": ""},
  {"id": "times", "command": "fullgraph.compileTimes", "client": "fullgraph.measureCompileTimes", "title": "Why Is Compilation Slow?", "question": "Cold and warm compiler caches compared, part by part of the compiler", "group": "recompilations and compile time", "opens": "report"},
  {"id": "stages", "command": "fullgraph.stages", "client": "fullgraph.findStage", "title": "Which Stage Is at Fault?", "question": "Eager, Dynamo, AOTAutograd, TorchInductor: the first that fails or differs", "group": "failures and wrong results", "opens": ""},
  {"id": "minify", "command": "fullgraph.minify", "client": "fullgraph.minifyFailure", "title": "Minify This Failure", "question": "A short program that fails in the same way", "group": "failures and wrong results", "opens": ""},
  {"id": "recipes", "command": "fullgraph.recipes", "client": "fullgraph.tryRecipes", "title": "Try Workarounds for a Crash", "question": "Turn off one part of the compiler at a time, also when memory runs out", "group": "failures and wrong results", "opens": ""},
];
