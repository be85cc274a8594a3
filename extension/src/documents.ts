import { type TextDocument, type Uri, workspace } from "vscode";

/** Save a Python file that has unsaved changes: programs run from disk. */
export async function saveIfChanged(document: TextDocument | undefined): Promise<void> {
  if (document?.isDirty && document.languageId === "python" && document.uri.scheme === "file") {
    await document.save();
  }
}

/** The document of a file, if it is open. */
export function openDocument(uri: Uri): TextDocument | undefined {
  return workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
}
