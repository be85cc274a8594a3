/** The table of kernels, with their costs. */

import "sortable-tablesort/dist/sortable.auto.min.js";
import type { KernelRow, PerformanceItem } from "../../protocol";
import { element } from "./dom";
import { documentLink, sourceLinks } from "./host";
import { type Column, columnsOf, MOVED } from "./kernelColumns";

export function kernelTable(section: HTMLElement, { kernels, dry }: PerformanceItem): void {
  section.append(...(dry?.unknown ?? []).map((text) => element("p", { class: "nothing" }, text)));
  const columns = columnsOf(kernels);
  const titles = ["Kernel", ...columns.map(({ title }) => title)];
  const head = titles.map((title) => {
    const header = element("th", { scope: "col" }, title);
    if (title === MOVED) {
      header.ariaSort = "descending";
    }
    return header;
  });
  const made = element(
    "table",
    { class: "sortable n-last" },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...kernels.map((kernel) => row(kernel, columns))),
  );
  // The library sorts a table when the table itself is added to the page.
  const scroll = element("div", { class: "scroll" });
  section.append(scroll);
  scroll.append(made);
}

function row(kernel: KernelRow, columns: readonly Column[]): HTMLTableRowElement {
  const cells = columns.map(({ cell }) => {
    const { text = "", order, locations = [] } = cell(kernel) ?? {};
    return order === undefined
      ? element("td", {}, text, sourceLinks(locations))
      : element("td", { class: "number", "data-sort": String(order) }, text);
  });
  const name = element("th", { scope: "row" }, documentLink(kernel.uri, kernel.name));
  return element("tr", {}, name, ...cells);
}
