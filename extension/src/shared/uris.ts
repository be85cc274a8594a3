import { l10n, type TextDocument, Uri } from "vscode";
import { reply } from "./messages";
import { COMPARISON_SCHEME, EXPLANATION_SCHEME, KERNEL_SCHEME, PROFILE_SCHEME } from "../protocol";

/** Documents of the server that are shown as rendered Markdown. */
export const PAGES: readonly string[] = [COMPARISON_SCHEME, EXPLANATION_SCHEME, PROFILE_SCHEME];

/** Other documents that the server links to: generated code, and the user's files. */
export const CODE: readonly string[] = [KERNEL_SCHEME];
export const FILES: readonly string[] = ["file"];

/** The type of the notebooks whose cells make programs, and the scheme of their cells. */
export const NOTEBOOK_TYPE = "jupyter-notebook";
const CELL = "vscode-notebook-cell";

/** Whether a document is a Python file, or a cell of a notebook. */
export function isProgram({ languageId, uri }: TextDocument): boolean {
  return languageId === "python" && ["file", CELL].includes(uri.scheme);
}

/** Whether this is a notebook and no folder or other file. */
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
