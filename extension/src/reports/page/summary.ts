/** The summary of a report, and the times with cold and warm caches. */

import type { PerformanceItem, TimesItem, TraceItem } from "../../protocol";
import { element, table } from "./dom";
import { count, duration } from "./format";

export function summary(section: HTMLElement, report: PerformanceItem, trace?: TraceItem): void {
  const { torch, seconds, complete, compilations, kernels, times, dry } = report;
  const again = compilations.filter(({ reason }) => reason !== "").length;
  const facts = [
    ...(dry === undefined ? [] : [dry.sentence]),
    ...(torch === "" ? [] : [`torch ${torch}`]),
    trace ? `compiled in ${duration(seconds)}` : `${duration(seconds)} in total`,
    ...(trace && trace.report.ranks.length > 0 ? [count(trace.report.ranks.length, "rank")] : []),
    ...(trace?.rank === undefined
      ? []
      : [`graphs, kernels and times are those of rank ${trace.rank}`]),
    count(compilations.length, "compilation"),
    ...(again > 0 ? [count(again, "recompilation")] : []),
    ...(kernels.length > 0 ? [count(kernels.length, "kernel")] : []),
    ...(complete || dry !== undefined ? [] : ["without building kernels"]),
  ];
  section.append(
    element("ul", { class: "facts" }, ...facts.map((fact) => element("li", {}, fact))),
  );
  if (times.length > 0) {
    section.append(table(["Compiler caches", "Whole program", "Compiling"], times.map(timesRow)));
  }
}

function timesRow({ cache, seconds, compiling }: TimesItem): HTMLTableRowElement {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, cache),
    element("td", { class: "number" }, duration(seconds)),
    element("td", { class: "number" }, duration(compiling)),
  );
}
