// Repros, once a minification has written them.
import { ViewColumn, window } from "vscode";
import type { MinifySummary } from "../protocol";
import { FILES, uriOf } from "./uris";

/** Open a repro beside what it was made of. */
export async function openRepro(uri: string): Promise<void> {
  const repro = uriOf(uri, FILES);
  if (repro) {
    await window.showTextDocument(repro, { viewColumn: ViewColumn.Beside, preview: false });
  }
}

/** Open the repro that a minification has made, if it has. The server has told what became of it. */
export async function minified(summary: MinifySummary | undefined): Promise<void> {
  if (summary?.repro !== undefined) {
    await openRepro(summary.repro);
  }
}
