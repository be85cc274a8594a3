import { l10n } from "vscode";
import type { Python } from "./interpreter";
import {
  type Action,
  manageTrust,
  restartServer,
  selectInterpreter,
  showOutput,
} from "../shared/messages";

/** The state of the server. The kind is the context key `fullgraph.state`. */
export type ServerState =
  | { kind: "restricted" | "starting" }
  | { kind: "ready"; python: Python }
  | { kind: "noPython" | "failed"; message: string };

/** A sentence that says why there is no server, and actions that help. */
export function unavailable(state: ServerState): [string, ...Action[]] {
  switch (state.kind) {
    case "restricted":
      return [
        l10n.t("Fullgraph runs nothing in Restricted Mode: trust this workspace to analyze it."),
        manageTrust(),
      ];
    case "noPython":
      return [state.message, selectInterpreter(), showOutput()];
    case "failed":
      return [state.message, showOutput(), restartServer()];
    case "starting":
    case "ready":
      return [l10n.t("Fullgraph is still starting: try again in a moment.")];
  }
}
