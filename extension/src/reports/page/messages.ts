/** The messages between the page of a report and the extension. */

import type { Location } from "vscode-languageclient";
import type { PerformanceItem, TraceItem } from "../../protocol";

/** A picture of a graph as SVG, or the problem that prevented it. */
export interface Drawing {
  svg?: string;
  problem?: string;
}

/** The data of a page without an extension: a report, and the drawings of its pictures or what makes them. */
export interface Exported {
  report: PerformanceItem;
  drawings?: Drawing[];
  /** The packed `drawer.ts`. */
  drawer?: string;
  trace?: TraceItem;
}

export type ToPage =
  | { kind: "report"; report: PerformanceItem; running: boolean }
  /** Whether the target is running, so that the report is from the previous run. */
  | { kind: "running"; running: boolean }
  | { kind: "drawing"; generation: number; picture: number; drawing: Drawing };

export type FromPage =
  | { kind: "ready" }
  | { kind: "export" }
  | { kind: "draw"; generation: number; picture: number }
  | { kind: "source"; location: Location }
  /** A document of the server: generated code, or an explanation. */
  | { kind: "document"; uri: string };

/** The id of the element with the exported data. */
export const EXPORTED = "exported";
