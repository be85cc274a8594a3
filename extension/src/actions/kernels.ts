import {
  commands,
  l10n,
  type Location,
  type QuickPickItem,
  QuickPickItemKind,
  Range,
  type TextEditor,
  Uri,
  ViewColumn,
  window,
  workspace,
} from "vscode";
import type { Location as ServerLocation } from "vscode-languageclient";
import { ran } from "./analyze";
import { openBeside } from "./artifacts";
import { type Named, targetOf } from "./failures";
import { lastPython } from "../shared/lastPython";
import { reply } from "../shared/messages";
import {
  type DryRunOptions,
  type KernelItem,
  KERNELS,
  REPORT,
  type ReportItem,
  SHOW_EXPLANATION,
} from "../protocol";
import type { Server } from "../server/server";
import { FILES, showFile, uriOf } from "../shared/uris";
import { joined } from "../shared/words";

interface KernelPick extends QuickPickItem {
  kernel?: KernelItem;
}

/** Generate the kernels of a target, unless a layer has them, and let the user open one next to its source. */
export async function openKernels(
  server: Server,
  named: Named,
  ...options: DryRunOptions[]
): Promise<void> {
  const editor = lastPython();
  if (named?.kind === "layer") {
    await pickKernel(named.layer.report, editor);
    return;
  }
  const target = targetOf(named);
  const summary = target === undefined ? undefined : await ran(server, KERNELS, target, ...options);
  if (summary !== undefined) {
    const { layer } = summary;
    const of = { target: summary.target, ...(layer !== undefined && { layer }) };
    const report = await server.request<ReportItem>(REPORT, of);
    await pickKernel(report, editor, summary.status === "timeout");
  }
}

async function pickKernel(
  report: ReportItem | undefined,
  editor: TextEditor | undefined,
  wasStopped = false,
): Promise<void> {
  if (!report || report.kernels.length === 0) {
    tellWhyNone(report, wasStopped);
    return;
  }
  const here = (kernel: KernelItem) =>
    kernel.locations.some(
      ({ uri, range }) =>
        uri === editor?.document.uri.toString() &&
        editor.selections.some(({ active }) => contains(range, active.line)),
    );
  const picked = await window.showQuickPick<KernelPick>(kernelPicks(report.kernels, here), {
    title: l10n.t("Fullgraph: Open Generated Kernels"),
    placeHolder: l10n.t("Type to filter by name, operation or line"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked?.kernel) {
    await openBeside(picked.kernel.uri);
  }
}

/** Show why a run generated no kernel: the error or the time limit that stopped it, with its explanation. */
function tellWhyNone(report: ReportItem | undefined, wasStopped: boolean): void {
  const stopped = report?.findings.find(
    ({ kind, severity }) => kind === "target-error" && (wasStopped || severity === "error"),
  );
  if (stopped) {
    const title = l10n.t("What to Do");
    reply(stopped.message, { title, command: SHOW_EXPLANATION, arguments: [stopped.explanation] });
    return;
  }
  const nothing = l10n.t("No kernel was generated: TorchInductor compiled nothing.");
  reply(joined([nothing, ...(report?.dry?.unknown ?? [])], " "));
}

/** Kernels as a list by graph, with the kernels of the cursor's line first. */
export function kernelPicks(
  kernels: readonly KernelItem[],
  here: (kernel: KernelItem) => boolean,
): KernelPick[] {
  const own = kernels.filter((kernel) => kernel.operators !== "" && here(kernel));
  const others = kernels.filter((kernel) => !own.includes(kernel));
  return [
    ...group(l10n.t("at the cursor"), own),
    ...[...new Set(others.map(({ graph }) => graph))].flatMap((graph) =>
      group(
        graph,
        others.filter((kernel) => kernel.graph === graph),
      ),
    ),
  ];
}

/** Show a line of the user's code next to the generated code. */
export async function showSource({ uri, range }: Location | ServerLocation): Promise<void> {
  const { start, end } = range;
  const source = uriOf(uri.toString(), FILES);
  if (source) {
    await showFile(source, {
      viewColumn: ViewColumn.One,
      selection: new Range(start.line, start.character, end.line, end.character),
    });
  }
}

/** Show a line of the user's code, and VS Code's list of code actions for it. */
export async function quickFix(location: ServerLocation): Promise<void> {
  await showSource(location);
  await commands.executeCommand("editor.action.quickFix");
}

function group(label: string, kernels: readonly KernelItem[]): KernelPick[] {
  if (kernels.length === 0) {
    return [];
  }
  return [
    { label, kind: QuickPickItemKind.Separator },
    ...kernels.map((kernel) => ({
      label: kernel.name,
      description: kernel.operators,
      detail: kernel.locations.map(place).join(", "),
      kernel,
    })),
  ];
}

function place({ uri, range }: KernelItem["locations"][number]): string {
  return `${workspace.asRelativePath(Uri.parse(uri))}:${range.start.line + 1}`;
}

function contains({ start, end }: KernelItem["locations"][number]["range"], line: number): boolean {
  return start.line <= line && line <= end.line;
}
