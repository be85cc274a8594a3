import { commands, l10n, window } from "vscode";

/** A button of a message: what it says, and the command behind it. */
export interface Action {
  title: string;
  command: string;
  arguments?: unknown[];
}

type Show = (message: string, ...titles: string[]) => Thenable<string | undefined>;

let told: string | undefined;

/** Answer something that the user has just done. */
export function reply(message: string, ...actions: Action[]): void {
  show(window.showWarningMessage, message, actions);
}

/** Say that something was done that cannot be seen. */
export function confirm(message: string): void {
  show(window.showInformationMessage, message, []);
}

/** Tell of a failure that came by itself, but not the same twice in a row. */
export function tell(message: string, ...actions: Action[]): void {
  if (message === told) {
    return;
  }
  told = message;
  show(window.showErrorMessage, message, actions);
}

/** The trouble that was told is over, or the user tries again: it would be news again. */
export function forget(): void {
  told = undefined;
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

/** Ask before something is done. Whatever is not the button is a no. */
export async function agrees(question: string, title: string): Promise<boolean> {
  const answer = await window.showWarningMessage(withoutLinks(question), { modal: true }, title);
  return answer === title;
}

/** A sentence in which nothing is a link: VS Code makes links of Markdown's form, also to commands. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** Never awaited: a message stays open for as long as the user likes. */
function show(how: Show, message: string, actions: Action[]): void {
  void how(withoutLinks(message), ...actions.map((action) => action.title)).then((title) => {
    const chosen = actions.find((action) => action.title === title);
    return chosen && commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  });
}
