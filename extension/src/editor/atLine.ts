import {
  commands,
  type Disposable,
  EventEmitter,
  l10n,
  type TextDocument,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
  window,
  workspace,
} from "vscode";
import { childrenOf, lineItem, type LineNode, type SectionNode } from "./atLineItems";
import { AT_LINE, type AtLineItem, type AtLineParams } from "../protocol";
import type { Server } from "../server/server";
import { fileName, shownLine } from "../shared/tree";
import { isProgram } from "../shared/uris";
import { isOn, joined } from "../shared/words";

const VIEW = "fullgraph.atLine";
const PINNED = `${VIEW}.pinned`;
const QUIET = 150;

interface LineEdit {
  range: { start: { line: number }; end: { line: number; character: number } };
  text: string;
}

interface Place {
  uri: string;
  line: number;
}

/**
 * The view of everything that is known about the cursor's line or a pinned line. It asks the server only while
 * it is visible.
 */
export class AtLine implements TreeDataProvider<LineNode>, Disposable {
  private readonly changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  private readonly view: TreeView<LineNode>;
  private readonly disposables: { dispose(): unknown }[];
  private place: Place | undefined;
  private pinned = false;
  private sections: SectionNode[] = [];
  /** Why there are no sections. */
  private nothing: string | undefined;
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    const follow = () => {
      this.follow();
    };
    const refresh = () => this.refresh();
    this.disposables = [
      this.changed,
      this.view,
      window.onDidChangeTextEditorSelection(follow),
      window.onDidChangeActiveTextEditor(follow),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        this.edited(document, contentChanges);
      }),
      this.view.onDidChangeVisibility(refresh),
      server.onDidChange(refresh),
      server.onDidChangeTarget(({ state }) => (isOn(state) ? undefined : this.refresh())),
    ];
    this.follow();
    this.describe();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.disposables.forEach((part) => part.dispose());
  }

  /** Stay at the current line, or follow the cursor again. */
  async pin(pinned: boolean): Promise<void> {
    this.pinned = pinned && this.place !== undefined;
    await commands.executeCommand("setContext", PINNED, this.pinned);
    this.follow();
    this.describe();
  }

  getTreeItem(node: LineNode): TreeItem {
    return lineItem(node);
  }

  getChildren(node?: LineNode): LineNode[] {
    return node === undefined ? this.sections : childrenOf(node);
  }

  /** Follow the cursor. In a document that is not a program, the view stays at the last line. */
  private follow(): void {
    const editor = window.activeTextEditor;
    if (this.pinned || !editor || !isProgram(editor.document)) {
      return;
    }
    const uri = editor.document.uri.toString();
    const { line } = editor.selection.active;
    if (uri !== this.place?.uri || line !== this.place.line) {
      this.place = { uri, line };
      this.refreshSoon();
    }
  }

  /** A pinned line moves with its text. */
  private edited({ uri }: TextDocument, changes: readonly LineEdit[]): void {
    if (this.place?.uri === uri.toString() && changes.length > 0) {
      if (this.pinned) {
        this.place = { ...this.place, line: changes.reduce(movedLine, this.place.line) };
      }
      this.refreshSoon();
    }
  }

  private refreshSoon(): void {
    this.asked += 1; // A pending answer is about another line or text.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      void this.refresh();
    }, QUIET);
  }

  private async refresh(): Promise<void> {
    if (!this.view.visible || !this.place) {
      return;
    }
    clearTimeout(this.timer);
    const asked = ++this.asked;
    const { uri, line } = this.place;
    const params: AtLineParams = { textDocument: { uri }, position: { line, character: 0 } };
    const item = await this.server.request<AtLineItem>(AT_LINE, params);
    if (asked === this.asked) {
      this.sections = (item?.sections ?? []).map((section) => ({ kind: "section", section }));
      this.nothing = item?.nothing;
      this.describe();
      this.changed.fire(undefined);
    }
  }

  /** Name the line in the message: VS Code hides the description of a view that is alone in its container. */
  private describe(): void {
    this.view.message = this.place
      ? joined([
          [fileName(this.place.uri), shownLine(this.place.uri, this.place.line)].join(":"),
          this.pinned ? l10n.t("pinned") : "",
          this.nothing,
        ])
      : l10n.t("Put the cursor on a line of a Python file to see what torch.compile did there.");
  }
}

/** The number of a line after an edit: the line is followed by its text. */
export function movedLine(line: number, { range: { start, end }, text }: LineEdit): number {
  if (end.line < line || (end.line === line && end.character === 0)) {
    return line + text.split("\n").length - 1 - (end.line - start.line);
  }
  return Math.min(line, start.line);
}
