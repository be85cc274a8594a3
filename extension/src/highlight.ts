import {
  commands,
  Disposable,
  type Location,
  type LocationLink,
  OverviewRulerLane,
  Range,
  type TextEditor,
  ThemeColor,
  window,
} from "vscode";
import { KERNEL_SCHEME } from "./protocol";

/**
 * Marks what belongs together: the lines that a kernel computes, while the cursor is in the kernel, and the
 * kernels of a line, while it is in that.
 */
export class Highlight extends Disposable {
  private readonly marked = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("editor.rangeHighlightBackground"),
    borderColor: new ThemeColor("editorLineNumber.activeForeground"),
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
    overviewRulerColor: new ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
    overviewRulerLane: OverviewRulerLane.Full,
  });
  private asked = 0;
  private readonly parts = [
    this.marked,
    window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
    window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
    window.onDidChangeVisibleTextEditors(() => this.follow(window.activeTextEditor)),
  ];

  constructor() {
    super(() => {
      this.parts.forEach((part) => {
        part.dispose();
      });
    });
  }

  private async follow(editor: TextEditor | undefined): Promise<void> {
    const others = window.visibleTextEditors.filter(
      (other) => editor && other !== editor && isKernel(other) !== isKernel(editor),
    );
    const asked = ++this.asked;
    const places = editor && others.length > 0 ? await counterparts(editor) : [];
    if (asked !== this.asked) {
      return; // the cursor has moved on
    }
    for (const other of window.visibleTextEditors) {
      const uri = other.document.uri.toString();
      const own = others.includes(other) ? places.filter((place) => place.uri === uri) : [];
      const ranges = own.map(({ range }) => range);
      other.setDecorations(this.marked, ranges);
      if (
        ranges[0] &&
        !other.visibleRanges.some((visible) => visible.intersection(ranges[0] ?? visible))
      ) {
        other.revealRange(ranges[0]);
      }
    }
  }
}

interface Place {
  uri: string;
  range: Range;
}

/** The user's lines behind the place of the cursor in a kernel, or the kernels of the cursor's line. */
async function counterparts(editor: TextEditor): Promise<Place[]> {
  const found = await commands.executeCommand<(Location | LocationLink)[] | undefined>(
    isKernel(editor) ? "vscode.executeDefinitionProvider" : "vscode.executeImplementationProvider",
    editor.document.uri,
    editor.selection.active,
  );
  return (found ?? [])
    .map((place) =>
      "targetUri" in place
        ? { uri: place.targetUri.toString(), range: place.targetRange }
        : { uri: place.uri.toString(), range: place.range },
    )
    .filter(({ uri }) => isKernel(editor) || uri.startsWith(`${KERNEL_SCHEME}:`));
}

function isKernel(editor: TextEditor): boolean {
  return editor.document.uri.scheme === KERNEL_SCHEME;
}
