import { env, l10n } from "vscode";
import { neededPython } from "../shared/lastPython";
import { agrees, confirm, reply } from "../shared/messages";
import type { FindingNode, LayerNode, TargetNode } from "../targets/nodes";
import { BUG_REPORT, type BugReportItem, MINIFY, type MinifyOptions } from "../protocol";
import type { Server } from "../server/server";

/** The node that a menu of the view passes to a command; `undefined` from the palette. */
export type Named = TargetNode | FindingNode | LayerNode | undefined;

/** Run an analysis of a target by its command. The server, or a page of the client, shows the result. */
export async function analyze(server: Server, command: string, named: Named): Promise<void> {
  const target = targetOf(named);
  if (target !== undefined) {
    await server.command(command, target);
  }
}

/** Shrink a failure to a repro: the selected failure, else the first failure of the target. */
export async function minify(server: Server, named: Named): Promise<void> {
  const target = targetOf(named);
  if (target !== undefined) {
    const failure: MinifyOptions[] =
      named?.kind === "finding" && named.finding.minify ? [named.finding.minify] : [];
    await server.command(MINIFY, target, ...failure);
  }
}

/** Copy a bug report on a failure, in the format of a PyTorch issue. */
export async function copyBugReport(server: Server, named: Named): Promise<void> {
  const target = targetOf(named);
  if (target === undefined || !(await server.available())) {
    return;
  }
  const answer = await server.request<BugReportItem>(BUG_REPORT, { target });
  if (answer?.text === undefined) {
    reply(answer?.problem ?? l10n.t("The bug report could not be written: the output says why."));
    return;
  }
  if (await agrees(answer.holds ?? "", l10n.t("Copy"))) {
    await env.clipboard.writeText(answer.text);
    confirm(l10n.t("The bug report is on the clipboard."));
  }
}

/** The target of a command: the target that a menu passes, else the last Python file. */
export function targetOf(named: Named): string | undefined {
  if (named !== undefined) {
    switch (named.kind) {
      case "target":
        return named.item.id;
      case "layer":
        return named.layer.report.target;
      case "finding":
        return named.target;
    }
  }
  return neededPython()?.document.uri.toString();
}
