import {
  type Disposable,
  type ExtensionContext,
  l10n,
  type QuickPickItem,
  Uri,
  window,
  workspace,
} from "vscode";
import { ran } from "../actions/analyze";
import { Drawings } from "./drawings";
import { type Named, targetOf } from "../actions/failures";
import { confirm } from "../shared/messages";
import {
  ANALYSES,
  KERNELS,
  type LayerItem,
  LAYERS,
  PERFORMANCE,
  type PerformanceItem,
  type StatusParams,
} from "../protocol";
import { ReportPanel } from "./reportPanel";
import { exportedPage } from "./reportPage";
import type { Server } from "../server/server";
import { isOn, joined, layerSummary } from "../shared/words";

/** A result of a target to report: its own, or one of a layer. */
interface Result {
  target: string;
  layer?: string;
}

interface ResultPick extends QuickPickItem {
  result: Result;
}

/** The layers that are reported without kernels. */
const MEASURED = ANALYSES.filter(({ opens }) => opens === "report").map(({ id }) => id);

/** The reports that are open, one panel for each result of a target. */
export class Reports implements Disposable {
  private readonly panels = new Map<string, { result: Result; shown: ReportPanel }>();
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

  /** Measure compile times, or the speed of compiled calls, and show the report. */
  async measure(command: string, named: Named): Promise<void> {
    const target = targetOf(named);
    const report = target === undefined ? undefined : await this.run(command, target);
    if (report) {
      this.show(report);
    }
  }

  /** Write the report of a target into a file: the one in the active panel, unless a menu passes another. */
  async export(named: Named): Promise<void> {
    const active = [...this.panels.values()].find(({ shown }) => shown.panel.active)?.result;
    const isShown = named === undefined && active !== undefined;
    await this.write(await (isShown ? this.fetchReport(active) : this.reportOf(named)));
  }

  /** Handle a new state of a target. */
  async status({ target, state }: StatusParams): Promise<void> {
    const own = [...this.panels.values()].filter(({ result }) => result.target === target);
    await Promise.all(
      own.map(async ({ result, shown }) => {
        const report = isOn(state) ? undefined : await this.fetchReport(result);
        if (report) {
          shown.update(report);
        } else {
          shown.setRunning(isOn(state));
        }
      }),
    );
  }

  /** Reset the panels for a new server, which does not have their reports. */
  reset(): void {
    this.panels.forEach(({ shown }) => {
      shown.reset();
    });
  }

  dispose(): void {
    this.panels.forEach(({ shown }) => {
      shown.dispose();
    });
  }

  private show(report: PerformanceItem): void {
    const { target, layer } = report;
    const result = { target, ...(layer !== undefined && { layer }) };
    const key = JSON.stringify([target, layer]);
    const shown = this.panels.get(key)?.shown;
    if (shown) {
      shown.update(report);
      shown.panel.reveal();
      return;
    }
    const made = new ReportPanel(report, this.dist, async () => {
      await this.write(await this.fetchReport(result));
    });
    this.panels.set(key, { result, shown: made });
    made.panel.onDidDispose(() => {
      this.panels.delete(key);
      made.closed();
    });
  }

  private async reportOf(named: Named): Promise<PerformanceItem | undefined> {
    const target = targetOf(named);
    if (target === undefined || !(await this.server.available())) {
      return undefined;
    }
    if (named?.kind === "layer") {
      return this.fetchReport({ target, layer: named.layer.layer });
    }
    const result = await this.chooseResult(target);
    const report = result && (await this.fetchReport(result));
    if (result === undefined || result.layer !== undefined || (report?.kernels.length ?? 0) > 0) {
      return report;
    }
    return this.run(KERNELS, target);
  }

  /** Let the user choose between a target's own result and the layers with kernels, times or speed, if there are any. */
  private async chooseResult(target: string): Promise<Result | undefined> {
    const layers = (await this.server.request<LayerItem[]>(LAYERS, { target })) ?? [];
    const offered = layers.filter(
      ({ layer, report }) => MEASURED.includes(layer) || report.kernels.length > 0,
    );
    if (offered.length === 0) {
      return { target };
    }
    const picks = [
      { label: l10n.t("Ordinary Run"), result: { target } },
      ...offered.map((item) => ({
        label: item.label,
        description: joined([item.stale ? l10n.t("stale") : "", layerSummary(item)]),
        result: { target, layer: item.layer },
      })),
    ];
    const title = l10n.t("Fullgraph: Open Compile Report");
    const placeHolder = l10n.t("The result to show");
    return (await window.showQuickPick<ResultPick>(picks, { title, placeHolder }))?.result;
  }

  private async run(command: string, target: string): Promise<PerformanceItem | undefined> {
    const summary = await ran(this.server, command, target);
    const { target: id, layer } = summary ?? {};
    return id === undefined
      ? undefined
      : this.fetchReport({ target: id, ...(layer !== undefined && { layer }) });
  }

  private fetchReport(result: Result): Promise<PerformanceItem | undefined> {
    return this.server.request<PerformanceItem>(PERFORMANCE, result);
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
