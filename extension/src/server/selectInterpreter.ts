import path from "node:path";
import {
  commands,
  ConfigurationTarget,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  Uri,
  window,
  workspace,
  type WorkspaceFolder,
} from "vscode";
import { environmentsIn } from "./interpreter";
import { INTERPRETERS, type InterpreterItem } from "../protocol";
import { manageTrust, reply } from "../shared/messages";
import { joined, shortVersion } from "../shared/words";
import { interpreterPicker, type PythonExtensions } from "./python";
import type { Server } from "./server";
import { interpreterSetting } from "./settings";

interface Choice extends QuickPickItem {
  /** The action of the choice. */
  take?: () => Promise<void>;
}

/** Let the user select the Python that runs a folder's targets: the setting `fullgraph.interpreter`. */
export async function selectInterpreter(server: Server, python: PythonExtensions): Promise<void> {
  if (!workspace.isTrusted) {
    reply(
      l10n.t("In Restricted Mode no interpreter is used: trust this workspace first."),
      manageTrust(),
    );
    return;
  }
  const folders = workspace.workspaceFolders ?? [];
  const folder =
    folders.length > 1
      ? await window.showWorkspaceFolderPick({
          placeHolder: l10n.t("Select the folder to set the interpreter for"),
        })
      : folders[0];
  if (folders.length > 1 && folder === undefined) {
    return;
  }
  const current = interpreterSetting(folder?.uri);
  const picked = await window.showQuickPick(choices(folder, server, python), {
    title: l10n.t("Fullgraph: Select Interpreter"),
    placeHolder: current ?? l10n.t("A Python with torch, to run your programs"),
    matchOnDescription: true,
  });
  await picked?.take?.();
}

async function choices(
  folder: WorkspaceFolder | undefined,
  server: Server,
  python: PythonExtensions,
): Promise<Choice[]> {
  const uri = (folder?.uri ?? window.activeTextEditor?.document.uri)?.toString() ?? "";
  const known = await python.known();
  const items = await server.request<InterpreterItem[]>(INTERPRETERS, { uri, known });
  const list =
    items?.map((item, index) => choiceOf(item, index === 0, folder)) ??
    (await withoutServer(folder, python)).map((item) => choiceOf(item, false, folder));
  list.push(
    { label: "", kind: QuickPickItemKind.Separator },
    { label: l10n.t("$(edit) Enter path…"), take: () => enter(folder) },
    { label: l10n.t("$(folder-opened) Browse…"), take: () => browse(folder) },
  );
  const picker = interpreterPicker();
  if (picker !== undefined) {
    list.push({
      label: l10n.t("$(python) Select in the Python extension…"),
      take: async () => {
        await write(folder, undefined);
        await commands.executeCommand(picker);
      },
    });
  }
  list.push({
    label: l10n.t("$(discard) Use the default"),
    description: l10n.t("pyproject.toml, the Python extension, .venv, or python3"),
    take: () => write(folder, undefined),
  });
  return list;
}

/** The interpreters that can be found without a server: the server needs one to start. */
async function withoutServer(
  folder: WorkspaceFolder | undefined,
  python: PythonExtensions,
): Promise<InterpreterItem[]> {
  const active = await python.interpreter(folder?.uri);
  const environments = folder ? environmentsIn(folder.uri.fsPath) : [];
  return [
    ...environments.map((program) => ({ path: program, origin: l10n.t("found in the folder") })),
    ...(active !== undefined && !environments.includes(active)
      ? [{ path: active, origin: l10n.t("selected in the Python extension") }]
      : []),
  ];
}

function choiceOf(
  { path: program, origin, python, torch, problem }: InterpreterItem,
  isUsed: boolean,
  folder: WorkspaceFolder | undefined,
): Choice {
  const inside = folder && path.relative(folder.uri.fsPath, program);
  const name = inside === undefined || inside.startsWith("..") ? program : inside;
  const versions = python === undefined ? "" : `Python ${shortVersion(python)}`;
  const torchVersion = torch === undefined ? l10n.t("no torch") : `torch ${shortVersion(torch)}`;
  return {
    label: name,
    description: joined([
      isUsed ? l10n.t("in use") : "",
      versions,
      python === undefined ? "" : torchVersion,
      origin,
    ]),
    // The description already says that torch is missing.
    ...(python === undefined && problem !== undefined && { detail: problem }),
    take: () => write(folder, name),
  };
}

async function enter(folder: WorkspaceFolder | undefined): Promise<void> {
  const typed = await window.showInputBox({
    title: l10n.t("Fullgraph: Select Interpreter"),
    prompt: l10n.t("The path of a Python, or the folder of an environment"),
    placeHolder: ".venv/bin/python",
    value: interpreterSetting(folder?.uri) ?? "",
    ignoreFocusOut: true,
  });
  if (typed?.trim()) {
    await write(folder, typed.trim());
  }
}

async function browse(folder: WorkspaceFolder | undefined): Promise<void> {
  const chosen = await window.showOpenDialog({
    title: l10n.t("Fullgraph: Select Interpreter"),
    openLabel: l10n.t("Select"),
    ...(folder && { defaultUri: Uri.joinPath(folder.uri) }),
  });
  if (chosen?.[0]) {
    await write(folder, chosen[0].fsPath);
  }
}

async function write(
  folder: WorkspaceFolder | undefined,
  interpreter: string | undefined,
): Promise<void> {
  const several = (workspace.workspaceFolders?.length ?? 0) > 1;
  const target =
    folder === undefined
      ? ConfigurationTarget.Global
      : several
        ? ConfigurationTarget.WorkspaceFolder
        : ConfigurationTarget.Workspace;
  const settings = workspace.getConfiguration("fullgraph", folder?.uri);
  await settings.update("interpreter", interpreter, target);
}
