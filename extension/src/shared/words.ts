import { l10n } from "vscode";
import {
  ENDINGS,
  type FindingItem,
  type FrameItem,
  KINDS,
  type LayerItem,
  type RankItem,
  type ReportItem,
  type TargetItem,
} from "../protocol";

export type RunState = NonNullable<TargetItem["state"]>;

/** The parts that are not empty, on one line. */
export function joined(parts: readonly (string | undefined)[], separator = " · "): string {
  return parts.filter((part) => part !== undefined && part !== "").join(separator);
}

/** Whether a target is running or queued. */
export function isOn(state: RunState | undefined): boolean {
  return state === "queued" || state === "running";
}

/** Whether an id belongs to a trace, which is read, not run. */
export function isTrace(target: string): boolean {
  return target.startsWith("trace:");
}

/** A report in a few words: `dry run · 2 graph breaks · 4 ranks · ran 0.4 s · files discarded`. */
export function reportSummary({
  target,
  frames,
  findings,
  ranks,
  seconds,
  dry,
  ignored = 0,
  leftOut,
  files,
}: ReportItem): string {
  const numbers = new Map<string, number>();
  for (const finding of findings) {
    const name = summed(finding);
    const number = KINDS[finding.kind].sumsCompilations ? finding.count : 1;
    numbers.set(name, (numbers.get(name) ?? 0) + number);
  }
  const of = (name: string) => numbers.get(name) ?? 0;
  const [breaks, ...others] = Object.entries(KINDS).map(([kind, names]) => named(of(kind), names));
  const counts = joined([
    failures(of("failure")),
    breaks,
    eagerFunctions(of("eager")),
    ...others,
    named(of("problem"), KINDS["target-error"]),
  ]);
  const compiled = frames.some(({ graphs }) => graphs.length > 0);
  const nothing = !compiled
    ? l10n.t("nothing was compiled")
    : ignored === 0
      ? l10n.t("no graph breaks")
      : findings.every(isNote)
        ? l10n.t("no other findings")
        : l10n.t("no other graph breaks"); // there may be hints, which are not counted here
  return joined([
    dry?.label,
    counts === "" ? joined([nothing, leftOut]) : counts,
    ignoredFindings(ignored),
    ranks.length > 1 ? l10n.t("{0} ranks", grouped(ranks.length)) : "",
    // A trace does not say how long its program ran.
    !isTrace(target) ? ran(seconds) : compiled ? compiledIn(seconds) : "",
    files === undefined ? "" : l10n.t("files discarded"),
  ]);
}

/** Whether a finding is a note on the run, not a problem of the program. */
function isNote({ kind, severity }: FindingItem): boolean {
  return kind === "target-error" && severity === "information";
}

/** The name under which a summary counts a finding: its kind, or one of several kinds; empty if not counted. */
function summed({ kind, severity }: FindingItem): string {
  const { summary } = KINDS[kind];
  switch (summary) {
    case "itself":
      return kind;
    case "eager":
      return severity === "error" ? "failure" : summary;
    // A warning, such as an assumption of `draft_export`, is not a failure; a note is not a problem.
    case "problem":
      return severity === "error" ? "failure" : severity === "warning" ? summary : "";
    default:
      return summary;
  }
}

/** A layer in a few words: its verdict, or the numbers of its report, and its time. */
export function layerSummary({ report, verdict }: LayerItem): string {
  if (verdict !== undefined) {
    return joined([verdict, ran(report.seconds)]);
  }
  const numbers = { ...report };
  delete numbers.dry; // the layer's label already says it
  return reportSummary(numbers);
}

/** A function in a few words: `2 graphs · 1 graph break · 34 guards · compiled in 0.2 s`. */
export function frameSummary(frame: FrameItem): string {
  return joined([
    graphs(frame.graphs.length),
    named(frame.breaks, KINDS["graph-break"]),
    guards(frame.guards),
    named(frame.recompiles, KINDS.recompile),
    compiledIn(frame.seconds),
  ]);
}

/** The ranks of a job: `64 · rank 3 differs`. */
export function ranksSummary(all: readonly RankItem[]): string {
  const [first, ...others] = all.filter(({ differs }) => differs);
  const different =
    first === undefined
      ? ""
      : others.length === 0
        ? l10n.t("rank {0} differs", first.rank)
        : l10n.t("{0} differ", grouped(others.length + 1));
  return joined([grouped(all.length), different]);
}

/** A rank in a few words: `4 compilations · 2 graphs · 1 graph break · 2 recompilations`. */
export function rankSummary(rank: RankItem): string {
  return joined([
    compilations(rank.compilations),
    graphs(rank.graphs),
    named(rank.breaks, KINDS["graph-break"]),
    named(rank.recompiles, KINDS.recompile),
  ]);
}

/** The state of a target; empty for an end that its report describes. */
export function stateSummary(state: RunState): string {
  switch (state) {
    case "queued":
      return l10n.t("queued");
    case "running":
      return l10n.t("running");
    default:
      return ENDINGS[state] ?? "";
  }
}

export function operations(number: number): string {
  return number === 1 ? l10n.t("1 op") : l10n.t("{0} ops", grouped(number));
}

export function failed(times: number): string {
  return times === 1 ? l10n.t("failed once") : l10n.t("failed {0} times", grouped(times));
}

export function findingCount(number: number): string {
  return number === 1 ? l10n.t("1 finding") : l10n.t("{0} findings", grouped(number));
}

/** How many findings comments ignore; empty if they ignore none. */
export function ignoredFindings(number: number): string {
  return some(number, l10n.t("1 finding ignored"), l10n.t("{0} findings ignored", grouped(number)));
}

/** The major and minor version: `2.13` for `2.13.0+cpu`. */
export function shortVersion(version: string): string {
  return /^\d+\.\d+/.exec(version)?.[0] ?? version;
}

function graphs(number: number): string {
  return counted(number, l10n.t("1 graph"), l10n.t("{0} graphs", grouped(number)));
}

function compilations(number: number): string {
  return counted(number, l10n.t("1 compilation"), l10n.t("{0} compilations", grouped(number)));
}

function guards(number: number): string {
  return counted(number, l10n.t("1 guard"), l10n.t("{0} guards", grouped(number)));
}

function counted(number: number, one: string, many: string): string {
  return number === 1 ? one : many;
}

/** A count that is shown only if it is not zero. */
function some(number: number, one: string, many: string): string {
  return number === 0 ? "" : counted(number, one, many);
}

/** A number of findings of a kind; empty if there are none. */
function named(number: number, { one, many }: (typeof KINDS)["accuracy"]): string {
  return some(number, `1 ${one}`, `${grouped(number)} ${many}`);
}

function failures(number: number): string {
  return some(number, l10n.t("1 failure"), l10n.t("{0} failures", grouped(number)));
}

/** Functions that run eagerly, since a limit of recompilations was hit or their frame was skipped. */
function eagerFunctions(number: number): string {
  return some(
    number,
    l10n.t("1 function runs eagerly"),
    l10n.t("{0} functions run eagerly", grouped(number)),
  );
}

/** How long the program of a run took, from its first line to its last. */
function ran(seconds: number): string {
  return l10n.t("ran {0} s", seconds.toFixed(1));
}

/** How long the compiler took. */
function compiledIn(seconds: number): string {
  return l10n.t("compiled in {0} s", seconds.toFixed(1));
}

export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}
