// Repros that a minification has written.
import { ViewColumn, window } from "vscode";
import type { MinifySummary } from "../protocol";
import { FILES, uriOf } from "./uris";

/** Open a repro next to its source. */
export async function openRepro(uri: string): Promise<void> {
  const repro = uriOf(uri, FILES);
  if (repro) {
    await window.showTextDocument(repro, { viewColumn: ViewColumn.Beside, preview: false });
  }
}

/** Open the repro of a minification, if there is one. The server shows the outcome itself. */
export async function minified(summary: MinifySummary | undefined): Promise<void> {
  if (summary?.repro !== undefined) {
    await openRepro(summary.repro);
  }
}
