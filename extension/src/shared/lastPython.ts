// The Python file that commands act on, wherever the focus is.
import { type Disposable, l10n, type TextDocument, type TextEditor, window } from "vscode";
import { reply } from "./messages";
import { isProgram } from "./uris";

let last: TextEditor | undefined;

/** Remember the last Python file for commands that are called from a view, a page or another document. */
export function rememberPython(): Disposable {
  remember(window.activeTextEditor);
  return window.onDidChangeActiveTextEditor(remember);
}

/** The editor of the active Python file, else of the Python file that was active last. */
export function lastPython(): TextEditor | undefined {
  remember(window.activeTextEditor);
  const document = last?.document;
  return document?.isClosed && document.isUntitled ? undefined : last;
}

/** The same for a command that needs a Python file: without one, show a message. */
export function neededPython(): TextEditor | undefined {
  const editor = lastPython();
  if (editor === undefined) {
    reply(l10n.t("There is no Python file to act on: open one first."));
  }
  return editor;
}

function remember(editor: TextEditor | undefined): void {
  if (editor && isOwnPython(editor.document)) {
    last = editor;
  }
}

/** Generated code and old versions of a file are also Python, but cannot run. */
function isOwnPython(document: TextDocument): boolean {
  return isProgram(document) || (document.languageId === "python" && document.isUntitled);
}
