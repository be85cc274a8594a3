import {
  commands,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  Uri,
  ViewColumn,
  window,
  workspace,
} from "vscode";
import { ran } from "./analyze";
import { type Named, targetOf } from "./failures";
import { reply } from "../shared/messages";
import { type ArtifactItem, ASSEMBLY, REPORT, type ReportItem } from "../protocol";
import type { Server } from "../server/server";
import { CODE, uriOf } from "../shared/uris";

interface ArtifactPick extends QuickPickItem {
  artifact?: ArtifactItem;
}

/** Compiled forms of a kernel: machine code, and Triton's intermediate forms. */
const COMPILED = /\.(s|ptx|sass|ttir|ttgir|llir)$/;

/** Build all kernels of a target, and let the user open a compiled form of one next to its source. */
export async function openAssembly(server: Server, named: Named): Promise<void> {
  const target = targetOf(named);
  const summary = target === undefined ? undefined : await ran(server, ASSEMBLY, target);
  if (summary === undefined) {
    return;
  }
  const report = await server.request<ReportItem>(REPORT, { target: summary.target });
  const picks = assemblyPicks(report?.artifacts ?? []);
  if (picks.length === 0) {
    reply(l10n.t("No kernel was built: the output says why."));
    return;
  }
  const picked = await window.showQuickPick<ArtifactPick>(picks, {
    title: l10n.t("Fullgraph: Open Compiled Kernels (Assembly)"),
    placeHolder: l10n.t("Type to filter by name or file"),
    matchOnDescription: true,
  });
  if (picked?.artifact) {
    await openBeside(picked.artifact.uri);
  }
}

/** Open an artifact of the compiler next to its source. */
export async function openBeside(uri: string): Promise<void> {
  const code = uriOf(uri, CODE);
  if (code === undefined) {
    return;
  }
  const document = await workspace.openTextDocument(code);
  await window.showTextDocument(document, { viewColumn: ViewColumn.Beside });
}

/** The compiled forms of kernels, as a list by graph. */
export function assemblyPicks(artifacts: readonly ArtifactItem[]): ArtifactPick[] {
  const compiled = artifacts.filter(({ uri }) => COMPILED.test(Uri.parse(uri).path));
  const groupOf = ({ compileId, phase }: ArtifactItem) => `${compileId} ${phase}`.trim();
  return compiled.flatMap((artifact, index) => {
    const before = compiled[index - 1];
    const group = groupOf(artifact);
    const pick = { label: artifact.name, description: artifact.file, artifact };
    return before && groupOf(before) === group
      ? [pick]
      : [{ label: group, kind: QuickPickItemKind.Separator }, pick];
  });
}

/** Show the changes of a document since the previous run. */
export async function compareWithPrevious(artifact: ArtifactItem): Promise<void> {
  if (artifact.previous !== undefined) {
    const title = l10n.t("{0} (previous run ↔ last run)", artifact.name);
    const [before, after] = [artifact.previous, artifact.uri].map((uri) => Uri.parse(uri));
    await commands.executeCommand("vscode.diff", before, after, title);
  }
}
