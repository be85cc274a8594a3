/** What the page of a report and the extension tell each other. */

import type { Location } from "vscode-languageclient";
import type { PerformanceItem } from "../../protocol";

/** A picture of a graph as SVG, or why there is none. */
export interface Drawing {
  svg?: string;
  problem?: string;
}

/** What an exported page has in itself: a report, with the drawings of its pictures. */
export interface Exported {
  report: PerformanceItem;
  drawings: Drawing[];
}

export type ToPage =
  | { kind: "report"; report: PerformanceItem; running: boolean }
  /** Whether the target is being run: what is shown is of the run before. */
  | { kind: "running"; running: boolean }
  | { kind: "drawing"; generation: number; picture: number; drawing: Drawing };

export type FromPage =
  | { kind: "ready" }
  | { kind: "export" }
  | { kind: "draw"; generation: number; picture: number }
  | { kind: "source"; location: Location }
  /** A document of the server: generated code, or an explanation. */
  | { kind: "document"; uri: string };

/** The id of the element that holds what was exported. */
export const EXPORTED = "exported";
