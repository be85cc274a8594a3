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
 * Let the user map a folder of another machine to one of the workspace: the setting
 * `fullgraph.tracePaths`. Open traces are read again when it changes.
 */
export async function mapRemoteFolder(
  server: Server,
  named: TargetNode | undefined,
): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    reply(l10n.t("No folder is open: open the folder with the source of the trace first."));
    return;
  }
  const title = l10n.t("Fullgraph: Map a Remote Folder");
  const remote = await window.showInputBox({
    title,
    prompt: l10n.t("The folder on the machine that wrote the trace"),
    placeHolder: "/home/user/project",
    value: remoteFolder(named ? [named.report] : await openReports(server)),
    ignoreFocusOut: true,
  });
  if (!remote?.trim()) {
    return;
  }
  const [local] =
    (await window.showOpenDialog({
      title: l10n.t("Select the Folder for {0}", remote.trim()),
      openLabel: l10n.t("Map"),
      canSelectFiles: false,
      canSelectFolders: true,
      defaultUri: folder,
    })) ?? [];
  if (local && !workspace.getWorkspaceFolder(local)) {
    reply(l10n.t("{0} is not in this workspace: choose a folder in the workspace.", local.fsPath));
  } else if (local) {
    await mapTracePath(remote.trim(), local);
  }
}

/** The common folder of all functions in reports that are not in the workspace; empty if all are. */
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
