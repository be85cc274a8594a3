import { l10n, Uri } from "vscode";
import { reply } from "./messages";
import { COMPARISON_SCHEME, EXPLANATION_SCHEME, KERNEL_SCHEME, PROFILE_SCHEME } from "../protocol";

/** Documents of the server that are shown as rendered Markdown. */
export const PAGES: readonly string[] = [COMPARISON_SCHEME, EXPLANATION_SCHEME, PROFILE_SCHEME];

/** The other things that the server leads to: generated code, and files of the user's. */
export const CODE: readonly string[] = [KERNEL_SCHEME];
export const FILES: readonly string[] = ["file"];

/**
 * The URI that a text is, if it has one of some schemes; else the user is told. Commands can be called by
 * anyone, so whoever opens something says what it may be.
 */
export function uriOf(text: unknown, schemes: readonly string[]): Uri | undefined {
  if (typeof text === "string" && schemes.some((scheme) => text.startsWith(`${scheme}:/`))) {
    return Uri.parse(text);
  }
  reply(l10n.t("This cannot be opened: {0}", String(text)));
  return undefined;
}
