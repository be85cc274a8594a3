/** The compiler's caches: graphs found, missed and left out, with the reasons. */

import type { CacheCountItem, CacheUseItem, PerformanceItem } from "../../protocol";
import { element, sentence, table } from "./dom";
import { sourceLink } from "./host";

export function cacheTable(section: HTMLElement, { caches }: PerformanceItem): void {
  if (caches === undefined) {
    return;
  }
  const { counts, notes, uses, warm } = caches;
  section.append(
    table(
      [warm ? "Warm cache" : "Cache", "Found", "Missed", "Left out"],
      counts.map((item) => countRow(item)),
    ),
  );
  if (uses.length > 0) {
    section.append(element("ul", { class: "findings" }, ...uses.map((use) => useItem(use))));
  }
  section.append(...notes.map((note) => element("p", { class: "note" }, note)));
}

function countRow({ name, hits, misses, bypasses }: CacheCountItem): HTMLTableRowElement {
  const numbers = [hits, misses, bypasses].map((number) =>
    element("td", { class: "number" }, number.toLocaleString("en-US")),
  );
  return element("tr", {}, element("th", { scope: "row" }, name), ...numbers);
}

function useItem({ label, sentences, location, source }: CacheUseItem): HTMLElement {
  return element(
    "li",
    {},
    `${label}: `,
    sentence(sentences),
    sourceLink(location),
    source ? sourceLink(source) : "",
  );
}
