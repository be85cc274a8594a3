import { l10n, type QuickPickItem, QuickPickItemKind, Uri, window, workspace } from "vscode";
import { tellFindings, tellWhyNotStarted } from "../actions/analyze";
import { showPage } from "../shared/explanation";
import { reply } from "../shared/messages";
import type { RankNode, TargetNode } from "../targets/nodes";
import {
  CLEAR,
  READ_TRACE,
  REPORT,
  type ReportItem,
  RUN,
  type RunSummary,
  type TargetItem,
  TARGETS,
  TRACE_DIFF,
} from "../protocol";
import type { RecentTraces } from "./recentTraces";
import type { Server } from "../server/server";
import type { Targets } from "../targets/targets";
import { isHere } from "./tracePaths";
import { stateSummary } from "../shared/words";

/** Endings of logs, and of archives of them. */
const LOGS = ["log", "gz", "tar", "tgz", "bz2", "tbz2", "xz", "txz", "zip"];

interface TracePick extends QuickPickItem {
  /** Returns the id of the trace, which is read if necessary; `undefined` if that failed. */
  take?: () => Promise<string | undefined>;
}

/** The commands for traces: open, read again and compare. Each trace is a target of the server. */
export class Traces {
  constructor(
    private readonly server: Server,
    private readonly targets: Targets,
    private readonly recent: RecentTraces,
  ) {}

  /** Open traces: the files that a menu passes, else the trace that the user picks. */
  async open(named: readonly Uri[]): Promise<void> {
    if (!(await this.server.available())) {
      return;
    }
    if (named.length === 0) {
      const picks = this.recent.all().then((paths) => this.picks([], paths));
      await this.show(await this.picked(l10n.t("Fullgraph: Open a Trace"), picks));
    }
    for (const { fsPath } of named) {
      await this.show(await this.read(fsPath));
    }
  }

  /** Open the trace of one rank by itself. */
  async showRank({ of, rank }: RankNode): Promise<void> {
    await this.show(await this.read(Uri.parse(of.item.uri).fsPath, rank.rank));
  }

  /** Compare two traces. A trace that a menu passes is the trace from after the change. */
  async compare(named: TargetNode | undefined): Promise<void> {
    if (!(await this.server.available())) {
      return;
    }
    const title = l10n.t("Fullgraph: Compare Traces");
    const before = await this.choose(
      named ? l10n.t("Fullgraph: Compare {0} with Another Trace", named.item.label) : title,
      l10n.t("The trace from before the change"),
      named?.item.id,
    );
    const after =
      named?.item.id ??
      (before && (await this.choose(title, l10n.t("The trace from after the change"), before)));
    if (before === undefined || after === undefined) {
      return;
    }
    const document = await this.server.command(TRACE_DIFF, before, after);
    if (typeof document === "string") {
      await showPage(document);
    }
  }

  /** Read all open traces again, after a change of settings. */
  async readAgain(): Promise<void> {
    await Promise.all((await this.opened()).map(({ id }) => this.server.command(RUN, id)));
  }

  private async opened(): Promise<TargetItem[]> {
    const targets = await this.server.request<TargetItem[]>(TARGETS, {});
    return targets?.filter(({ kind }) => kind === "trace") ?? [];
  }

  /** Let the user choose a trace: an open one, a recent one, or one from disk. */
  private async choose(
    title: string,
    placeHolder: string,
    except: string | undefined,
  ): Promise<string | undefined> {
    const picks = Promise.all([this.opened(), this.recent.all()]).then(([opened, recent]) =>
      this.picks(
        opened.filter(({ id }) => id !== except),
        recent.filter((path) => !opened.some(({ uri }) => Uri.parse(uri).fsPath === path)),
      ),
    );
    return this.picked(title, picks, placeHolder);
  }

  private async picked(
    title: string,
    picks: Promise<TracePick[]>,
    placeHolder = l10n.t("Logs that TORCH_TRACE wrote, here or on another machine"),
  ): Promise<string | undefined> {
    const options = { title, placeHolder, matchOnDescription: true };
    return (await window.showQuickPick(picks, options))?.take?.();
  }

  private picks(opened: readonly TargetItem[], recent: readonly string[]): TracePick[] {
    return [
      ...group(
        l10n.t("open"),
        opened.map(({ id, label, state }) => ({
          label: `$(pulse) ${label}`,
          description: state === undefined ? "" : stateSummary(state),
          take: () => Promise.resolve(id),
        })),
      ),
      ...group(
        l10n.t("recent"),
        recent.map((path) => ({ ...named(path), take: () => this.read(path) })),
      ),
      ...group(l10n.t("from disk"), [
        {
          label: l10n.t("$(file) A log file…"),
          description: l10n.t("of one process, or an archive of a job"),
          take: () => this.browse(true),
        },
        {
          label: l10n.t("$(folder) A folder of logs…"),
          description: l10n.t("of all ranks of a job"),
          take: () => this.browse(false),
        },
      ]),
    ];
  }

  /** Let the user choose files or folders: not every dialog can do both. */
  private async browse(isFile: boolean): Promise<string | undefined> {
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const [uri] =
      (await window.showOpenDialog({
        title: l10n.t("Fullgraph: Open a Trace"),
        openLabel: l10n.t("Open Trace"),
        canSelectFiles: isFile,
        canSelectFolders: !isFile,
        ...(isFile && {
          filters: { [l10n.t("Logs")]: LOGS, [l10n.t("All files")]: ["*"] },
        }),
        ...(folder && { defaultUri: folder }),
      })) ?? [];
    return uri && this.read(uri.fsPath);
  }

  /** Read a trace. If that fails, show why, and remove it from the targets. */
  private async read(path: string, ...rank: number[]): Promise<string | undefined> {
    const summary = (await this.server.command(READ_TRACE, path, ...rank)) as
      RunSummary | undefined;
    if (summary?.status === "not-started") {
      await tellWhyNotStarted(this.server, summary.target);
      await this.server.command(CLEAR, summary.target);
      return undefined;
    }
    if (summary === undefined || summary.status === "cancelled") {
      return undefined;
    }
    await this.recent.add(path);
    return summary.target;
  }

  /** Show a trace in the view and the number of findings, or a message if there is nothing to see. */
  private async show(target: string | undefined): Promise<void> {
    if (target === undefined) {
      return;
    }
    await this.targets.reveal(target);
    const report = await this.server.request<ReportItem>(REPORT, { target });
    if (report === undefined) {
      return;
    }
    const { frames, findings } = report;
    if (frames.length === 0 && findings.length === 0) {
      reply(l10n.t("The trace has no compilations."));
    } else if (frames.length > 0 && !frames.some(({ location }) => isHere(location.uri))) {
      reply(l10n.t("The files of the trace are not in this workspace."), {
        title: l10n.t("Map a Remote Folder…"),
        command: "fullgraph.mapTracePath",
      });
    } else {
      tellFindings(findings.length);
    }
  }
}

function group(label: string, picks: TracePick[]): TracePick[] {
  return picks.length === 0 ? [] : [{ label, kind: QuickPickItemKind.Separator }, ...picks];
}

function named(path: string): QuickPickItem {
  const [, folder = "", name = path] = /^(.*)[\\/]([^\\/]+)$/.exec(path) ?? [];
  return { label: `$(history) ${name}`, description: folder };
}
