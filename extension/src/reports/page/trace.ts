/** The sections that only the page of a trace has: it works alone, without an editor. */

import type {
  ArtifactItem,
  ExcerptItem,
  FrameItem,
  RankItem,
  ToldFindingItem,
  TraceItem,
} from "../../protocol";
import { element, sentence, table } from "./dom";
import { severity } from "./findings";
import { count, duration } from "./format";
import { documentLink, sourceLink } from "./host";

/** Every finding with its lines, its reasons and its hints. */
export function toldFindings(section: HTMLElement, { findings }: TraceItem): void {
  section.append(element("ul", { class: "told" }, ...findings.map(toldFinding)));
}

function toldFinding({ finding, place, excerpt, notes }: ToldFindingItem): HTMLElement {
  const { message, count: times, code, kind } = finding;
  const isCounted = times > 1 && kind !== "recompile"; // a recompilation's message has the number
  const made = element(
    "li",
    {},
    element(
      "p",
      { class: "title" },
      severity(finding.severity),
      element("strong", {}, sentence(isCounted ? `${message} (×${times})` : message)),
      element("span", { class: "muted" }, `${place} ${code}`.trim()),
    ),
  );
  if (excerpt) {
    made.append(quoted(excerpt));
  }
  const told = notes.flatMap(({ label, text }) => [
    element("dt", {}, label),
    element("dd", {}, sentence(text)),
  ]);
  if (told.length > 0) {
    made.append(element("dl", { class: "notes" }, ...told));
  }
  return made;
}

/** Lines of the source with their numbers; the finding's lines are highlighted. */
function quoted({ start, lines, first, last }: ExcerptItem): HTMLElement {
  const rows = lines.map((line, index) => {
    const number = start + index;
    const own = number >= first && number <= last;
    return element(
      "span",
      { class: own ? "row own" : "row" },
      element("span", { class: "line-number" }, String(number)),
      line,
    );
  });
  return element("pre", { class: "excerpt" }, ...rows);
}

/** The ranks in their order; ranks that differ from most ranks are marked. */
export function ranks(section: HTMLElement, { report }: TraceItem): void {
  const rows = report.ranks.map((rank: RankItem) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `Rank ${rank.rank}`),
      ...[rank.compilations, rank.graphs, rank.breaks, rank.recompiles].map(number),
      element("td", { class: "number" }, duration(rank.seconds)),
      element("td", {}, rank.differs ? "differs from most others" : ""),
    ),
  );
  const head = ["Rank", "Compilations", "Graphs", "Breaks", "Recompilations", "Compile time", ""];
  section.append(element("div", { class: "scroll long" }, table(head, rows)));
}

export function functions(section: HTMLElement, { report }: TraceItem): void {
  const rows = report.frames.map((frame: FrameItem) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, frame.function),
      element("td", {}, sourceLink(frame.location)),
      ...[frame.ops, frame.breaks, frame.guards, frame.recompiles].map(number),
      element("td", { class: "number" }, duration(frame.seconds)),
    ),
  );
  const head = ["Function", "Line", "Operations", "Breaks", "Guards", "Recompilations"];
  section.append(element("div", { class: "scroll" }, table([...head, "Compile time"], rows)));
}

/** Every text that the trace holds, by compilation. */
export function documents(section: HTMLElement, { report }: TraceItem): void {
  const groups = new Map<string, ArtifactItem[]>();
  for (const artifact of report.artifacts) {
    const name = artifact.compileId || "Outside of compilations";
    groups.set(name, [...(groups.get(name) ?? []), artifact]);
  }
  section.append(
    ...[...groups].map(([name, artifacts]) =>
      element(
        "details",
        { id: `documents ${name}` },
        element("summary", {}, `${name} · ${count(artifacts.length, "document")}`),
        element(
          "ul",
          { class: "documents" },
          ...artifacts.map(({ uri, name: title, file }) =>
            element(
              "li",
              {},
              documentLink(uri, title),
              element("span", { class: "muted" }, ` ${file}`),
            ),
          ),
        ),
      ),
    ),
  );
}

function number(value: number): HTMLElement {
  return element("td", { class: "number" }, value.toLocaleString("en-US"));
}
