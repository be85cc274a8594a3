import { isDeepStrictEqual } from "node:util";
import {
  commands,
  type Disposable,
  l10n,
  Range,
  Uri,
  ViewColumn,
  type WebviewPanel,
  window,
} from "vscode";
import type { Location } from "vscode-languageclient";
import { Drawings } from "./drawings";
import { EXPLANATION_SCHEME, type PerformanceItem, SHOW_EXPLANATION } from "../protocol";
import type { FromPage, ToPage } from "./page/messages";
import { panelPage } from "./reportPage";
import { CODE, FILES, showFile, uriOf } from "../shared/uris";

export const VIEW_TYPE = "fullgraph.report";

/** The panel that shows the report of one target. Its page forgets everything while it is hidden. */
export class ReportPanel implements Disposable {
  readonly panel: WebviewPanel;
  private drawings: Drawings;
  private running = false;
  /** Whether the report's generation is a number of the current server. */
  private counted = true;

  constructor(
    private report: PerformanceItem,
    private readonly dist: Uri,
    private readonly exportReport: () => unknown,
  ) {
    this.drawings = this.drawingsOf(report);
    this.panel = window.createWebviewPanel(VIEW_TYPE, "", ViewColumn.Active, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [dist],
    });
    const { webview } = this.panel;
    webview.onDidReceiveMessage((message: FromPage) => this.receive(message));
    const address = (name: string) => webview.asWebviewUri(Uri.joinPath(dist, name)).toString();
    webview.html = panelPage(address("report.js"), address("report.css"), webview.cspSource);
    this.panel.title = l10n.t("Report: {0}", report.label);
  }

  /** Show the report of the last run; ignore an unchanged report, since other states also cause updates. */
  update(report: PerformanceItem): void {
    this.setRunning(false);
    const isOlder = this.counted && report.generation < this.report.generation;
    if (isOlder || isDeepStrictEqual(report, this.report)) {
      return;
    }
    this.report = report;
    this.counted = true;
    this.drawings.dispose();
    this.drawings = this.drawingsOf(report);
    this.send();
  }

  /** Show or hide the note that the report is from the previous run. */
  setRunning(running: boolean): void {
    this.running = running;
    this.post({ kind: "running", running });
  }

  /** Accept any generation next: a new server numbers its runs from the start. */
  reset(): void {
    this.counted = false;
    this.setRunning(false);
  }

  dispose(): void {
    this.panel.dispose();
  }

  /** Stop the unfinished drawings. */
  closed(): void {
    this.drawings.dispose();
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.kind) {
      case "ready":
        this.send();
        break;
      case "draw": {
        const { generation, picture } = message;
        if (generation === this.report.generation) {
          const drawing = await this.drawings.get(picture);
          this.post({ kind: "drawing", generation, picture, drawing });
        }
        break;
      }
      case "source":
        await this.openBeside(uriOf(message.location.uri, FILES), message.location.range);
        break;
      case "document":
        if (message.uri.startsWith(`${EXPLANATION_SCHEME}:`)) {
          await commands.executeCommand(SHOW_EXPLANATION, message.uri);
        } else {
          await this.openBeside(uriOf(message.uri, CODE));
        }
        break;
      case "export":
        this.exportReport();
        break;
    }
  }

  /** Open a document in a column that does not hide the report: an existing column, else a new one. */
  private async openBeside(uri: Uri | undefined, range?: Location["range"]): Promise<void> {
    if (uri === undefined) {
      return;
    }
    const own = this.panel.viewColumn;
    const other = window.tabGroups.all.find(({ viewColumn }) => viewColumn !== own);
    await showFile(uri, {
      viewColumn: other?.viewColumn ?? ViewColumn.Beside,
      ...(range && {
        selection: new Range(
          range.start.line,
          range.start.character,
          range.end.line,
          range.end.character,
        ),
      }),
    });
  }

  private send(): void {
    this.post({ kind: "report", report: this.report, running: this.running });
  }

  private post(message: ToPage): void {
    void this.panel.webview.postMessage(message);
  }

  private drawingsOf(report: PerformanceItem): Drawings {
    return new Drawings(report, Uri.joinPath(this.dist, "drawingWorker.js").fsPath);
  }
}
