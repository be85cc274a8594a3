import path from "node:path";
import { l10n, Uri, window, workspace } from "vscode";
import { reply } from "../shared/messages";
import type { TargetNode } from "../targets/nodes";
import { REPORT, type ReportItem, type TargetItem, TARGETS } from "../protocol";
import type { Server } from "../server/server";
import { mapTracePath } from "../server/settings";

/** Installed libraries: their files are not the user's own. */
const LIBRARY = /\/(?:site|dist)-packages\/|\/lib\/python3[.\d]*\//;

/**
 * Let the user say which folder of the workspace one of another machine is: the setting
 * `fullgraph.tracePaths`. Traces that are open are read again when that has changed.
 */
export async function mapRemoteFolder(
  server: Server,
  named: TargetNode | undefined,
): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    reply(l10n.t("There is no folder to map to: open the one with the source first."));
    return;
  }
  const title = l10n.t("Fullgraph: Map a Remote Folder");
  const remote = await window.showInputBox({
    title,
    prompt: l10n.t("The folder on the machine that the trace was made on"),
    placeHolder: "/home/user/project",
    value: remoteFolder(named ? [named.report] : await openReports(server)),
    ignoreFocusOut: true,
  });
  if (!remote?.trim()) {
    return;
  }
  const [local] =
    (await window.showOpenDialog({
      title: l10n.t("What {0} is in this workspace", remote.trim()),
      openLabel: l10n.t("Map"),
      canSelectFiles: false,
      canSelectFolders: true,
      defaultUri: folder,
    })) ?? [];
  if (local && !workspace.getWorkspaceFolder(local)) {
    reply(l10n.t("{0} is not in this workspace: choose a folder of it.", local.fsPath));
  } else if (local) {
    await mapTracePath(remote.trim(), local);
  }
}

/** The folder that holds all of the functions that reports tell of and that are not here; empty if all are. */
export function remoteFolder(reports: readonly (ReportItem | undefined)[]): string {
  const elsewhere = reports
    .flatMap((report) => report?.frames ?? [])
    .map(({ location }) => location.uri)
    .filter((uri) => !isHere(uri))
    .map((uri) => Uri.parse(uri).fsPath)
    .filter((file) => path.isAbsolute(file) && !LIBRARY.test(file.replaceAll("\\", "/")));
  return elsewhere.map((file) => path.dirname(file)).reduce(commonFolder, "");
}

/** Whether a file is one of the workspace. */
export function isHere(uri: string): boolean {
  return workspace.getWorkspaceFolder(Uri.parse(uri)) !== undefined;
}

function commonFolder(one: string, other: string): string {
  if (one === "") {
    return other;
  }
  const [parts, others] = [one.split(path.sep), other.split(path.sep)];
  const end = parts.findIndex((part, index) => part !== others[index]);
  return end < 0 ? one : parts.slice(0, end).join(path.sep);
}

async function openReports(server: Server): Promise<(ReportItem | undefined)[]> {
  const targets = (await server.request<TargetItem[]>(TARGETS, {})) ?? [];
  const traces = targets.filter(({ kind }) => kind === "trace");
  return Promise.all(traces.map(({ id }) => server.request<ReportItem>(REPORT, { target: id })));
}
