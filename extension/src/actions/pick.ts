import {
  commands,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  Uri,
  window,
  workspace,
} from "vscode";
import { type TargetItem, TARGETS } from "../protocol";
import type { Server } from "../server/server";
import { stateSummary } from "../shared/words";

interface TargetPick extends QuickPickItem {
  target?: TargetItem;
  /** The action of an item that is not a target. */
  command?: string;
}

interface PickOptions {
  qualifies?: (target: TargetItem) => boolean;
  /** The description behind a target's name; its state by default. */
  describe?: (target: TargetItem) => string;
  /** Further items, which are not targets. */
  others?: readonly TargetPick[];
}

/** Let the user pick one of the targets that qualify. */
export async function pickTarget(
  server: Server,
  title: string,
  { qualifies = () => true, describe = stateOf, others = [] }: PickOptions = {},
): Promise<TargetItem | undefined> {
  if (!(await server.available())) {
    return undefined;
  }
  const picks = server
    .request<TargetItem[]>(TARGETS, {})
    .then((targets = []) => [...others, ...targetPicks(targets.filter(qualifies), describe)]);
  const picked = await window.showQuickPick<TargetPick>(picks, {
    title,
    placeHolder: l10n.t("Type to filter by name"),
  });
  if (picked?.command !== undefined) {
    await commands.executeCommand(picked.command);
  }
  return picked?.target;
}

/** Targets as a list: configured targets first, in the server's order, then all other targets by file. */
export function targetPicks(
  targets: readonly TargetItem[],
  describe: (target: TargetItem) => string = stateOf,
): TargetPick[] {
  if (targets.length === 0) {
    return [
      {
        label: l10n.t("No targets found"),
        detail: l10n.t("Open the walkthrough to see how to add one"),
        command: "fullgraph.openWalkthrough",
      },
    ];
  }
  return targets.flatMap((target, index) => {
    const before = targets[index - 1];
    const group = groupOf(target);
    const pick = { label: target.label, description: describe(target), target };
    return before !== undefined && groupOf(before) === group
      ? [pick]
      : [{ label: group, kind: QuickPickItemKind.Separator }, pick];
  });
}

function stateOf({ state }: TargetItem): string {
  return state === undefined ? "" : stateSummary(state);
}

function groupOf({ configured, folder, uri }: TargetItem): string {
  const several = (workspace.workspaceFolders?.length ?? 0) > 1;
  if (!configured) {
    return workspace.asRelativePath(Uri.parse(uri), several);
  }
  const name = workspace.getWorkspaceFolder(Uri.parse(folder))?.name;
  return several && name !== undefined ? `${name}/pyproject.toml` : "pyproject.toml";
}
