import {
  commands,
  type Disposable,
  EventEmitter,
  type Memento,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
  window,
  workspace,
} from "vscode";
import { FindingFilter } from "./filter";
import { treeItem } from "./items";
import {
  artifactNodes,
  childrenOfFrame,
  childrenOfGraph,
  childrenOfLayer,
  childrenOfTarget,
  type FolderNode,
  graphNodes,
  type GroupNode,
  guardNodes,
  type Node,
  rankNodes,
  rootsOf,
  type TargetNode,
} from "./nodes";
import {
  type GuardItem,
  GUARDS,
  type LayerItem,
  LAYERS,
  REPORT,
  type ReportItem,
  type StatusParams,
  type TargetItem,
  TARGETS,
} from "../protocol";
import type { Server } from "../server/server";
import { isOn } from "../shared/words";

const VIEW = "fullgraph.targets";
const QUIET = 500;

/** The view of targets and the reports of their last runs. Both are requested only when they are shown. */
export class Targets implements TreeDataProvider<Node>, Disposable {
  private readonly changed = new EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  private readonly view: TreeView<Node>;
  private readonly filter: FindingFilter;
  private readonly disposables: { dispose(): unknown }[];
  private roots: (FolderNode | TargetNode)[] = [];
  private readonly nodes = new Map<string, TargetNode>();
  /** The newest request for the list of targets; `undefined` if the current list is out of date. */
  private listing: Promise<void> | undefined;
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: Server,
    memory: Memento,
  ) {
    this.filter = new FindingFilter(memory);
    this.view = window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.view.message = this.filter.message;
    // Targets come from the text of files, and from the configuration.
    const files = workspace.createFileSystemWatcher("**/{*.py,pyproject.toml,launch.json}");
    const later = () => {
      this.refreshSoon();
    };
    this.disposables = [
      this.changed,
      this.view,
      files,
      files.onDidCreate(later),
      files.onDidChange(later),
      files.onDidDelete(later),
      workspace.onDidChangeWorkspaceFolders(later),
    ];
  }

  /**
   * Request the targets again. VS Code drops its items at the change event, and an open menu passes no item
   * until they are listed again: so the list is requested before the event.
   */
  async refresh(): Promise<void> {
    clearTimeout(this.timer); // A refresh would interrupt a reveal.
    if (this.listing === undefined || !this.view.visible) {
      this.forget(); // VS Code does not request the children of a hidden view.
      return;
    }
    const listing = this.fetchTargets();
    this.listing = listing;
    await listing;
    if (this.listing === listing) {
      this.changed.fire(undefined);
    }
  }

  /** Forget everything, since the server was restarted or has ended. */
  reset(): void {
    clearTimeout(this.timer);
    this.nodes.clear();
    this.forget();
  }

  private forget(): void {
    this.listing = undefined;
    this.changed.fire(undefined);
  }

  /** Let the user choose which kinds of findings the view shows. */
  async chooseFilter(): Promise<void> {
    const all = [...this.nodes.values()].flatMap(({ report, layers = [] }) => [
      ...(report?.findings ?? []),
      ...layers.flatMap((layer) => layer.report.findings),
    ]);
    await this.filter.choose(all);
    this.view.message = this.filter.message;
    this.changed.fire(undefined);
  }

  /** Handle a new state of a target. */
  async status({ target, state, stale, runOnSave }: StatusParams): Promise<void> {
    const node = this.nodes.get(target);
    if (node === undefined) {
      this.refreshSoon();
      return;
    }
    if (state === undefined && node.item.kind === "trace") {
      await this.refresh(); // The target was closed.
      return;
    }
    const item = { ...node.item, stale, runOnSave };
    if (state === undefined) {
      delete item.state;
    } else {
      item.state = state;
    }
    node.item = item;
    const isFirst = node.report === undefined;
    if (state === undefined) {
      node.report = undefined;
      delete node.layers;
    } else if (!isOn(state)) {
      await this.fetchReport(node);
    }
    this.changed.fire(node);
    if (isFirst && node.report && this.view.visible && !isClosed(node)) {
      // VS Code leaves an item collapsed that had no children before.
      await this.select(node, { select: false, focus: false, expand: true });
    }
  }

  /** Show a target in the view, with the report of its last run. */
  async reveal(target: string): Promise<void> {
    if (!this.nodes.has(target)) {
      await this.refresh();
    }
    await commands.executeCommand(`${VIEW}.focus`);
    await this.list();
    const node = this.nodes.get(target);
    if (node) {
      await this.select(node, { select: true, focus: true, expand: !isClosed(node) });
    }
  }

  private async select(node: Node, how: Parameters<TreeView<Node>["reveal"]>[1]): Promise<void> {
    try {
      await this.view.reveal(node, how);
    } catch {
      // VS Code rejects a reveal while the tree is being refreshed: the item is shown, but not selected.
    }
  }

  /** The targets, with the reports of their last runs. */
  async listed(): Promise<TargetNode[]> {
    await this.list();
    return [...this.nodes.values()];
  }

  getTreeItem(node: Node): TreeItem {
    return treeItem(node, this.filter.shows);
  }

  getParent(node: Node): Node | undefined {
    return node.kind === "target" ? node.parent : undefined;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    switch (node?.kind) {
      case undefined:
        await this.list();
        return this.roots;
      case "folder":
        return node.targets;
      case "target":
        return childrenOfTarget(node, this.filter.shows);
      case "layer":
        return childrenOfLayer(node, this.filter.shows);
      case "ranks":
        return rankNodes(node);
      case "rankGroup":
        return node.ranks;
      case "frame":
        return childrenOfFrame(node, this.filter.shows);
      case "graphs":
        return graphNodes(node);
      case "guards":
        return this.guards(node);
      case "graph":
        return childrenOfGraph(node);
      case "phase":
        return artifactNodes(node.id, node.artifacts);
      case "ambient":
        return node.guards;
      case "rank":
      case "artifact":
      case "finding":
      case "guard":
        return [];
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.disposables.forEach((disposable) => disposable.dispose());
  }

  /** Refresh after a pause, since files are often written many at a time. */
  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), QUIET);
  }

  /** Wait for the list of targets. VS Code shows progress until then. */
  private list(): Promise<void> {
    this.listing ??= this.fetchTargets();
    return this.listing;
  }

  private async fetchTargets(): Promise<void> {
    const turn = ++this.asked;
    const items = (await this.server.request<TargetItem[]>(TARGETS, {})) ?? [];
    if (turn !== this.asked) {
      return; // A newer list is on its way.
    }
    const folders = workspace.workspaceFolders?.map((folder) => folder.uri.toString()) ?? [];
    this.roots = rootsOf(items, folders, this.nodes);
    const targets = this.roots.flatMap((root) => (root.kind === "folder" ? root.targets : [root]));
    this.nodes.clear();
    targets.forEach((node) => this.nodes.set(node.item.id, node));
    const withoutReport = targets.filter((node) => node.item.state !== undefined && !node.report);
    await Promise.all(withoutReport.map((node) => this.fetchReport(node)));
  }

  private async fetchReport(node: TargetNode): Promise<void> {
    const of = { target: node.item.id };
    const [report, layers] = await Promise.all([
      this.server.request<ReportItem>(REPORT, of),
      this.server.request<LayerItem[]>(LAYERS, of),
    ]);
    node.report = report;
    node.layers = layers ?? [];
  }

  private async guards(node: GroupNode): Promise<Node[]> {
    const { report, index } = node.of;
    const { target, generation } = report;
    const question = { target, generation, frame: index };
    return guardNodes(node, (await this.server.request<GuardItem[]>(GUARDS, question)) ?? []);
  }
}

/** Whether only the user expands a target. */
function isClosed({ item }: TargetNode): boolean {
  return item.kind === "trace";
}
