import {
  type Command,
  commands,
  type Disposable,
  l10n,
  languages,
  LanguageStatusSeverity,
  type Uri,
  window,
  workspace,
} from "vscode";
import { withoutLinks } from "../shared/messages";
import type { Milestones } from "../shared/milestones";
import { INTERPRETER, type InterpreterItem, type StatusParams } from "../protocol";
import type { PythonExtensions } from "../server/python";
import type { Server } from "../server/server";
import { type ServerState, unavailable } from "../server/state";
import { NOTEBOOK_TYPE } from "../shared/uris";
import { isOn, joined, shortVersion } from "../shared/words";

/** The content of the status item. */
export interface StatusText {
  text: string;
  detail: string;
  severity: LanguageStatusSeverity;
  busy: boolean;
  command: Command;
}

/** The language status item: the Python that runs the targets of the active file, and any problem. */
export class Status implements Disposable {
  private readonly item = languages.createLanguageStatusItem("fullgraph", [
    { language: "python", scheme: "file" },
    { language: "python", scheme: "untitled" },
    { language: "python", notebookType: NOTEBOOK_TYPE },
  ]);
  private readonly running = new Set<string>();
  private interpreter: InterpreterItem | undefined;
  private ofFolder = false;
  private scope: string | undefined;
  private asked = 0;

  constructor(
    private readonly server: Server,
    private readonly milestones: Milestones,
    private readonly python: PythonExtensions,
  ) {
    this.item.name = "Fullgraph";
    this.show();
  }

  /** Check whether the active file is in another folder, or whether a problem is solved. */
  async recheck(): Promise<void> {
    if (activeScope()?.toString() !== this.scope || this.interpreter?.problem !== undefined) {
      await this.refresh();
    } else {
      this.tellTorch();
    }
  }

  /** Handle a change of the server, a setting or the Python extension. */
  async refresh(): Promise<void> {
    if (this.server.state.kind !== "ready") {
      this.running.clear();
      this.interpreter = undefined;
      this.show();
      return;
    }
    const turn = ++this.asked;
    const uri = activeScope()?.toString();
    this.scope = uri;
    const interpreter =
      uri === undefined
        ? undefined
        : await this.server.request<InterpreterItem>(INTERPRETER, { uri });
    const notebook = window.activeNotebookEditor?.notebook.uri;
    const ofFolder =
      notebook !== undefined &&
      interpreter !== undefined &&
      (await this.python.isOfFolder(interpreter.path, notebook));
    if (turn !== this.asked) {
      return;
    }
    this.interpreter = interpreter;
    this.ofFolder = ofFolder;
    this.show();
    const problem = interpreter?.problem !== undefined;
    void commands.executeCommand("setContext", "fullgraph.problem", problem);
    this.tellTorch();
  }

  /** Handle a new state of a target. */
  target({ target, state }: StatusParams): void {
    if (isOn(state)) {
      this.running.add(target);
      this.show();
    } else if (this.running.delete(target)) {
      this.show();
      // The program may have failed because the interpreter has changed.
      void this.refresh();
    }
  }

  dispose(): void {
    this.item.dispose();
  }

  private tellTorch(): void {
    if (this.interpreter !== undefined && this.interpreter.problem === undefined) {
      this.milestones.reached("foundTorch");
    }
  }

  private show(): void {
    const { text, detail, severity, busy, command } = statusText(
      this.server.state,
      this.interpreter,
      this.running.size > 0,
      this.ofFolder,
    );
    this.item.text = text;
    this.item.detail = withoutLinks(detail);
    this.item.severity = severity;
    this.item.busy = busy;
    this.item.command = command;
    void commands.executeCommand("setContext", "fullgraph.running", this.running.size > 0);
  }
}

/** The content for a state, with the most helpful command. */
export function statusText(
  state: ServerState,
  interpreter: InterpreterItem | undefined,
  running: boolean,
  ofFolder = false,
): StatusText {
  const select = { title: l10n.t("Select Interpreter"), command: "fullgraph.selectInterpreter" };
  if (state.kind !== "ready") {
    const [detail, action = select] = unavailable(state);
    return {
      text: "Fullgraph",
      detail: state.kind === "starting" ? l10n.t("starting") : detail,
      severity: severityOf(state),
      busy: state.kind === "starting",
      command: action,
    };
  }
  if (interpreter === undefined) {
    const { Information } = LanguageStatusSeverity;
    return { text: "Fullgraph", detail: "", severity: Information, busy: running, command: select };
  }
  const { path, origin, python, torch, problem } = interpreter;
  const versions = joined([
    python && `Python ${shortVersion(python)}`,
    torch && `torch ${shortVersion(torch)}`,
  ]);
  return {
    text: versions === "" ? "Fullgraph" : `Fullgraph: ${versions}`,
    detail: problem ?? `${path} (${ofFolder ? withFolder(origin) : origin})`,
    severity:
      problem === undefined ? LanguageStatusSeverity.Information : LanguageStatusSeverity.Error,
    busy: running,
    command: select,
  };
}

function withFolder(origin: string): string {
  return l10n.t("{0}: the folder's interpreter, since none is known for the notebook", origin);
}

function severityOf(state: ServerState): LanguageStatusSeverity {
  switch (state.kind) {
    case "noPython":
    case "failed":
      return LanguageStatusSeverity.Error;
    case "restricted":
      return LanguageStatusSeverity.Warning;
    case "starting":
    case "ready":
      return LanguageStatusSeverity.Information;
  }
}

/** The folder of the active file, or the file itself if it is in no folder. */
function activeScope(): Uri | undefined {
  const notebook = window.activeNotebookEditor?.notebook;
  if (notebook?.notebookType === NOTEBOOK_TYPE) {
    return notebook.uri;
  }
  const document = window.activeTextEditor?.document;
  if (document?.languageId !== "python" || document.uri.scheme !== "file") {
    return workspace.workspaceFolders?.[0]?.uri;
  }
  return workspace.getWorkspaceFolder(document.uri)?.uri ?? document.uri;
}
