import {
  type Command,
  l10n,
  Range,
  ThemeColor,
  ThemeIcon,
  Uri,
  type TextDocumentShowOptions,
} from "vscode";
import type { Location } from "vscode-languageclient";
import type { FindingItem } from "../protocol";
import { cellNumber } from "./uris";

export const ERROR = new ThemeColor("problemsErrorIcon.foreground");
export const WARNING = new ThemeColor("problemsWarningIcon.foreground");
const INFORMATION = new ThemeColor("problemsInfoIcon.foreground");

/** The icon of a finding; `information` is the icon for findings that are neither errors nor warnings. */
export function severityIcon(severity: FindingItem["severity"], information = "info"): ThemeIcon {
  switch (severity) {
    case "error":
      return new ThemeIcon("error", ERROR);
    case "warning":
      return new ThemeIcon("warning", WARNING);
    case "information":
      return new ThemeIcon(information, INFORMATION);
  }
}

/** A line in a few words: `toy.py:9`. */
export function place(location: Location): string {
  return `${fileName(location.uri)}:${lineOf(location)}`;
}

/** The number of a line, as editors show it; in a notebook `cell 3:2`. */
export function lineOf({ uri, range }: Location): string {
  return shownLine(uri, range.start.line);
}

export function shownLine(uri: string, line: number): string {
  const cell = cellNumber(uri);
  return cell > 0 ? l10n.t("cell {0}:{1}", cell, line + 1) : String(line + 1);
}

export function fileName(uri: string): string {
  return Uri.parse(uri).path.split("/").at(-1) ?? uri;
}

/** The command of an item that opens a place. */
export function openLocation(
  { uri, range }: Location,
  options: TextDocumentShowOptions = {},
): Command {
  return open(Uri.parse(uri), range, options);
}

export function open(
  uri: Uri,
  range: Location["range"] | undefined,
  options: TextDocumentShowOptions = {},
): Command {
  const selection =
    range &&
    new Range(range.start.line, range.start.character, range.end.line, range.end.character);
  const title = l10n.t("Open");
  return { title, command: "vscode.open", arguments: [uri, { selection, ...options }] };
}
