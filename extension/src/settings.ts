import { type Uri, workspace } from "vscode";

const SECTION = "fullgraph";
const INTERPRETER = "interpreter";

/** `fullgraph.interpreter` of a folder. A value of another type counts as none: the server tells the user. */
export function interpreterSetting(scope: Uri | undefined): string | undefined {
  const value: unknown = workspace.getConfiguration(SECTION, scope).get(INTERPRETER);
  return typeof value === "string" && value.trim() !== "" ? expanded(value, scope) : undefined;
}

/** The section as the server reads it, with what the Python extension says for the folder. */
export function withInterpreter(
  section: unknown,
  scope: Uri | undefined,
  activeInterpreter: string | undefined,
): unknown {
  if (typeof section !== "object" || section === null || Array.isArray(section)) {
    return section;
  }
  const settings: Record<string, unknown> = { ...section, activeInterpreter };
  const interpreter = settings[INTERPRETER];
  if (typeof interpreter === "string") {
    settings[INTERPRETER] = expanded(interpreter, scope);
  }
  return settings;
}

function expanded(path: string, scope: Uri | undefined): string {
  const folder = scope && workspace.getWorkspaceFolder(scope);
  return folder ? path.replaceAll("${workspaceFolder}", folder.uri.fsPath) : path;
}
