import { commands, type ExtensionContext, window, workspace } from "vscode";
import { registerForAgents } from "./actions/agents";
import { tellWhyNotStarted } from "./actions/analyze";
import { AtLine } from "./editor/atLine";
import type { ClientContext } from "./server/client";
import { registerCommands } from "./commands";
import { GraphMarks } from "./editor/graphMarks";
import { Highlight } from "./editor/highlight";
import { refreshPage } from "./shared/explanation";
import { rememberPython } from "./shared/lastPython";
import { Milestones } from "./shared/milestones";
import { ProgramOutput } from "./server/programOutput";
import { PythonExtensions } from "./server/python";
import { RecentTraces } from "./traces/recentTraces";
import { Reports } from "./reports/reports";
import { Server } from "./server/server";
import { Status } from "./editor/status";
import { TestView } from "./targets/testView";
import { Targets } from "./targets/targets";
import { Traces } from "./traces/traces";
import { isOn } from "./shared/words";

/** The parts of package.json that are read. */
interface Manifest {
  contributes: { languageModelTools: { name: string; displayName: string }[] };
}

let server: Server | undefined;

/** Create the parts of the extension. The server starts in the background. */
export function activate(extension: ExtensionContext): void {
  const begun = performance.now();
  const manifest = extension.extension.packageJSON as Manifest;
  const log = window.createOutputChannel("Fullgraph", { log: true });
  const python = new PythonExtensions(log);
  const milestones = new Milestones();
  const context: ClientContext = { log, python, milestones };
  const started = (server = new Server(extension, context));
  const programs = new ProgramOutput(started);
  const targets = new Targets(started, extension.workspaceState);
  const reports = new Reports(started, extension);
  const recent = new RecentTraces(extension.workspaceState);
  const traces = new Traces(started, targets, recent);
  const status = new Status(started, milestones, python);
  const atLine = new AtLine(started);

  const changed = () => {
    void started.startIfDown();
    void status.refresh();
  };
  extension.subscriptions.push(
    log,
    programs,
    python,
    targets,
    new TestView(started, targets),
    status,
    rememberPython(),
    new Highlight(started),
    new GraphMarks(started),
    atLine,
    reports,
    ...registerForAgents(started, manifest.contributes.languageModelTools),
    ...registerCommands(extension, context, started, programs, targets, reports, traces, atLine),
    started.onDidChange(({ kind }) => {
      void commands.executeCommand("setContext", "fullgraph.state", kind);
      targets.reset();
      reports.reset();
      void status.refresh();
    }),
    started.onDidChangeTarget((change) => {
      milestones.status(change);
      status.target(change);
      void targets.status(change);
      void reports.status(change);
      if (!isOn(change.state)) {
        void refreshPage();
      }
      if (change.state === "not-started") {
        void tellWhyNotStarted(started, change.target);
      }
    }),
    python.onDidChange(changed),
    workspace.onDidChangeWorkspaceFolders(changed),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("fullgraph")) {
        changed();
      }
      if (event.affectsConfiguration("fullgraph.tracePaths")) {
        void traces.readAgain();
      }
    }),
    workspace.onDidGrantWorkspaceTrust(() => started.restart()),
    // A missing torch may have been installed: in a terminal here, or outside.
    window.onDidChangeActiveTextEditor(() => status.recheck()),
    window.onDidEndTerminalShellExecution(() => status.recheck()),
    window.onDidChangeWindowState(() => status.recheck()),
  );
  void started.restart().then(() => {
    log.info(`the server was ${started.state.kind} after ${since(begun)}`);
  });
  log.info(`activated in ${since(begun)}`);
}

export async function deactivate(): Promise<void> {
  await server?.dispose();
}

function since(begun: number): string {
  return `${Math.round(performance.now() - begun)} ms`;
}
