/** Compile time as a flame chart over real time, from torch's own steps. */

import flamegraph, { type FlameNode } from "d3-flame-graph";
import { select } from "d3-selection";
import type { PerformanceItem } from "../../protocol";
import { asTable, element } from "./dom";
import { duration, share } from "./format";
import {
  type Bar,
  barOf,
  compileSeconds,
  heightOf,
  PARTS,
  secondsOfParts,
  type Step,
  stepsOf,
} from "./phases";

type Node = FlameNode<Bar>;

const ROW = 20;
const TRANSITION = 250;

export function flameChart(section: HTMLElement, report: PerformanceItem): void {
  const all = stepsOf(report.phases, report.compilations);
  const chart = element("div", { class: "flame" });
  const details = element("p", { class: "flame-details", "aria-live": "polite" });
  section.append(
    legend(all),
    chart,
    details,
    asTable("phases", ["Step", "Compilation", "Start", "Time", "Share"], rows(all)),
  );
  draw(chart, details, all);
}

function draw(chart: HTMLElement, details: HTMLElement, all: Step): void {
  const whole = compileSeconds(all);
  const label = ({ data: { step } }: Node) => {
    if (step === undefined) {
      return "";
    }
    const seconds = step === all ? whole : step.seconds;
    const of = `${share(seconds, whole)} of compile time`;
    return [step.name, duration(seconds), of].join(" · ");
  };
  /** Make the bars usable with the keyboard: Tab reaches one bar, arrow keys all bars. A zoom makes new bars. */
  const makeUsable = (current: Node) => {
    const bars = select(chart).selectAll<SVGGElement, Node>("g.frame:not([name=''])");
    const focus = (node: Node) => {
      bars
        .filter((other) => other === node)
        .node()
        ?.focus();
    };
    bars
      .attr("role", "button")
      .attr("aria-label", label)
      .attr("tabindex", (node) => (node === current ? 0 : -1))
      .on("focus", (_, node) => {
        details.textContent = label(node);
      })
      .on("keydown", (event: KeyboardEvent, node) => {
        const next = neighbour(node, event.key);
        if (next) {
          focus(next);
        } else if (event.key === "Enter" || event.key === " ") {
          graph.zoomTo(node);
        } else if (event.key === "Escape") {
          graph.resetZoom();
        } else {
          return;
        }
        event.preventDefault();
      });
  };
  const graph = flamegraph<Bar>()
    .width(chart.clientWidth)
    .height(heightOf(all) * ROW)
    .cellHeight(ROW)
    .inverted(true)
    .minFrameSize(0.5)
    .transitionDuration(isCalm() ? 0 : TRANSITION)
    .setColorMapper(({ data, depth }) =>
      depth === 0 ? "var(--bar)" : `var(--${data.step?.part ?? "bar"})`,
    )
    .setLabelHandler(label)
    .setDetailsElement(details)
    .onClick(makeUsable);

  select(chart).datum(barOf(all)).call(graph);
  const svg = select(chart).select<SVGSVGElement>("svg");
  svg.attr("role", "group").attr("aria-label", "Steps of the compiler over time");
  const root = svg.select<SVGGElement>("g.frame").datum() as Node;
  makeUsable(root);
  new ResizeObserver(() => {
    graph.width(chart.clientWidth).update();
    makeUsable(root);
  }).observe(chart);
}

/** The bar that an arrow key leads to: the step around this one, the first in it, or the next in its row. */
function neighbour(node: Node, key: string): Node | undefined {
  const isBar = ({ data, x0, x1 }: Node) => data.step !== undefined && x1 > x0;
  const siblings = node.parent?.children?.filter(isBar) ?? [node];
  switch (key) {
    case "ArrowUp":
      return node.parent ?? undefined;
    case "ArrowDown":
      return node.children?.find(isBar);
    case "ArrowLeft":
      return siblings[siblings.indexOf(node) - 1];
    case "ArrowRight":
      return siblings[siblings.indexOf(node) + 1];
    default:
      return undefined;
  }
}

function legend(all: Step): HTMLElement {
  const parts = [...secondsOfParts(all)].map(([part, seconds]) =>
    element(
      "li",
      {},
      element("span", { class: `swatch ${part}` }),
      `${PARTS[part]} ${duration(seconds)}`,
    ),
  );
  return element("ul", { class: "legend" }, ...parts);
}

function rows(all: Step): string[][] {
  const result: string[][] = [];
  const whole = compileSeconds(all);
  const add = (step: Step, depth: number) => {
    const name = "\u2003".repeat(depth) + step.name;
    const time = [duration(step.start), duration(step.seconds), share(step.seconds, whole)];
    result.push([name, step.compileId, ...time]);
    step.children.forEach((child) => {
      add(child, depth + 1);
    });
  };
  all.children.forEach((step) => {
    add(step, 0);
  });
  return result;
}

/** Whether the user wants reduced motion. VS Code shows its own setting as a class of the body. */
function isCalm(): boolean {
  return (
    matchMedia("(prefers-reduced-motion: reduce)").matches ||
    document.body.classList.contains("vscode-reduce-motion")
  );
}
