/** How fast compiled calls are: a sentence, the parts of their time as a bar, and what causes them. */

import type { PerformanceItem, SpeedCauseItem, SpeedItem, SpeedPartItem } from "../../protocol";
import { element, sentence, table } from "./dom";
import { count, duration, share } from "./format";
import { sourceLink } from "./host";

/** The smallest share of a part that has room for its text. */
const LEGIBLE = 0.08;

export function speedOfCalls(section: HTMLElement, { speed }: PerformanceItem): void {
  if (speed === undefined) {
    return;
  }
  const { causes, notes, parts, verdict } = speed;
  section.append(
    element("p", { class: "verdict" }, sentence(verdict)),
    element("ul", { class: "facts" }, ...facts(speed).map((fact) => element("li", {}, fact))),
  );
  if (parts.length > 0) {
    section.append(bar(parts), legend(parts));
  }
  if (causes.length > 0) {
    section.append(
      element("h3", {}, "What takes the time, and how much of it could go"),
      element("ul", { class: "causes" }, ...causes.map((cause) => causeItem(cause, speed))),
    );
  }
  section.append(...notes.map((note) => element("p", { class: "note" }, sentence(note))));
}

/** The measurement in a few words. */
export function facts({ compiled, eager, low, high, samples }: SpeedItem): string[] {
  if (compiled === 0) {
    return [];
  }
  const ofCompiled = `a call takes ${duration(compiled)}`;
  if (eager === 0) {
    return [ofCompiled];
  }
  return [
    ofCompiled,
    `${duration(eager)} uncompiled`,
    `${low.toFixed(2)} to ${high.toFixed(2)} times as fast (95 % confidence)`,
    count(samples, "sample"),
  ];
}

/** Each part with its share of the time of a call. */
export function shares(parts: readonly SpeedPartItem[]): (SpeedPartItem & { share: string })[] {
  const whole = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  return parts.map((part) => ({ ...part, share: share(part.seconds, whole) }));
}

/** Screen readers read the bar as one text; the legend has the same numbers as a table. */
function bar(parts: readonly SpeedPartItem[]): HTMLElement {
  const whole = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const texts = shares(parts).map((part) => `${part.share} ${part.label}`);
  const made = element("div", { class: "parts", role: "img", "aria-label": texts.join(", ") });
  parts.forEach(({ kind, seconds }, index) => {
    const text = texts[index] ?? "";
    const shown = seconds >= LEGIBLE * whole ? text : "";
    const part = element("div", { class: `part of-${kind}`, title: text }, shown);
    // In nanoseconds: below a sum of 1, parts would leave room.
    part.style.flexGrow = (seconds * 1e9).toString();
    made.append(part);
  });
  return made;
}

function legend(parts: readonly SpeedPartItem[]): HTMLElement {
  const rows = shares(parts).map((part) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        element("span", { class: `swatch of-${part.kind}` }),
        part.label,
      ),
      element("td", { class: "number" }, duration(part.seconds)),
      element("td", { class: "number" }, part.share),
    ),
  );
  return table(["Part of a call", "Time", "Share"], rows);
}

function causeItem({ gain, hint, location, message }: SpeedCauseItem, speed: SpeedItem) {
  const item = element(
    "li",
    {},
    element("span", { class: "number" }, `−${share(gain, speed.compiled)}`),
    element("span", {}, sentence(message), " ", location ? sourceLink(location) : ""),
  );
  if (hint !== "") {
    item.append(element("span", { class: "hint" }, sentence(hint)));
  }
  return item;
}
