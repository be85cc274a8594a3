import { commands, extensions, window, workspace } from "vscode";
import type { Milestones } from "./milestones";
import { EXPLANATION_SCHEME } from "../protocol";
import { PAGES, uriOf } from "./uris";

const PREVIEW = "vscode.markdown-language-features";
const FILE_LINK = /(?<!\\)\[((?:\\.|[^\]\\])*)\]\(file:\/\/(\/[^)\s]*)\)/g;
const TO_THE_TOP = "/..".repeat(32);

/** Whether a page was shown in the preview. */
let shown = false;

/** Show a finding's full explanation. */
export async function showExplanation(uri: string, milestones: Milestones): Promise<void> {
  if (await showPage(uri, [EXPLANATION_SCHEME])) {
    milestones.reached("sawExplanation");
  }
}

/**
 * Read the pages that are shown again. VS Code forgets the text of a page after a while, though it shows it:
 * then the server's request to read it again changes nothing.
 */
export async function refreshPages(): Promise<void> {
  if (shown) {
    await commands.executeCommand("markdown.preview.refresh");
  }
}

/** Show a document of the server as rendered Markdown beside the program, if its scheme is allowed. */
export async function showPage(uri: string, schemes = PAGES): Promise<boolean> {
  const page = uriOf(uri, schemes);
  if (page === undefined) {
    return false;
  }
  if (extensions.getExtension(PREVIEW)) {
    await commands.executeCommand("markdown.showPreviewToSide", page);
    shown = true;
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
