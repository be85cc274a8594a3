import { Disposable, OverviewRulerLane, Range, type TextEditor, ThemeColor, window } from "vscode";
import type { Location } from "vscode-languageclient";
import { COUNTERPARTS, type CounterpartsParams, KERNEL_SCHEME } from "../protocol";
import type { Server } from "../server/server";

const MARK = {
  backgroundColor: new ThemeColor("editor.rangeHighlightBackground"),
  borderStyle: "solid",
  overviewRulerColor: new ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
  overviewRulerLane: OverviewRulerLane.Full,
};

/**
 * Marks the source code that a kernel computes while the cursor is in the kernel, and the generated code of a
 * source line while the cursor is in that line.
 */
export class Highlight extends Disposable {
  private readonly lines = window.createTextEditorDecorationType({
    ...MARK,
    isWholeLine: true,
    borderColor: new ThemeColor("editorLineNumber.activeForeground"),
    borderWidth: "0 0 0 2px",
  });
  private readonly expressions = window.createTextEditorDecorationType({
    ...MARK,
    borderColor: new ThemeColor("editor.wordHighlightBorder"),
    borderWidth: "1px",
    borderRadius: "2px",
  });
  private asked = 0;
  private readonly parts = [
    this.lines,
    this.expressions,
    window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
    window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
    window.onDidChangeVisibleTextEditors(() => this.follow(window.activeTextEditor)),
  ];

  constructor(private readonly server: Server) {
    super(() => {
      this.parts.forEach((part) => {
        part.dispose();
      });
    });
  }

  private async follow(editor: TextEditor | undefined): Promise<void> {
    const asked = ++this.asked;
    const places = editor ? await this.counterparts(editor) : [];
    if (asked !== this.asked) {
      return; // the cursor has moved on
    }
    for (const other of window.visibleTextEditors) {
      const uri = uriOf(other);
      const ranges =
        other === editor ? [] : places.filter((place) => place.uri === uri).map(rangeOf);
      other.setDecorations(
        this.lines,
        ranges.filter((range) => !isExpression(range)),
      );
      other.setDecorations(this.expressions, ranges.filter(isExpression));
      const [first] = ranges;
      if (first && !other.visibleRanges.some((visible) => visible.intersection(first))) {
        other.revealRange(first);
      }
    }
  }

  /** The places in other visible documents that belong to the cursor's. */
  private async counterparts(editor: TextEditor): Promise<Location[]> {
    const own = uriOf(editor);
    const among = window.visibleTextEditors.map(uriOf).filter((uri) => uri !== own);
    const isGenerated = (uri: string) => uri.startsWith(`${KERNEL_SCHEME}:`);
    if (among.length === 0 || ![own, ...among].some(isGenerated)) {
      return [];
    }
    const { line, character } = editor.selection.active;
    const params: CounterpartsParams = {
      textDocument: { uri: own },
      position: { line, character },
      among,
    };
    return (await this.server.request<Location[]>(COUNTERPARTS, params)) ?? [];
  }
}

function uriOf({ document }: TextEditor): string {
  return document.uri.toString();
}

function rangeOf({ range: { start, end } }: Location): Range {
  return new Range(start.line, start.character, end.line, end.character);
}

/** Whether a range is a part of a line; whole lines are sent as empty or longer ranges. */
function isExpression(range: Range): boolean {
  return range.isSingleLine && !range.isEmpty;
}
