import {
  commands,
  type Disposable,
  EventEmitter,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
  window,
  workspace,
} from "vscode";
import { treeItem } from "./items";
import {
  artifactNodes,
  childrenOfFrame,
  childrenOfGraph,
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

/** The view of targets and what their last runs told. They are asked for once the view is shown. */
export class Targets implements TreeDataProvider<Node>, Disposable {
  private readonly changed = new EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  private readonly view: TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];
  private roots: (FolderNode | TargetNode)[] = [];
  private readonly nodes = new Map<string, TargetNode>();
  /** The newest list of targets that was asked for; none if the one at hand is out of date. */
  private listing: Promise<void> | undefined;
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    // What a file holds shows in its text alone; what else may be a target, in the configuration.
    const files = workspace.createFileSystemWatcher("**/{*.py,pyproject.toml}");
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

  /** Ask for the targets anew. VS Code does not ask for the children of a hidden view. */
  refresh(): void {
    clearTimeout(this.timer); // Nothing is revealed in a tree that is refreshed meanwhile.
    this.listing = undefined;
    this.changed.fire(undefined);
  }

  /** Forget everything: the server is another, or gone. */
  reset(): void {
    this.nodes.clear();
    this.refresh();
  }

  /** Take the new state of a target. */
  async status({ target, state, stale, runOnSave }: StatusParams): Promise<void> {
    const node = this.nodes.get(target);
    if (node === undefined) {
      this.refreshSoon();
      return;
    }
    if (state === undefined && node.item.kind === "trace") {
      this.refresh(); // It was closed.
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
    } else if (!isOn(state)) {
      await this.fetchReport(node);
    }
    this.changed.fire(node);
    if (isFirst && node.report && this.view.visible) {
      // VS Code keeps an item closed that could not be opened before.
      await this.view.reveal(node, { select: false, focus: false, expand: true });
    }
  }

  /** Show a target in the view, with what its last run told. */
  async reveal(target: string): Promise<void> {
    if (!this.nodes.has(target)) {
      this.refresh();
    }
    await commands.executeCommand(`${VIEW}.focus`);
    await this.list();
    const node = this.nodes.get(target);
    if (node) {
      await this.view.reveal(node, { select: true, focus: true, expand: true });
    }
  }

  getTreeItem(node: Node): TreeItem {
    return treeItem(node);
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
        return childrenOfTarget(node);
      case "ranks":
        return rankNodes(node);
      case "frame":
        return childrenOfFrame(node);
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

  /** Files are often written many at a time: wait until that is over. */
  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.refresh();
    }, QUIET);
  }

  /** Have the list of targets. VS Code shows that it loads until this is done. */
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
    const found = this.roots.flatMap((root) => (root.kind === "folder" ? root.targets : [root]));
    this.nodes.clear();
    found.forEach((node) => this.nodes.set(node.item.id, node));
    const untold = found.filter((node) => node.item.state !== undefined && !node.report);
    await Promise.all(untold.map((node) => this.fetchReport(node)));
  }

  private async fetchReport(node: TargetNode): Promise<void> {
    node.report = await this.server.request<ReportItem>(REPORT, { target: node.item.id });
  }

  private async guards(node: GroupNode): Promise<Node[]> {
    const { report, index } = node.of;
    const { target, generation } = report;
    const question = { target, generation, frame: index };
    return guardNodes(node, (await this.server.request<GuardItem[]>(GUARDS, question)) ?? []);
  }
}
