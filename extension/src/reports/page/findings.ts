/** The findings about speed. */

import type { FindingItem, PerformanceItem } from "../../protocol";
import { element, sentence } from "./dom";
import { documentLink, sourceLink } from "./host";

const SEVERITIES: Readonly<Record<FindingItem["severity"], string>> = {
  error: "Error",
  warning: "Warning",
  information: "Hint",
};

export function findingList(section: HTMLElement, { findings }: PerformanceItem): void {
  const items = findings.map(({ severity, message, location, count, code, explanation }) =>
    element(
      "li",
      {},
      element("span", { class: `severity ${severity}` }, SEVERITIES[severity]),
      sentence(count > 1 ? `${message} (×${count})` : message),
      location ? sourceLink(location) : "",
      documentLink(explanation, code),
    ),
  );
  section.append(element("ul", { class: "findings" }, ...items));
}
