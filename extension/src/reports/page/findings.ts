/** The findings about speed. */

import type { FindingItem, PerformanceItem } from "../../protocol";
import { element, sentence } from "./dom";
import { documentLink, sourceLink } from "./host";

const SEVERITIES: Readonly<Record<FindingItem["severity"], string>> = {
  error: "Error",
  warning: "Warning",
  information: "Hint",
};

export function severity(of: FindingItem["severity"]): HTMLElement {
  return element("span", { class: `severity ${of}` }, SEVERITIES[of]);
}

export function findingList(section: HTMLElement, { findings }: PerformanceItem): void {
  const items = findings.map(({ message, location, count, code, explanation, ...finding }) =>
    element(
      "li",
      {},
      severity(finding.severity),
      sentence(count > 1 ? `${message} (×${count})` : message),
      location ? sourceLink(location) : "",
      documentLink(explanation, code),
    ),
  );
  section.append(element("ul", { class: "findings" }, ...items));
}
