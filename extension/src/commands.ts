import { commands, type Disposable, type ExtensionContext, l10n, Uri, window } from "vscode";
import { chooseAnalysis } from "./actions/analyses";
import {
  analyzeFiles,
  analyzeTarget,
  analyzeTest,
  analyzeWithArguments,
  raiseLimit,
} from "./actions/analyze";
import type { AtLine } from "./editor/atLine";
import type { EntryNode } from "./editor/atLineItems";
import { compareWithPrevious, openAssembly, openBeside } from "./actions/artifacts";
import type { ClientContext } from "./server/client";
import { debugRepro, debugTarget } from "./actions/debug";
import { copyEnvironment } from "./server/environment";
import { showExplanation } from "./shared/explanation";
import { analyze, copyBugReport, minify, type Named } from "./actions/failures";
import { openRepro } from "./shared/repros";
import { openKernels, quickFix, showSource } from "./actions/kernels";
import type { ArtifactNode, FindingNode, GuardNode, RankNode, TargetNode } from "./targets/nodes";
import { pickTarget } from "./actions/pick";
import { dryRun, previewKernels } from "./actions/previews";
import {
  ANALYSES,
  type Analysis,
  CLEAR,
  OPEN_ARTIFACT,
  OPEN_REPRO,
  RUN_ON_SAVE,
  SAVE_TARGET,
  SHOW_EXPLANATION,
  SHOW_RESULTS,
  SHOW_SOURCE,
  SHOW_TARGET,
  STOP,
  type TargetItem,
} from "./protocol";
import type { Reports } from "./reports/reports";
import { selectInterpreter } from "./server/selectInterpreter";
import type { ProgramOutput } from "./server/programOutput";
import type { Server } from "./server/server";
import { showGraphMarks, showsGraphMarks } from "./server/settings";
import type { Targets } from "./targets/targets";
import { mapRemoteFolder } from "./traces/tracePaths";
import type { Traces } from "./traces/traces";

/** Not in the manifest: an item in the list of targets. */
const SHOW_ALL = "fullgraph.showResultsOfAll";

type Handler = (...args: never[]) => unknown;

/** Register every command of the manifest. Commands that need an argument get the node of the view. */
export function registerCommands(
  extension: ExtensionContext,
  context: ClientContext,
  server: Server,
  programs: ProgramOutput,
  targets: Targets,
  reports: Reports,
  traces: Traces,
  atLine: AtLine,
): Disposable[] {
  const handlers: Record<string, Handler> = {
    ...Object.fromEntries(ANALYSES.map((analysis) => [analysis.client, analysisHandler(analysis)])),
    "fullgraph.analyzeFile": (uri?: unknown, selected?: unknown) =>
      analyzeFiles(server, extension.workspaceState, urisOf(uri, selected)),
    "fullgraph.analyze": () => chooseAnalysis(),
    "fullgraph.runWithArguments": () => analyzeWithArguments(server, extension.workspaceState),
    "fullgraph.analyzeTarget": onItem(({ item }: TargetNode) => analyzeTarget(server, item)),
    "fullgraph.analyzeTest": () => analyzeTest(server),
    "fullgraph.selectTarget": async () => {
      const title = l10n.t("Fullgraph: Analyze a Target");
      const target = await pickTarget(server, title, { qualifies: isRun });
      return target && analyzeTarget(server, target);
    },
    "fullgraph.stopTarget": onItem(({ item }: TargetNode) => server.command(STOP, item.id)),
    "fullgraph.stopAll": () => nowOrNever(server, STOP),
    "fullgraph.raiseTargetLimit": onItem(({ item }: TargetNode) => raiseLimit(server, item)),
    "fullgraph.clearTarget": onItem(({ item }: TargetNode) => server.command(CLEAR, item.id)),
    "fullgraph.clearAll": () => nowOrNever(server, CLEAR),
    "fullgraph.showResultsOf": () => showResultsOf(server),
    "fullgraph.showResultsOnly": onItem(({ item }: TargetNode) =>
      server.command(SHOW_RESULTS, item.id),
    ),
    [SHOW_ALL]: () => server.command(SHOW_RESULTS),
    "fullgraph.toggleRunOnSave": () => toggleRunOnSave(server),
    "fullgraph.runOnSaveOn": onItem(({ item }: TargetNode) =>
      server.command(RUN_ON_SAVE, item.id, true),
    ),
    "fullgraph.runOnSaveOff": onItem(({ item }: TargetNode) =>
      server.command(RUN_ON_SAVE, item.id, false),
    ),
    "fullgraph.addToProject": onItem(({ item }: TargetNode) =>
      server.command(SAVE_TARGET, item.id),
    ),
    "fullgraph.openTrace": (uri?: unknown, selected?: unknown) =>
      traces.open(urisOf(uri, selected)),
    "fullgraph.readTraceAgain": onItem(({ item }: TargetNode) => analyzeTarget(server, item)),
    "fullgraph.closeTrace": onItem(({ item }: TargetNode) => server.command(CLEAR, item.id)),
    "fullgraph.showRank": onItem((node: RankNode) => traces.showRank(node)),
    "fullgraph.compareTraces": () => traces.compare(undefined),
    "fullgraph.compareTrace": onItem((node: TargetNode) => traces.compare(node)),
    "fullgraph.mapTracePath": (node?: TargetNode) => mapRemoteFolder(server, node),
    "fullgraph.openKernels": (named?: unknown) => openKernels(server, nodeOf(named)),
    "fullgraph.previewKernels": (named?: unknown) =>
      previewKernels(server, extension.workspaceState, nodeOf(named)),
    "fullgraph.dryRun": (named?: unknown) => dryRun(server, nodeOf(named)),
    "fullgraph.openAssembly": (named?: unknown) => openAssembly(server, nodeOf(named)),
    "fullgraph.compareWithPrevious": onItem(({ artifact }: ArtifactNode) =>
      compareWithPrevious(artifact),
    ),
    "fullgraph.openReport": (named?: unknown) => reports.open(nodeOf(named)),
    "fullgraph.exportReport": (named?: unknown) => reports.export(nodeOf(named)),
    "fullgraph.minifyFailure": (named?: unknown) => minify(server, nodeOf(named)),
    "fullgraph.debugTarget": (named?: unknown) => debugTarget(server, nodeOf(named), false),
    "fullgraph.debugUncompiled": (named?: unknown) => debugTarget(server, nodeOf(named), true),
    "fullgraph.debugRepro": () => debugRepro(server),
    "fullgraph.copyBugReport": (named?: unknown) => copyBugReport(server, nodeOf(named)),
    "fullgraph.goToOrigin": onItem(
      ({ guard }: GuardNode) => guard.originLocation && showSource(guard.originLocation),
    ),
    "fullgraph.toggleGraphMarks": () => showGraphMarks(!showsGraphMarks()),
    "fullgraph.pinLine": () => atLine.pin(true),
    "fullgraph.unpinLine": () => atLine.pin(false),
    "fullgraph.fixFinding": onItem(
      ({ entry }: EntryNode) => entry.location && quickFix(entry.location),
    ),
    "fullgraph.filterFindings": () => targets.chooseFilter(),
    "fullgraph.refreshTargets": () => targets.refresh(),
    "fullgraph.selectInterpreter": () => selectInterpreter(server, context.python),
    "fullgraph.showOutput": () => {
      context.log.show(true);
    },
    "fullgraph.showProgramOutput": () => {
      programs.show();
    },
    "fullgraph.restartServer": () => server.restartByHand(),
    "fullgraph.copyEnvironment": () => copyEnvironment(server, extension),
    "fullgraph.openWalkthrough": () =>
      commands.executeCommand(
        "workbench.action.openWalkthrough",
        `${extension.extension.id}#start`,
        false,
      ),
    [OPEN_ARTIFACT]: openBeside,
    [OPEN_REPRO]: openRepro,
    [SHOW_EXPLANATION]: (of: string | FindingNode | EntryNode) =>
      showExplanation(explanationOf(of), context.milestones),
    [SHOW_SOURCE]: showSource,
    [SHOW_TARGET]: (target: string) => targets.reveal(target),
  };
  return Object.entries(handlers).map(([id, handler]) => commands.registerCommand(id, handler));

  /** Analyses that need more than a target have their own handlers above. */
  function analysisHandler({ command, opens }: Analysis): Handler {
    return (named?: unknown) =>
      opens === "report"
        ? reports.measure(command, nodeOf(named))
        : analyze(server, command, nodeOf(named));
  }
}

/** A command for an item of a view. VS Code passes no item if the view was refreshed while a menu was open. */
function onItem<Item>(act: (item: Item) => unknown): (item?: Item) => unknown {
  return (item) =>
    item === undefined
      ? window.showInformationMessage(
          l10n.t("The view has changed in the meantime: please choose again."),
        )
      : act(item);
}

/** Run a command now or not at all: before the server is ready there is nothing to stop or to clear. */
async function nowOrNever(server: Server, command: string): Promise<unknown> {
  return server.state.kind === "ready" ? server.command(command) : undefined;
}

async function toggleRunOnSave(server: Server): Promise<void> {
  const target = await pickTarget(server, l10n.t("Fullgraph: Toggle Run on Save"), {
    qualifies: isRun,
    describe: ({ runOnSave }) => (runOnSave ? l10n.t("on") : l10n.t("off")),
  });
  if (target) {
    await server.command(RUN_ON_SAVE, target.id, !target.runOnSave);
  }
}

/** Show only the results of one target in the files that it ran, or the results of all targets again. */
async function showResultsOf(server: Server): Promise<void> {
  const target = await pickTarget(server, l10n.t("Fullgraph: Show Results of…"), {
    qualifies: ({ state }) => state !== undefined,
    others: [{ label: l10n.t("All Targets"), command: SHOW_ALL }],
  });
  if (target) {
    await server.command(SHOW_RESULTS, target.id);
  }
}

/** The URI of an explanation, which a menu of a view passes with its node. */
function explanationOf(of: string | FindingNode | EntryNode): string {
  if (typeof of === "string") {
    return of;
  }
  return of.kind === "entry" ? (of.entry.explanation ?? "") : of.finding.explanation;
}

/** Whether a target can run: a trace is only read. */
function isRun({ kind }: TargetItem): boolean {
  return kind !== "trace";
}

/** The node that a menu of the view passes; menus of editors pass a file. */
function nodeOf(named: unknown): Named {
  return named instanceof Uri ? undefined : (named as Named);
}

/** The files that a menu passes: from the explorer, all selected ones. */
function urisOf(uri: unknown, selected: unknown): Uri[] {
  const all = Array.isArray(selected) ? (selected as unknown[]) : [uri];
  return all.filter((item) => item instanceof Uri);
}
