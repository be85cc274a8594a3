import path from "node:path";
import { ConfigurationTarget, type Uri, workspace } from "vscode";

const SECTION = "fullgraph";
const INTERPRETER = "interpreter";
const PREVIEW_PYTHON = "previewPython";
const GRAPH_MARKS = "graphMarks";
const TRACE_PATHS = "tracePaths";

/** `fullgraph.interpreter` of a folder. A value of another type counts as unset: the server reports it. */
export function interpreterSetting(scope: Uri | undefined): string | undefined {
  const value: unknown = workspace.getConfiguration(SECTION, scope).get(INTERPRETER);
  return typeof value === "string" && value.trim() !== "" ? expanded(value, scope) : undefined;
}

/** `fullgraph.graphMarks`. A value of another type counts as unset. */
export function showsGraphMarks(): boolean {
  return workspace.getConfiguration(SECTION).get(GRAPH_MARKS) !== false;
}

/** Set `fullgraph.graphMarks`: for the workspace if it is set there, else for the user. */
export async function showGraphMarks(shown: boolean): Promise<void> {
  const settings = workspace.getConfiguration(SECTION);
  const isOfWorkspace = settings.inspect(GRAPH_MARKS)?.workspaceValue !== undefined;
  const { Global, Workspace } = ConfigurationTarget;
  await settings.update(GRAPH_MARKS, shown, isOfWorkspace ? Workspace : Global);
}

/** Map a folder of another machine to one of the workspace in `fullgraph.tracePaths`. */
export async function mapTracePath(remote: string, local: Uri): Promise<void> {
  const settings = workspace.getConfiguration(SECTION);
  const mapped: unknown = settings.inspect(TRACE_PATHS)?.workspaceValue;
  const paths = { ...(typeof mapped === "object" ? mapped : {}), [remote]: localPath(local) };
  await settings.update(TRACE_PATHS, paths, ConfigurationTarget.Workspace);
}

/** A relative path if there is one workspace folder, else an absolute one, which is unambiguous. */
function localPath(folder: Uri): string {
  const [only, ...others] = workspace.workspaceFolders ?? [];
  return only === undefined || others.length > 0
    ? folder.fsPath
    : path.relative(only.uri.fsPath, folder.fsPath) || ".";
}

/** The section as the server reads it, with the Python extension's interpreter for the folder. */
export function withInterpreter(
  section: unknown,
  scope: Uri | undefined,
  activeInterpreter: string | undefined,
): unknown {
  if (typeof section !== "object" || section === null || Array.isArray(section)) {
    return section;
  }
  const settings: Record<string, unknown> = { ...section, activeInterpreter };
  for (const name of [INTERPRETER, PREVIEW_PYTHON]) {
    const path = settings[name];
    if (typeof path === "string") {
      settings[name] = expanded(path, scope);
    }
  }
  return settings;
}

function expanded(path: string, scope: Uri | undefined): string {
  const folder = scope && workspace.getWorkspaceFolder(scope);
  return folder ? path.replaceAll("${workspaceFolder}", folder.uri.fsPath) : path;
}
