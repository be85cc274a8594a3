import {
  l10n,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  ViewColumn,
  workspace,
} from "vscode";
import {
  type AmbientNode,
  childrenOfLayer,
  childrenOfTarget,
  differs,
  type FindingNode,
  type FolderNode,
  type FrameNode,
  type GraphNode,
  type GroupNode,
  type GuardNode,
  type LayerNode,
  type Node,
  type PhaseNode,
  type RankGroupNode,
  type RankNode,
  type RanksNode,
  type Shows,
  type TargetNode,
} from "./nodes";
import type { ArtifactItem, TargetItem } from "../protocol";
import { ERROR, lineOf, open, openLocation, place, severityIcon, WARNING } from "../shared/tree";
import {
  failed,
  frameSummary,
  grouped,
  isOn,
  joined,
  layerSummary,
  operations,
  rankSummary,
  ranksSummary,
  reportSummary,
  stateSummary,
} from "../shared/words";

const { None, Collapsed, Expanded } = TreeItemCollapsibleState;

const PASSED = new ThemeColor("testing.iconPassed");
const DIMMED = new ThemeColor("disabledForeground");

/** The item of a node in the tree, with the place that a click on it opens. */
export function treeItem(node: Node, shows?: Shows): TreeItem {
  const item = itemOf(node, shows);
  item.id = node.id;
  return item;
}

function itemOf(node: Node, shows: Shows): TreeItem {
  switch (node.kind) {
    case "folder":
      return folderItem(node);
    case "target":
      return targetItem(node, shows);
    case "layer":
      return layerItem(node, shows);
    case "ranks":
      return ranksItem(node);
    case "rankGroup":
      return rankGroupItem(node);
    case "rank":
      return rankItem(node);
    case "frame":
      return frameItem(node);
    case "graphs":
    case "guards":
      return groupItem(node);
    case "graph":
      return graphItem(node);
    case "phase":
      return phaseItem(node);
    case "artifact":
      return artifactItem(node.artifact);
    case "finding":
      return findingItem(node);
    case "guard":
      return guardItem(node);
    case "ambient":
      return ambientItem(node);
  }
}

function folderItem({ uri }: FolderNode): TreeItem {
  const folder = Uri.parse(uri);
  const name = workspace.getWorkspaceFolder(folder)?.name ?? folder.path.split("/").at(-1) ?? uri;
  const item = new TreeItem(name, Expanded);
  item.iconPath = ThemeIcon.Folder;
  item.resourceUri = folder;
  return item;
}

/** A trace stays closed until it is opened by hand: it may have hundreds of functions. */
function targetItem(node: TargetNode, shows: Shows): TreeItem {
  const { item: target, report } = node;
  const { state, stale } = target;
  const hasChildren = childrenOfTarget(node, shows).length > 0;
  const opened = target.kind === "trace" ? Collapsed : Expanded;
  const item = new TreeItem(target.label, hasChildren ? opened : None);
  const uri = Uri.parse(target.uri);
  item.iconPath = targetIcon(node);
  const over = state !== undefined && !isOn(state);
  item.description = joined([
    over && stale ? l10n.t("stale") : "",
    state && stateSummary(state),
    over && report ? reportSummary(report) : "",
  ]);
  const torch = target.kind === "trace" && report ? `torch ${report.torch}` : "";
  const leftOut = over ? report?.leftOut : undefined;
  item.tooltip = joined([workspace.asRelativePath(uri), torch, item.description, leftOut], "\n");
  if (target.kind !== "trace") {
    item.command = open(uri, target.selectionRange);
  }
  item.contextValue = targetMenu(target);
  return item;
}

/** A failed layer shows its failure here, and on no line of the program. */
function layerItem(node: LayerNode, shows: Shows): TreeItem {
  const { label, stale, state, report } = node.layer;
  const item = new TreeItem(label, childrenOfLayer(node, shows).length > 0 ? Collapsed : None);
  const failed = report.findings.some(({ severity }) => severity === "error");
  item.iconPath = new ThemeIcon("layers", stale ? DIMMED : failed ? ERROR : undefined);
  item.description = joined([
    stale ? l10n.t("stale") : "",
    state && stateSummary(state),
    layerSummary(node.layer),
  ]);
  item.tooltip = joined([label, item.description], "\n");
  item.contextValue = report.kernels.length > 0 ? "layer.kernels" : "layer";
  return item;
}

/** The context value for menus. A trace cannot be run, and some commands do not work with several ranks. */
function targetMenu({ kind, state, runOnSave, configured }: TargetItem): string {
  const now = isOn(state) ? "busy" : "idle";
  if (kind === "trace") {
    return `trace.${now}`;
  }
  return [
    "target",
    now,
    state === undefined ? "new" : state === "timeout" ? "ranOut" : "ran",
    ...(kind === "torchrun" ? ["ranks"] : []),
    `${runOnSave ? "onSave" : "byHand"}${configured ? "" : "_found"}`,
  ].join(".");
}

/** The icon for a target's state: not run, queued, running, or the outcome. Dimmed if stale. */
function targetIcon({ item: { kind, state, stale }, report }: TargetNode): ThemeIcon {
  const colour = (fresh: ThemeColor) => (stale ? DIMMED : fresh);
  switch (state) {
    case undefined:
      return new ThemeIcon("circle-outline");
    case "queued":
      return new ThemeIcon("watch");
    case "running":
      return new ThemeIcon("loading~spin");
    case "cancelled":
      return new ThemeIcon("circle-slash", DIMMED);
    case "raised":
    case "crashed":
    case "memory":
    case "not-started":
      return new ThemeIcon("error", colour(ERROR));
    case "timeout":
    case "exited":
    case "finished":
      break;
  }
  const severities = new Set(report?.findings.map((finding) => finding.severity));
  const [icon, fresh]: [string, ThemeColor] = severities.has("error")
    ? ["error", ERROR]
    : severities.has("warning")
      ? ["warning", WARNING]
      : state === "timeout"
        ? ["circle-slash", DIMMED]
        : ["pass", PASSED];
  return new ThemeIcon(kind === "trace" ? "pulse" : icon, colour(fresh));
}

function ranksItem({ ranks }: RanksNode): TreeItem {
  const item = new TreeItem(l10n.t("Ranks"), Collapsed);
  const differ = ranks.some(({ differs }) => differs);
  item.iconPath = new ThemeIcon("server-process", differ ? WARNING : undefined);
  item.description = ranksSummary(ranks);
  return item;
}

function rankGroupItem(node: RankGroupNode): TreeItem {
  const item = new TreeItem(node.label, Collapsed);
  item.iconPath = new ThemeIcon("server-process", differs(node) ? WARNING : undefined);
  item.description = grouped(node.ranks.length);
  item.tooltip = differs(node)
    ? l10n.t("These ranks differ from most.")
    : l10n.t("These ranks are alike.");
  return item;
}

/** A rank of a trace opens as a separate trace. */
function rankItem(node: RankNode): TreeItem {
  const { of, rank } = node;
  const label = l10n.t("Rank {0}", rank.rank);
  const item = new TreeItem(label);
  item.iconPath = rank.differs
    ? new ThemeIcon("warning", WARNING)
    : new ThemeIcon("server-process");
  item.description = rankSummary(rank);
  item.tooltip = joined(
    [label, item.description, rank.differs ? l10n.t("differs from most ranks") : ""],
    "\n",
  );
  if (of.item.kind === "trace") {
    item.command = { title: l10n.t("Show Rank"), command: "fullgraph.showRank", arguments: [node] };
    item.contextValue = "rank";
  }
  return item;
}

function frameItem({ frame }: FrameNode): TreeItem {
  const item = new TreeItem(frame.function, frame.findings.length > 0 ? Expanded : Collapsed);
  item.iconPath = new ThemeIcon("symbol-method");
  item.description = joined([place(frame.location), frameSummary(frame)]);
  item.tooltip = `${frame.function}\n${item.description}`;
  item.command = openLocation(frame.location);
  return item;
}

function groupItem({ kind, of: { frame } }: GroupNode): TreeItem {
  const graphs = kind === "graphs";
  const item = new TreeItem(graphs ? l10n.t("Graphs") : l10n.t("Guards"), Collapsed);
  item.iconPath = new ThemeIcon(graphs ? "type-hierarchy-sub" : "shield");
  item.description = (graphs ? frame.graphs.length : frame.guards).toLocaleString("en-US");
  return item;
}

function graphItem({ graph: { compileId, ops, location }, artifacts }: GraphNode): TreeItem {
  const item = new TreeItem(
    l10n.t("Graph {0}", compileId),
    artifacts.length > 0 ? Collapsed : None,
  );
  item.iconPath = new ThemeIcon("type-hierarchy-sub");
  item.description = joined([operations(ops), location && place(location)]);
  if (location) {
    item.command = openLocation(location);
  }
  return item;
}

function phaseItem({ phase, artifacts }: PhaseNode): TreeItem {
  const item = new TreeItem(phase, Collapsed);
  const icons: Record<string, string> = { backward: "arrow-left", records: "list-flat" };
  item.iconPath = new ThemeIcon(icons[phase] ?? "arrow-right");
  item.description = artifacts.length.toLocaleString("en-US");
  return item;
}

/** A document opens in the second column, next to its source. */
function artifactItem({ uri, name, file, locations, previous }: ArtifactItem): TreeItem {
  const item = new TreeItem(name);
  item.iconPath = ThemeIcon.File;
  item.resourceUri = Uri.parse(uri);
  item.description = joined([
    previous === undefined ? "" : l10n.t("changed"),
    [...new Set(locations.map(place))].join(", "),
  ]);
  item.tooltip = joined([file, item.description], "\n");
  item.command = {
    title: l10n.t("Open"),
    command: "vscode.open",
    arguments: [Uri.parse(uri), { viewColumn: ViewColumn.Two }],
  };
  item.contextValue = previous === undefined ? "artifact" : "artifact.changed";
  return item;
}

/** The line comes first, since the end of a message may not fit; the file only if it is a different file. */
function findingItem({ finding, file }: FindingNode): TreeItem {
  const { kind, code, severity, message, location, count, minify } = finding;
  const line = location && (location.uri === file ? lineOf : place)(location);
  const item = new TreeItem(joined([line, message], ": "));
  item.iconPath = severityIcon(severity, kind === "recompile" ? "sync" : "info");
  item.description = times(count);
  item.tooltip = joined([`${message} (${code})`, location && place(location)], "\n");
  if (location) {
    item.command = openLocation(location);
  }
  item.contextValue = minify ? "finding.minifiable" : "finding";
  return item;
}

function ambientItem({ guards }: AmbientNode): TreeItem {
  const item = new TreeItem(l10n.t("Global State"), Collapsed);
  const failures = guards.reduce((sum, { guard }) => sum + guard.failures, 0);
  item.iconPath = new ThemeIcon("globe", failures > 0 ? WARNING : undefined);
  item.description = joined([
    guards.length.toLocaleString("en-US"),
    failures > 0 ? failed(failures) : "",
  ]);
  return item;
}

function guardItem({ guard, count }: GuardNode): TreeItem {
  const { name, kind, expected, failures, origin, location, originLocation, code } = guard;
  const label = name === "" ? kind : name;
  const item = new TreeItem(label);
  item.iconPath = failures > 0 ? new ThemeIcon("shield", WARNING) : new ThemeIcon("shield");
  item.description = joined([
    failures > 0 ? failed(failures) : "",
    name === "" ? "" : kind,
    expected,
    times(count),
  ]);
  item.tooltip = joined(
    [
      label,
      item.description,
      originLocation ? l10n.t("{0}, from {1}", origin, place(originLocation)) : origin,
      location && l10n.t("first used at {0}", place(location)),
      count === 1 ? code : "",
    ],
    "\n",
  );
  if (location) {
    item.command = openLocation(location);
  }
  item.contextValue = originLocation ? "guard.origin" : "guard";
  return item;
}

function times(count: number): string {
  return count > 1 ? `×${count}` : "";
}
