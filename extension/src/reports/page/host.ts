/** The extension around the page. An exported page has none: its links lead to `vscode:` or nowhere. */

import type { Location } from "vscode-languageclient";
import { element } from "./dom";
import { place } from "./format";
import type { FromPage } from "./messages";

/** The state of the page, which is lost when its tab is hidden. */
export interface Look {
  scroll: number;
  /** The selected picture: compile id and phase. */
  picture: string;
  /** The ids of expanded tables. */
  unfolded: string[];
}

interface VSCode {
  postMessage(message: FromPage): void;
  getState(): Look | undefined;
  setState(look: Look): void;
}

declare global {
  /** Only defined in VS Code. */
  var acquireVsCodeApi: (() => VSCode) | undefined;
}

export const vscode = globalThis.acquireVsCodeApi?.();

export function tell(message: FromPage): void {
  vscode?.postMessage(message);
}

/** A link to a line of the user's code. */
export function sourceLink(location: Location, text = place(location)): HTMLElement {
  return vscode
    ? button(text, () => {
        tell({ kind: "source", location });
      })
    : link(addressOf(location), text);
}

/** The address of a line for an exported page, which VS Code opens. */
export function addressOf({ uri, range }: Location): string | undefined {
  const { line, character } = range.start;
  return uri.startsWith("file:///")
    ? `${uri.replace("file://", "vscode://file")}:${line + 1}:${character + 1}`
    : undefined;
}

function link(address: string | undefined, text: string): HTMLElement {
  return address === undefined ? element("span", {}, text) : element("a", { href: address }, text);
}

/** Links to lines, the first of them only if there are many. */
export function sourceLinks(locations: readonly Location[]): HTMLElement {
  const links = [
    ...new Map(locations.map((location) => [place(location), location])).values(),
  ].sort(
    (one, other) =>
      one.uri.localeCompare(other.uri) || one.range.start.line - other.range.start.line,
  );
  const shown = links.slice(0, 4).flatMap((location) => [sourceLink(location), " "]);
  const more = links.length > 4 ? [`and ${links.length - 4} more`] : [];
  return element("span", {}, ...shown, ...more);
}

/** The texts of documents, by URI, in a page without an extension. */
let texts: Readonly<Record<string, string>> = {};

export function setTexts(known: Readonly<Record<string, string>>): void {
  texts = known;
}

/** A link to a document of the server. */
export function documentLink(uri: string, text: string): HTMLElement {
  if (vscode) {
    return button(text, () => {
      tell({ kind: "document", uri });
    });
  }
  const known = texts[uri];
  return known === undefined
    ? element("span", {}, text)
    : button(text, () => {
        showText(text, known);
      });
}

/** Show a text above the page. */
function showText(title: string, text: string): void {
  const close = element("button", { type: "button", class: "export" }, "Close");
  const head = element("header", {}, element("h2", {}, title), close);
  const shown = element("dialog", { class: "document" }, head, element("pre", {}, text));
  close.addEventListener("click", () => {
    shown.close();
  });
  shown.addEventListener("close", () => {
    shown.remove();
  });
  document.body.append(shown);
  shown.showModal();
}

function button(text: string, act: () => void): HTMLElement {
  const made = element("button", { type: "button", class: "link" }, text);
  made.addEventListener("click", act);
  return made;
}
