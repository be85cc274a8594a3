/** The compilations of each function over time, with the reasons for recompilations. */

import type { CompilationItem, PerformanceItem } from "../../protocol";
import { element, sentence, table } from "./dom";
import { duration } from "./format";
import { sourceLink } from "./host";

/** Without the steps of the compiler, the start of a compilation is unknown. */
export function timeline(section: HTMLElement, { compilations, phases }: PerformanceItem): void {
  const isTimed = phases.length > 0;
  const ends = [...compilations, ...phases].map(({ start, seconds }) => start + seconds);
  const whole = Math.max(...ends);
  const rows = compilations.map((item) =>
    element(
      "tr",
      {},
      element("td", {}, item.compileId),
      element("td", {}, sourceLink(item.location, item.function)),
      ...(isTimed
        ? [
            element("td", { class: "when" }, bar(item, whole)),
            element("td", { class: "number" }, duration(item.start)),
          ]
        : []),
      element("td", { class: "number" }, duration(item.seconds)),
      element(
        "td",
        { class: "reason" },
        item.reason === "" ? "first compilation" : sentence(item.reason),
      ),
    ),
  );
  const when = isTimed ? ["Over time", "Start"] : [];
  const head = ["Compilation", "Function", ...when, "Time", "Reason"];
  section.append(element("div", { class: "scroll" }, table(head, rows)));
}

function bar({ start, seconds, reason }: CompilationItem, whole: number): HTMLElement {
  const made = element("div", { class: reason === "" ? "span" : "span again" });
  made.style.left = `${(100 * start) / whole}%`;
  made.style.width = `${(100 * seconds) / whole}%`;
  return element("div", { class: "track", "aria-hidden": "true" }, made);
}
