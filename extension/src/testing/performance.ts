import type {
  CompilationItem,
  KernelRow,
  OperationItem,
  PerformanceItem,
  PhaseItem,
  SpeedItem,
} from "../protocol";

/** A line of the program that was compiled. */
export function line(number: number) {
  const start = { line: number - 1, character: 4 };
  const end = { line: number - 1, character: 24 };
  return { uri: "file:///project/model.py", range: { start, end } };
}

export function phase(
  name: string,
  start: number,
  seconds: number,
  depth: number,
  part: PhaseItem["part"] = "dynamo",
): PhaseItem {
  return { name, start, seconds, compileId: "0/0", depth, part };
}

export function compilation(changes: Partial<CompilationItem> = {}): CompilationItem {
  return {
    compileId: "0/0",
    function: "step",
    location: line(5),
    start: 0,
    seconds: 1,
    reason: "",
    ...changes,
  };
}

export function kernel(changes: Partial<KernelRow> = {}): KernelRow {
  return {
    uri: "fullgraph-kernel:/model/0_0_forward/cpp_fused_relu_0.cpp",
    name: "cpp_fused_relu_0",
    language: "cpp",
    compileId: "0/0",
    phase: "forward",
    operators: "relu",
    locations: [line(7)],
    launches: 1,
    arguments: "buf0",
    grid: "",
    ...changes,
  };
}

export function operation(changes: Partial<OperationItem> = {}): OperationItem {
  return { name: "relu", operator: "aten.relu", inputs: ["mm"], ...changes };
}

/** Calls that take 10 ms, most of it behind a graph break. */
export function speedItem(changes: Partial<SpeedItem> = {}): SpeedItem {
  return {
    verdict: "1.20 × faster than uncompiled.",
    ...{ compiled: 0.01, eager: 0.012, low: 1.15, high: 1.25, samples: 20 },
    parts: [
      { kind: "guards", label: "checking guards", seconds: 0.00005 },
      { kind: "between", label: "between graphs, uncompiled", seconds: 0.0061 },
      { kind: "kernel", label: "kernels", seconds: 0.00385 },
    ],
    causes: [],
    notes: [],
    ...changes,
  };
}

/** A small run: a function with a recompilation, and another one. */
export function performanceItem(changes: Partial<PerformanceItem> = {}): PerformanceItem {
  return {
    target: "/project/model.py",
    label: "model.py",
    generation: 1,
    torch: "2.13.0+cpu",
    seconds: 3.4,
    complete: false,
    phases: [],
    compilations: [],
    kernels: [],
    pictures: [],
    times: [],
    findings: [],
    ...changes,
  };
}
