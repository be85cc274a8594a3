import { arch, platform, release } from "node:os";
import { env, type ExtensionContext, l10n, version, window, workspace } from "vscode";
import { confirm } from "../shared/messages";
import { ENVIRONMENT } from "../protocol";
import type { Server } from "./server";

/** Copy the versions and the environment for a bug report, as far as they are available. */
export async function copyEnvironment(server: Server, extension: ExtensionContext): Promise<void> {
  const { version: own } = extension.extension.packageJSON as { version: string };
  const { state } = server;
  const uri = window.activeTextEditor?.document.uri ?? workspace.workspaceFolders?.[0]?.uri;
  const answer = uri && (await server.request<string>(ENVIRONMENT, { uri: uri.toString() }));
  const lines = [
    `Fullgraph ${own}`,
    `${env.appName} ${version} (${env.remoteName ?? env.appHost})`,
    `${platform()} ${release()} ${arch()}`,
    state.kind === "ready"
      ? `server: Python ${state.python.version} (${state.python.path})`
      : `server: ${"message" in state ? state.message : state.kind}`,
    "",
    answer ?? "",
  ];
  await env.clipboard.writeText(`${lines.join("\n").trim()}\n`);
  confirm(l10n.t("The environment report is on the clipboard."));
}
