declare module "*.css";

/** The part of d3-flame-graph that the report uses; the library has no types itself. */
declare module "d3-flame-graph" {
  import type { Selection } from "d3-selection";

  /** A bar; `x0` and `x1` are its ends, as parts of the whole width. */
  export interface FlameNode<Data> {
    data: Data;
    depth: number;
    x0: number;
    x1: number;
    parent: FlameNode<Data> | null;
    children?: FlameNode<Data>[];
  }

  export interface FlameGraph<Data> {
    (selection: Selection<HTMLElement, Data, null, undefined>): void;
    width(pixels: number): this;
    height(pixels: number): this;
    cellHeight(pixels: number): this;
    minFrameSize(pixels: number): this;
    inverted(inverted: boolean): this;
    transitionDuration(milliseconds: number): this;
    setColorMapper(colour: (node: FlameNode<Data>) => string): this;
    setLabelHandler(label: (node: FlameNode<Data>) => string): this;
    setDetailsElement(element: HTMLElement): this;
    onClick(handler: (node: FlameNode<Data>) => void): this;
    zoomTo(node: FlameNode<Data>): void;
    resetZoom(): void;
    update(): this;
  }

  export default function flamegraph<Data>(): FlameGraph<Data>;
}
