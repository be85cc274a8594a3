import type {
  ArtifactItem,
  FindingItem,
  FrameItem,
  GraphItem,
  GuardItem,
  LayerItem,
  RankItem,
  ReportItem,
  TargetItem,
} from "../protocol";

/** An element of the targets view. Targets are kept over time; the nodes below come from a report. */
export type Node =
  | FolderNode
  | TargetNode
  | LayerNode
  | RanksNode
  | RankGroupNode
  | RankNode
  | FrameNode
  | GroupNode
  | GraphNode
  | PhaseNode
  | ArtifactNode
  | FindingNode
  | GuardNode
  | AmbientNode;

export interface FolderNode {
  kind: "folder";
  id: string;
  uri: string;
  targets: TargetNode[];
}

export interface TargetNode {
  kind: "target";
  id: string;
  item: TargetItem;
  /** The report of the target's last run, once it was requested. */
  report: ReportItem | undefined;
  /** The reports of analyses, in addition to that report. */
  layers?: readonly LayerItem[];
  parent: FolderNode | undefined;
}

/** A layer of a target, such as a preview or a profile. */
export interface LayerNode {
  kind: "layer";
  id: string;
  layer: LayerItem;
}

/** The ranks of a job with several ranks. */
export interface RanksNode {
  kind: "ranks";
  id: string;
  of: TargetNode;
  ranks: readonly RankItem[];
  /** The label of each group, by its number. */
  groups: readonly string[];
}

/** Several ranks that compiled the same. */
export interface RankGroupNode {
  kind: "rankGroup";
  id: string;
  label: string;
  ranks: RankNode[];
}

export interface RankNode {
  kind: "rank";
  id: string;
  of: TargetNode;
  rank: RankItem;
}

export interface FrameNode {
  kind: "frame";
  id: string;
  report: ReportItem;
  index: number;
  frame: FrameItem;
}

export interface FindingNode {
  kind: "finding";
  id: string;
  /** The target whose report has the finding. */
  target: string;
  finding: FindingItem;
  /** The file of the function below which the finding is listed. */
  file?: string;
}

/** Whether a finding is shown; `undefined` if all are. */
export type Shows = ((finding: FindingItem) => boolean) | undefined;

export interface GuardNode {
  kind: "guard";
  id: string;
  guard: GuardItem;
  count: number;
}

/** A function's guards on the state of the process. */
export interface AmbientNode {
  kind: "ambient";
  id: string;
  guards: GuardNode[];
}

export interface GraphNode {
  kind: "graph";
  id: string;
  graph: GraphItem;
  /** The documents of the graph. */
  artifacts: ArtifactItem[];
}

/** The documents of a graph's forward or backward pass. */
export interface PhaseNode {
  kind: "phase";
  id: string;
  phase: string;
  artifacts: ArtifactItem[];
}

export interface ArtifactNode {
  kind: "artifact";
  id: string;
  artifact: ArtifactItem;
}

/** The graphs of a function, or its guards, which are requested when the group is opened. */
export interface GroupNode {
  kind: "graphs" | "guards";
  id: string;
  of: FrameNode;
}

/**
 * The roots of the tree: the targets, below their folders if there are several. Existing nodes of targets are
 * reused, so that the view keeps what is expanded and selected.
 */
export function rootsOf(
  items: readonly TargetItem[],
  folders: readonly string[],
  before: ReadonlyMap<string, TargetNode>,
): (FolderNode | TargetNode)[] {
  const targets = items.map((item) => targetNode(item, before.get(item.id)));
  if (folders.length < 2) {
    return targets;
  }
  const outside = items.map((item) => item.folder).filter((folder) => !folders.includes(folder));
  return [...folders, ...new Set(outside)]
    .map((uri) => folderNode(uri, targets))
    .filter((folder) => folder.targets.length > 0);
}

/** The nodes of a target: findings outside of any function, the ranks, the functions, then the layers. */
export function childrenOfTarget(of: TargetNode, shows?: Shows): Node[] {
  const { id, report, layers = [] } = of;
  if (report === undefined) {
    return [];
  }
  return [
    ...outsideNodes(id, report, shows),
    ...(report.ranks.length > 1
      ? [
          {
            kind: "ranks" as const,
            id: `${id}/ranks`,
            of,
            ranks: report.ranks,
            groups: report.rankGroups,
          },
        ]
      : []),
    ...frameNodes(id, report, shows),
    ...layers.map((layer): LayerNode => ({ kind: "layer", id: `${id}/${layer.layer}`, layer })),
  ];
}

/** The nodes of a layer's report: findings outside of any function, then the functions. */
export function childrenOfLayer({ id, layer: { report } }: LayerNode, shows?: Shows): Node[] {
  return [...outsideNodes(id, report, shows), ...frameNodes(id, report, shows)];
}

/** The groups of ranks, and ranks without a group; those that differ from most ranks come first. */
export function rankNodes({ id, of, ranks, groups }: RanksNode): (RankGroupNode | RankNode)[] {
  const nodes = ranks.map((rank): RankNode => ({
    kind: "rank",
    id: `${id}/${rank.rank}`,
    of,
    rank,
  }));
  if (groups.length === 1) {
    return nodes;
  }
  return groups
    .flatMap((label, number): (RankGroupNode | RankNode)[] => {
      const alike = nodes.filter(({ rank }) => rank.group === number);
      const group = `${id}/group${number}`;
      return alike.length > 1 ? [{ kind: "rankGroup", id: group, label, ranks: alike }] : alike;
    })
    .toSorted((one, other) => Number(differs(other)) - Number(differs(one)));
}

/** Whether ranks differ from most ranks. */
export function differs(node: RankGroupNode | RankNode): boolean {
  return node.kind === "rank" ? node.rank.differs : node.ranks.some(({ rank }) => rank.differs);
}

/** A function's findings, the worst first, then its graphs and guards. */
export function childrenOfFrame(of: FrameNode, shows?: Shows): Node[] {
  const { id, report, frame } = of;
  const groups: GroupNode[] = [];
  if (frame.graphs.length > 0) {
    groups.push({ kind: "graphs", id: `${id}/graphs`, of });
  }
  if (frame.guards > 0) {
    groups.push({ kind: "guards", id: `${id}/guards`, of });
  }
  return [...findingNodes(id, report, frame.findings, shows, frame.location.uri), ...groups];
}

export function graphNodes({ id, of }: GroupNode): Node[] {
  return of.frame.graphs.map((graph, index) => ({
    kind: "graph",
    id: `${id}/${index}`,
    graph,
    artifacts: of.report.artifacts.filter(({ compileId }) => compileId === graph.compileId),
  }));
}

/** The phase of trace records that are not forms of a graph. */
const RECORDS = "records";

/**
 * The documents of a graph, by phase if there are several phases. Documents of all phases come first, and other
 * records of a trace last.
 */
export function childrenOfGraph({ id, artifacts }: GraphNode): Node[] {
  const of = (...wanted: string[]) => artifacts.filter(({ phase }) => wanted.includes(phase));
  const all = [...new Set(artifacts.map(({ phase }) => phase))].filter((phase) => phase !== "");
  const phases = all.filter((phase) => phase !== RECORDS);
  const isOne = phases.length < 2;
  return [
    ...artifactNodes(id, isOne ? of("", ...phases) : of("")),
    ...(isOne ? all.filter((phase) => phase === RECORDS) : all).map((phase): PhaseNode => ({
      kind: "phase",
      id: `${id}/${phase}`,
      phase,
      artifacts: of(phase),
    })),
  ];
}

export function artifactNodes(parent: string, artifacts: readonly ArtifactItem[]): ArtifactNode[] {
  return artifacts.map((artifact) => ({
    kind: "artifact",
    id: `${parent}/${artifact.file}`,
    artifact,
  }));
}

/**
 * Guards in the order of the server, with guards on the process's state in a separate node. Equal guards, such
 * as one for each dimension, are shown once.
 */
export function guardNodes({ id }: GroupNode, guards: readonly GuardItem[]): Node[] {
  const groups = new Map<string, GuardNode>();
  for (const guard of guards) {
    const key = JSON.stringify([guard.name, guard.kind, guard.expected, guard.failures > 0]);
    const same = groups.get(key);
    if (same) {
      same.count += 1;
    } else {
      groups.set(key, { kind: "guard", id: `${id}/${groups.size}`, guard, count: 1 });
    }
  }
  const nodes = [...groups.values()];
  const ambient = nodes.filter(({ guard }) => guard.ambient);
  const others: Node[] = nodes.filter(({ guard }) => !guard.ambient);
  return ambient.length === 0
    ? others
    : [{ kind: "ambient", id: `${id}/ambient`, guards: ambient }, ...others];
}

function outsideNodes(parent: string, report: ReportItem, shows: Shows): Node[] {
  const inFrames = new Set(report.frames.flatMap((frame) => frame.findings));
  const outside = report.findings.map((_, index) => index).filter((index) => !inFrames.has(index));
  return findingNodes(parent, report, outside, shows);
}

/** The functions; with a filter, only functions that have a shown finding. */
function frameNodes(parent: string, report: ReportItem, shows: Shows): FrameNode[] {
  return report.frames
    .map((frame, index): FrameNode => ({
      kind: "frame",
      id: `${parent}/${index}`,
      report,
      index,
      frame,
    }))
    .filter(
      ({ id, frame }) => !shows || findingNodes(id, report, frame.findings, shows).length > 0,
    );
}

function findingNodes(
  parent: string,
  report: ReportItem,
  indices: readonly number[],
  shows: Shows,
  file?: string,
): FindingNode[] {
  const severities = ["error", "warning", "information"];
  return indices
    .flatMap((index): FindingNode[] => {
      const finding = report.findings[index];
      const id = `${parent}/finding/${index}`;
      return finding && (!shows || shows(finding))
        ? [{ kind: "finding", id, target: report.target, finding, ...(file && { file }) }]
        : [];
    })
    .toSorted(
      (one, other) =>
        severities.indexOf(one.finding.severity) - severities.indexOf(other.finding.severity),
    );
}

function targetNode(item: TargetItem, before: TargetNode | undefined): TargetNode {
  if (before === undefined) {
    return { kind: "target", id: `target/${item.id}`, item, report: undefined, parent: undefined };
  }
  before.item = item;
  before.parent = undefined;
  return before;
}

function folderNode(uri: string, targets: readonly TargetNode[]): FolderNode {
  const own = targets.filter((target) => target.item.folder === uri);
  const folder: FolderNode = { kind: "folder", id: `folder/${uri}`, uri, targets: own };
  own.forEach((target) => (target.parent = folder));
  return folder;
}
