import { commands, l10n, window } from "vscode";

/** A button of a message: its title and its command. */
export interface Action {
  title: string;
  command: string;
  arguments?: unknown[];
}

type Show = (message: string, ...titles: string[]) => Thenable<string | undefined>;

let lastFailure: string | undefined;

/** Show a warning in answer to an action of the user. */
export function reply(message: string, ...actions: Action[]): void {
  show(window.showWarningMessage, message, actions);
}

/** Confirm an action that has no visible effect. */
export function confirm(message: string): void {
  show(window.showInformationMessage, message, []);
}

/** Show a failure that the user did not cause, but not the same one twice in a row. */
export function tell(message: string, ...actions: Action[]): void {
  if (message === lastFailure) {
    return;
  }
  lastFailure = message;
  show(window.showErrorMessage, message, actions);
}

/** Allow the last failure to be shown again: it is over, or the user tries again. */
export function forget(): void {
  lastFailure = undefined;
}

export function showOutput(): Action {
  return { title: l10n.t("Show Output"), command: "fullgraph.showOutput" };
}

export function restartServer(): Action {
  return { title: l10n.t("Restart"), command: "fullgraph.restartServer" };
}

export function selectInterpreter(): Action {
  return { title: l10n.t("Select Interpreter"), command: "fullgraph.selectInterpreter" };
}

export function manageTrust(): Action {
  return { title: l10n.t("Manage Workspace Trust"), command: "workbench.trust.manage" };
}

/** Ask the user for consent: only the button counts as a yes. */
export async function agrees(question: string, title: string): Promise<boolean> {
  const answer = await window.showWarningMessage(withoutLinks(question), { modal: true }, title);
  return answer === title;
}

/** A sentence without links: VS Code renders Markdown links in messages, also those to commands. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** Not awaited: a message can stay open for as long as the user likes. */
function show(how: Show, message: string, actions: Action[]): void {
  void how(withoutLinks(message), ...actions.map((action) => action.title)).then((title) => {
    const chosen = actions.find((action) => action.title === title);
    return chosen && commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  });
}
