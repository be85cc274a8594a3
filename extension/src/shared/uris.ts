import {
  commands,
  l10n,
  NotebookCellKind,
  type TextDocument,
  type TextDocumentShowOptions,
  Uri,
  window,
  workspace,
} from "vscode";
import { reply } from "./messages";
import { COMPARISON_SCHEME, EXPLANATION_SCHEME, KERNEL_SCHEME, PROFILE_SCHEME } from "../protocol";

/** Documents of the server that are shown as rendered Markdown. */
export const PAGES: readonly string[] = [COMPARISON_SCHEME, EXPLANATION_SCHEME, PROFILE_SCHEME];

/** Other documents that the server links to: generated code, and the user's files. */
export const CODE: readonly string[] = [KERNEL_SCHEME];
const CELL = "vscode-notebook-cell";
export const FILES: readonly string[] = ["file", CELL];

/** The type of the notebooks whose cells make programs. */
export const NOTEBOOK_TYPE = "jupyter-notebook";

/** Whether a document is a Python file, or a cell of a notebook. */
export function isProgram({ languageId, uri }: TextDocument): boolean {
  return languageId === "python" && ["file", CELL].includes(uri.scheme);
}

/** The number of a code cell in its notebook; 0 for the URI of anything else. */
export function cellNumber(uri: string): number {
  if (!uri.startsWith(`${CELL}:`)) {
    return 0;
  }
  const cells = workspace.notebookDocuments.map((notebook) =>
    notebook.getCells().filter(({ kind }) => kind === NotebookCellKind.Code),
  );
  const found = cells.map((own) =>
    own.findIndex(({ document }) => document.uri.toString() === uri),
  );
  return Math.max(-1, ...found) + 1;
}

/** Show one of the user's files, or a cell of a notebook, which only its own editor can show. */
export async function showFile(uri: Uri, options: TextDocumentShowOptions): Promise<void> {
  await (uri.scheme === CELL
    ? commands.executeCommand("vscode.open", uri, options)
    : window.showTextDocument(uri, options));
}

/** Whether this is a notebook, not a folder or another file. */
export function isNotebook(uri: Uri): boolean {
  return uri.path.endsWith(".ipynb");
}

/**
 * Parse a URI that has one of these schemes; for any other, show a message. Any extension can call the
 * commands, so the code that opens a URI says which schemes it allows.
 */
export function uriOf(text: unknown, schemes: readonly string[]): Uri | undefined {
  if (typeof text === "string" && schemes.some((scheme) => text.startsWith(`${scheme}:/`))) {
    return Uri.parse(text);
  }
  reply(l10n.t("This cannot be opened: {0}", String(text)));
  return undefined;
}
