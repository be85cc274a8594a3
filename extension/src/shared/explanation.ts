import { commands, extensions, window, workspace } from "vscode";
import type { Milestones } from "./milestones";
import { EXPLANATION_SCHEME } from "../protocol";
import { PAGES, uriOf } from "./uris";

const PREVIEW = "vscode.markdown-language-features";
const FILE_LINK = /(?<!\\)\[((?:\\.|[^\]\\])*)\]\(file:\/\/(\/[^)\s]*)\)/g;
const TO_THE_TOP = "/..".repeat(32);

/** The page that the preview shows. */
let shown: string | undefined;

/** Show a finding's full explanation. */
export async function showExplanation(uri: string, milestones: Milestones): Promise<void> {
  if (await showPage(uri, [EXPLANATION_SCHEME])) {
    milestones.reached("sawExplanation");
  }
}

/**
 * Refresh the preview if VS Code has dropped the document of its page, as it does after a while: the server's
 * refresh request has no effect then. While the document exists, that request is enough: a second refresh at
 * the same time could make a loading preview miss the new text.
 */
export async function refreshPage(): Promise<void> {
  const isKept = workspace.textDocuments.some(({ uri }) => uri.toString() === shown);
  if (shown !== undefined && !isKept) {
    await commands.executeCommand("markdown.preview.refresh");
  }
}

/** Show a document of the server as rendered Markdown next to the program, if its scheme is allowed. */
export async function showPage(uri: string, schemes = PAGES): Promise<boolean> {
  const page = uriOf(uri, schemes);
  if (page === undefined) {
    return false;
  }
  if (extensions.getExtension(PREVIEW)) {
    await commands.executeCommand("markdown.showPreviewToSide", page);
    shown = page.toString();
  } else {
    await window.showTextDocument(await workspace.openTextDocument(page));
  }
  return true;
}

/**
 * Rewrite links to files for the preview, which follows paths relative to the first folder, but no `file:`
 * URIs. Without a folder it follows none.
 */
export function previewLinks(markdown: string): string {
  return workspace.workspaceFolders?.[0]
    ? markdown.replace(FILE_LINK, `[$1](${TO_THE_TOP}$2)`)
    : markdown.replace(FILE_LINK, "$1");
}
