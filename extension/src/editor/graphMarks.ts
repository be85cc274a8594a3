import {
  type Disposable,
  MarkdownString,
  OverviewRulerLane,
  type TextDocument,
  type TextEditor,
  type TextEditorDecorationType,
  Uri,
  window,
  workspace,
} from "vscode";
import { GRAPH_LINES, type GraphLinesItem, type GraphLinesParams } from "../protocol";
import type { Server } from "../server/server";
import { showsGraphMarks } from "../server/settings";
import { isProgram } from "../shared/uris";
import { isOn } from "../shared/words";

/** After Okabe and Ito: suitable for colour blindness. Each is visible on light and on dark backgrounds. */
const COLOURS = ["#1a80c4", "#e08f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"] as const;
const EAGER = "#8c8c8c";
const MOST_BARS = 3;
const QUIET = 200;

/** Lines with the same mark; the icon is an SVG. */
export interface Mark {
  startLine: number;
  endLine: number;
  icon: string;
  /** In the overview ruler. */
  colour: string;
  /** Markdown. */
  hover: string;
}

/**
 * Marks in the gutter which graph each line is in: a bar in the graph's colour, with its number on the first
 * line, and a dotted one for lines that ran eagerly.
 */
export class GraphMarks implements Disposable {
  private readonly types = new Map<string, TextEditorDecorationType>();
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: Disposable[];

  constructor(private readonly server: Server) {
    const refresh = () => this.refresh();
    this.listeners = [
      server.onDidChange(refresh),
      server.onDidChangeTarget(({ state }) => (isOn(state) ? undefined : this.refresh())),
      window.onDidChangeVisibleTextEditors(refresh),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && isProgram(document)) {
          this.refreshSoon();
        }
      }),
      workspace.onDidChangeConfiguration((event) =>
        event.affectsConfiguration("fullgraph.graphMarks") ? this.refresh() : undefined,
      ),
    ];
    void this.refresh();
  }

  dispose(): void {
    clearTimeout(this.timer);
    [...this.listeners, ...this.types.values()].forEach((part) => {
      part.dispose();
    });
  }

  /** VS Code moves the marks with the text: until the user pauses, they are good enough. */
  private refreshSoon(): void {
    this.asked += 1; // a pending answer is about an older text
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      void this.refresh();
    }, QUIET);
  }

  private async refresh(): Promise<void> {
    const asked = ++this.asked;
    const editors = window.visibleTextEditors.filter(({ document }) => isProgram(document));
    const marks = await Promise.all(editors.map(({ document }) => this.marks(document)));
    if (asked === this.asked) {
      editors.forEach((editor, index) => {
        this.show(editor, marks[index] ?? []);
      });
    }
  }

  private async marks({ uri }: TextDocument): Promise<Mark[]> {
    if (!showsGraphMarks()) {
      return [];
    }
    const params: GraphLinesParams = { textDocument: { uri: uri.toString() } };
    return marksOf((await this.server.request<GraphLinesItem[]>(GRAPH_LINES, params)) ?? []);
  }

  private show(editor: TextEditor, marks: readonly Mark[]): void {
    marks.forEach((mark) => {
      if (!this.types.has(mark.icon)) {
        this.types.set(mark.icon, decorationType(mark));
      }
    });
    for (const [icon, type] of this.types) {
      const own = marks.filter((mark) => mark.icon === icon);
      editor.setDecorations(
        type,
        own.flatMap((mark) => decorations(mark, editor.document)),
      );
    }
  }
}

/** The marks for the lines of a file. A graph's number is on its first line. */
export function marksOf(items: readonly GraphLinesItem[]): Mark[] {
  return items.flatMap(({ startLine, endLine, graphs, label, eager, reason }, index) => {
    const colour = graphs[0] === undefined ? EAGER : colourOf(graphs[0]);
    const hover = [label, eager ? reason : ""].filter(Boolean).join("\n").replaceAll("\n", "  \n");
    const mark = (start: number, end: number, number?: number) => ({
      startLine: start,
      endLine: end,
      icon: icon(graphs, eager, number),
      colour,
      hover,
    });
    const before = items[index - 1]?.graphs.join();
    if (graphs.length !== 1 || graphs.join() === before) {
      return [mark(startLine, endLine)];
    }
    const first = mark(startLine, startLine, graphs[0]);
    return startLine === endLine ? [first] : [first, mark(startLine + 1, endLine)];
  });
}

/** A bar for each graph, and a dotted one for eager lines, over the full height of a line. */
export function icon(graphs: readonly number[], eager: boolean, number?: number): string {
  const colours = [...(eager ? [EAGER] : []), ...graphs.map(colourOf)].slice(0, MOST_BARS);
  const bars = colours.map((colour, index) => {
    const x = 90 - 26 * (colours.length - 1 - index);
    const dots = colour === EAGER ? ' pathLength="12" stroke-dasharray="1.5" ' : "";
    return `<line x1="${x}%" x2="${x}%" y1="0" y2="100%" stroke="${colour}" stroke-width="4"${dots}/>`;
  });
  const text =
    number === undefined
      ? ""
      : `<text x="2" y="50%" dominant-baseline="central" font-family="sans-serif" font-size="11" ` +
        `font-weight="bold" fill="${colourOf(number)}">${number}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg">${bars.join("")}${text}</svg>`;
}

function colourOf(graph: number): string {
  return COLOURS[(graph - 1) % COLOURS.length] ?? EAGER;
}

function decorationType({ icon: svg, colour }: Mark): TextEditorDecorationType {
  return window.createTextEditorDecorationType({
    gutterIconPath: Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`),
    gutterIconSize: "contain",
    overviewRulerColor: colour,
    overviewRulerLane: OverviewRulerLane.Left,
  });
}

/** One range for each line: VS Code highlights the whole range of a hover. */
function decorations({ startLine, endLine, hover }: Mark, document: TextDocument) {
  const hoverMessage = new MarkdownString(hover);
  return Array.from({ length: endLine - startLine + 1 }, (_, index) => {
    const { range, firstNonWhitespaceCharacterIndex } = document.lineAt(startLine + index);
    return {
      range: range.with(range.start.translate(0, firstNonWhitespaceCharacterIndex)),
      hoverMessage,
    };
  });
}
