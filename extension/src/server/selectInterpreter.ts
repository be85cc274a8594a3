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
import { manageTrust, reply } from "../shared/messages";
import { interpreterPicker, type PythonExtensions } from "./python";
import { interpreterSetting } from "./settings";

interface Choice extends QuickPickItem {
  /** The action of the choice. */
  take?: () => Promise<void>;
}

/** Let the user select the Python that runs a folder's targets: the setting `fullgraph.interpreter`. */
export async function selectInterpreter(python: PythonExtensions): Promise<void> {
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
  const picked = await window.showQuickPick(choices(folder, python), {
    title: l10n.t("Fullgraph: Select Interpreter"),
    placeHolder: current ?? l10n.t("A Python with torch, to run your programs"),
    matchOnDescription: true,
  });
  await picked?.take?.();
}

async function choices(
  folder: WorkspaceFolder | undefined,
  python: PythonExtensions,
): Promise<Choice[]> {
  const active = await python.interpreter(folder?.uri);
  const environments = folder ? environmentsIn(folder.uri.fsPath) : [];
  const list: Choice[] = environments.map((program) => {
    const name = folder ? path.relative(folder.uri.fsPath, program) : program;
    return {
      label: name,
      description: l10n.t("found in the folder"),
      take: () => write(folder, name),
    };
  });
  if (active !== undefined && !environments.includes(active)) {
    const description = l10n.t("selected in the Python extension");
    list.push({ label: active, description, take: () => write(folder, active) });
  }
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
