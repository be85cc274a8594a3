import type {
  ArtifactItem,
  FindingItem,
  FrameItem,
  LayerItem,
  RankItem,
  ReportItem,
  TargetItem,
} from "../protocol";

const start = { line: 2, character: 4 };
const location = {
  uri: "file:///project/toy.py",
  range: { start, end: { line: 2, character: 9 } },
};

export function target(changes: Partial<TargetItem> = {}): TargetItem {
  return {
    id: "/project/toy.py",
    label: "toy.py",
    kind: "script",
    uri: "file:///project/toy.py",
    folder: "file:///project",
    configured: false,
    stale: false,
    runOnSave: true,
    ...changes,
  };
}

export function finding(changes: Partial<FindingItem> = {}): FindingItem {
  return {
    kind: "graph-break",
    kindName: "graph breaks",
    code: "GB0059",
    severity: "warning",
    message: "`print` breaks the graph",
    location,
    count: 1,
    explanation: "fullgraph-explanation:/GB0059.md",
    ...changes,
  };
}

export function frame(changes: Partial<FrameItem> = {}): FrameItem {
  return {
    function: "toy",
    location,
    graphs: [],
    ops: 0,
    breaks: 0,
    guards: 0,
    recompiles: 0,
    seconds: 0.24,
    findings: [],
    ...changes,
  };
}

export function report(changes: Partial<ReportItem> = {}): ReportItem {
  return {
    target: "/project/toy.py",
    generation: 1,
    torch: "2.13.0",
    seconds: 0.42,
    frames: [],
    findings: [],
    kernels: [],
    artifacts: [],
    ranks: [],
    rankGroups: [],
    ...changes,
  };
}

export function layer(changes: Partial<LayerItem> = {}): LayerItem {
  const dry = { label: "preview for h100", sentence: "", unknown: [] };
  return {
    layer: "preview",
    label: "Preview for h100",
    stale: false,
    state: "finished",
    report: report({ generation: 2, dry }),
    ...changes,
  };
}

export function rank(changes: Partial<RankItem> = {}): RankItem {
  return {
    rank: 0,
    compilations: 2,
    graphs: 2,
    breaks: 0,
    recompiles: 0,
    seconds: 0.2,
    differs: false,
    group: 0,
    ...changes,
  };
}

export function artifact(changes: Partial<ArtifactItem> = {}): ArtifactItem {
  return {
    uri: "fullgraph-kernel:///1/0_0_forward/output_code.py",
    name: "Output code",
    file: "0_0_forward/output_code.py",
    compileId: "0/0",
    phase: "forward",
    locations: [],
    ...changes,
  };
}
