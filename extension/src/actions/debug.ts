import { debug, extensions, l10n, Uri, workspace } from "vscode";
import { type Named, targetOf } from "./failures";
import { lastPython } from "../shared/lastPython";
import { type Action, reply, showOutput } from "../shared/messages";
import { DEBUG_CONFIGURATION, type DebugItem, type DebugParams } from "../protocol";
import type { Server } from "../server/server";

const REPRO = /\/\.fullgraph\/repros\/[^/]+\.py$/;
const DEBUGGER = "ms-python.debugpy";

/**
 * Run a target in the debugger, without observing it. If it runs uncompiled, breakpoints work in all functions.
 */
export async function debugTarget(
  server: Server,
  named: Named,
  uncompiled: boolean,
): Promise<void> {
  const target = targetOf(named);
  if (target !== undefined) {
    await start(server, { target, uncompiled });
  }
}

/** Debug the repro that is open in the editor. */
export async function debugRepro(server: Server): Promise<void> {
  const document = lastPython()?.document;
  if (document && REPRO.test(document.uri.path)) {
    await start(server, { target: document.uri.toString(), uncompiled: false });
  } else {
    reply(l10n.t("There is no repro: minify a failure, or open a file in .fullgraph/repros."));
  }
}

async function start(server: Server, params: DebugParams): Promise<void> {
  if (!(await server.available())) {
    return;
  }
  const { configuration, problem } =
    (await server.request<DebugItem>(DEBUG_CONFIGURATION, params)) ?? {};
  if (configuration === undefined) {
    reply(problem ?? l10n.t("The debugger was not started: the output says why."), showOutput());
  } else if (!hasDebugger()) {
    reply(
      l10n.t("There is no debugger for Python: install the Python Debugger extension."),
      debuggerExtension(l10n.t("Install"), "workbench.extensions.installExtension"),
      debuggerExtension(l10n.t("Show Extension"), "workbench.extensions.search"),
    );
  } else {
    const folder = workspace.getWorkspaceFolder(Uri.file(configuration.cwd));
    await debug.startDebugging(folder, { ...configuration });
  }
}

/** Whether an extension provides debugpy. */
function hasDebugger(): boolean {
  return extensions.all.some(({ packageJSON }) => {
    const { contributes } = packageJSON as { contributes?: { debuggers?: { type?: string }[] } };
    return contributes?.debuggers?.some(({ type }) => type === "debugpy") ?? false;
  });
}

function debuggerExtension(title: string, command: string): Action {
  return { title, command, arguments: [DEBUGGER] };
}
