import { l10n, type Memento, Uri, window } from "vscode";
import { askArguments, targetOfFile } from "./choose";
import { neededPython } from "../shared/lastPython";
import { reply, selectInterpreter, showOutput, tell } from "../shared/messages";
import {
  type DryRunOptions,
  RAISE_LIMIT,
  REPORT,
  type ReportItem,
  RUN,
  type RunSummary,
  type TargetItem,
  TARGETS,
} from "../protocol";
import type { Server } from "../server/server";
import { findingCount, ignoredFindings, isTrace } from "../shared/words";

const SHOWN = 5000;
/** Statuses that need no summary: the user stopped the run, or a message says why it did not start. */
const SILENT = ["cancelled", "not-started"];

/** Analyze the files that a menu passes, else the last Python file. */
export async function analyzeFiles(
  server: Server,
  memory: Memento,
  named: readonly Uri[],
): Promise<void> {
  if (named.length > 1) {
    await Promise.all(named.map((each) => runTarget(server, each.toString())));
    return;
  }
  const uri = named[0] ?? neededPython()?.document.uri;
  if (uri !== undefined && (await server.available())) {
    await runChosen(server, await targetOfFile(server, memory, uri));
  }
}

/** Analyze the last Python file as a script, with arguments that the user types. */
export async function analyzeWithArguments(server: Server, memory: Memento): Promise<void> {
  const uri = neededPython()?.document.uri;
  if (uri !== undefined) {
    await runChosen(server, await askArguments(memory, uri.fsPath));
  }
}

async function runChosen(server: Server, target: string | undefined): Promise<void> {
  if (target !== undefined) {
    await runTarget(server, target);
  }
}

/** Analyze a target of the view or the quick pick. */
export async function analyzeTarget(server: Server, target: TargetItem): Promise<void> {
  await runTarget(server, target.id);
}

/** Analyze the test that the cursor is in. */
export async function analyzeTest(server: Server): Promise<void> {
  const editor = neededPython();
  if (editor === undefined || !(await server.available())) {
    return;
  }
  const textDocument = { uri: editor.document.uri.toString() };
  const targets = (await server.request<TargetItem[]>(TARGETS, { textDocument })) ?? [];
  const test = testAt(targets, editor.selection.active.line);
  if (test) {
    await analyzeTarget(server, test);
  } else {
    reply(l10n.t("There is no test at the cursor: move the cursor into a test function first."));
  }
}

/** Show why a target could not be started: usually its interpreter is missing, or has no torch. */
export async function tellWhyNotStarted(server: Server, target: string): Promise<void> {
  const report = await server.request<ReportItem>(REPORT, { target });
  const reason = report?.findings.find(({ kind }) => kind === "target-error");
  if (reason) {
    tell(reason.message, ...(isTrace(target) ? [] : [selectInterpreter(), showOutput()]));
  }
}

/** The innermost test around a line. */
export function testAt(targets: readonly TargetItem[], line: number): TargetItem | undefined {
  const height = ({ range }: TargetItem) => (range ? range.end.line - range.start.line : Infinity);
  return targets
    .filter(({ kind, range }) => kind === "pytest" && range && contains(range, line))
    .toSorted((one, other) => height(one) - height(other))[0];
}

function contains({ start, end }: NonNullable<TargetItem["range"]>, line: number): boolean {
  return start.line <= line && line <= end.line;
}

/** Run a target with a command; return `undefined` if there is nothing to report. */
export async function ran(
  server: Server,
  command: string,
  target: string,
  ...options: DryRunOptions[]
): Promise<RunSummary | undefined> {
  const summary = (await server.available())
    ? ((await server.command(command, target, ...options)) as RunSummary | undefined)
    : undefined;
  return summary && SILENT.includes(summary.status) ? undefined : summary;
}

/** Show the number of findings for a moment, or that there was nothing to find them in. */
export function tellFindings(findings: number, compiled = true, ignored = 0): void {
  const none = ignoredFindings(ignored) || l10n.t("no findings");
  const nothing = compiled ? none : l10n.t("nothing was compiled");
  const icon = findings > 0 ? "$(search)" : compiled ? "$(pass)" : "$(circle-slash)";
  const text = findings > 0 ? findingCount(findings) : nothing;
  window.setStatusBarMessage(`${icon} Fullgraph: ${text}`, SHOWN);
}

/** Run a target, with options if given, and show the number of findings. */
export async function runTarget(
  server: Server,
  target: string,
  ...options: DryRunOptions[]
): Promise<void> {
  tellSummary(await ran(server, RUN, target, ...options));
}

/** Run a target again that was stopped at its time limit, with a higher one. */
export async function raiseLimit(server: Server, { id }: TargetItem): Promise<void> {
  tellSummary(await ran(server, RAISE_LIMIT, id));
}

function tellSummary(summary: RunSummary | undefined): void {
  if (summary !== undefined) {
    tellFindings(summary.findings, summary.compiled, summary.ignored);
  }
}
