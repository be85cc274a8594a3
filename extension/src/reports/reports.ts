import { type Disposable, type ExtensionContext, l10n, Uri, window, workspace } from "vscode";
import { ran } from "../actions/analyze";
import { Drawings } from "./drawings";
import { type Named, targetOf } from "../actions/failures";
import { confirm } from "../shared/messages";
import {
  COMPILE_TIMES,
  KERNELS,
  PERFORMANCE,
  type PerformanceItem,
  type StatusParams,
} from "../protocol";
import { ReportPanel } from "./reportPanel";
import { exportedPage } from "./reportPage";
import type { Server } from "../server/server";
import { isOn } from "../shared/words";

/** The reports that are open, one panel for each target. */
export class Reports implements Disposable {
  private readonly panels = new Map<string, ReportPanel>();
  private readonly dist: Uri;

  constructor(
    private readonly server: Server,
    { extensionUri }: ExtensionContext,
  ) {
    this.dist = Uri.joinPath(extensionUri, "dist");
  }

  /** Show the report of a target; run it first if its last run has no kernels. */
  async open(named: Named): Promise<void> {
    const report = await this.reportOf(named);
    if (report) {
      this.show(report);
    }
  }

  /** Measure the compile times with cold and warm caches, and show the report. */
  async measure(named: Named): Promise<void> {
    const target = targetOf(named);
    const report = target === undefined ? undefined : await this.run(COMPILE_TIMES, target);
    if (report) {
      this.show(report);
    }
  }

  /** Write the report of a target into a file: the one in the active panel, unless a menu passes another. */
  async export(named: Named): Promise<void> {
    const active = [...this.panels].find(([, { panel }]) => panel.active)?.[0];
    const isShown = named === undefined && active !== undefined;
    await this.write(await (isShown ? this.fetchReport(active) : this.reportOf(named)));
  }

  /** Handle a new state of a target. */
  async status({ target, state }: StatusParams): Promise<void> {
    const panel = this.panels.get(target);
    if (panel === undefined) {
      return;
    }
    if (isOn(state)) {
      panel.setRunning(true);
      return;
    }
    const report = await this.fetchReport(target);
    if (report) {
      panel.update(report);
    } else {
      panel.setRunning(false);
    }
  }

  /** Reset the panels for a new server, which does not have their reports. */
  reset(): void {
    this.panels.forEach((panel) => {
      panel.reset();
    });
  }

  dispose(): void {
    this.panels.forEach((panel) => {
      panel.dispose();
    });
  }

  private show(report: PerformanceItem): void {
    const { target } = report;
    const shown = this.panels.get(target);
    if (shown) {
      shown.update(report);
      shown.panel.reveal();
      return;
    }
    const made = new ReportPanel(report, this.dist, async () => {
      await this.write(await this.fetchReport(target));
    });
    this.panels.set(target, made);
    made.panel.onDidDispose(() => {
      this.panels.delete(target);
      made.closed();
    });
  }

  private async reportOf(named: Named): Promise<PerformanceItem | undefined> {
    const target = targetOf(named);
    if (target === undefined || !(await this.server.available())) {
      return undefined;
    }
    const report = await this.fetchReport(target);
    return report && report.kernels.length > 0 ? report : this.run(KERNELS, target);
  }

  private async run(command: string, target: string): Promise<PerformanceItem | undefined> {
    const summary = await ran(this.server, command, target);
    return summary && this.fetchReport(summary.target);
  }

  private fetchReport(target: string): Promise<PerformanceItem | undefined> {
    return this.server.request<PerformanceItem>(PERFORMANCE, { target });
  }

  private async write(report: PerformanceItem | undefined): Promise<void> {
    if (report === undefined) {
      return;
    }
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const name = `${report.label.replace(/[^\w.-]+/g, "-")}.html`;
    const uri = await window.showSaveDialog({
      title: l10n.t("Fullgraph: Export Compile Report"),
      filters: { HTML: ["html"] },
      ...(folder && { defaultUri: Uri.joinPath(folder, name) }),
    });
    if (uri === undefined) {
      return;
    }
    const read = async (file: string) =>
      new TextDecoder().decode(await workspace.fs.readFile(Uri.joinPath(this.dist, file)));
    const program = Uri.joinPath(this.dist, "drawingWorker.js").fsPath;
    const all = new Drawings(report, program);
    const drawings = await all.all();
    all.dispose();
    const page = exportedPage(
      { report, drawings },
      await read("report.js"),
      await read("report.css"),
    );
    await workspace.fs.writeFile(uri, new TextEncoder().encode(page));
    confirm(l10n.t("The report is in {0}.", workspace.asRelativePath(uri)));
  }
}
