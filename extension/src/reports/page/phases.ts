/** The steps of the compiler as a tree over time. */

import type { CompilationItem, PhaseItem } from "../../protocol";

/** A part of the compiler. */
export type Part = PhaseItem["part"];

export const PARTS: Readonly<Record<Part, string>> = {
  dynamo: "Dynamo",
  aot: "AOTAutograd",
  inductor: "TorchInductor",
  build: "Building kernels",
};

export interface Step {
  name: string;
  compileId: string;
  start: number;
  seconds: number;
  part: Part;
  children: Step[];
}

/** A bar of the chart. A gap, in which nothing was compiled, has no name. */
export interface Bar {
  name: string;
  value: number;
  step?: Step;
  children: Bar[];
}

/**
 * All steps, below one root for each stretch of time in which a function was compiled: a backward graph may be
 * compiled long after its forward graph.
 */
export function stepsOf(
  phases: readonly PhaseItem[],
  compilations: readonly CompilationItem[],
): Step {
  const functions = new Map(compilations.map((item) => [item.compileId, item.function]));
  const all: Step = {
    name: "All compilations",
    compileId: "",
    start: 0,
    seconds: 0,
    part: "dynamo",
    children: [],
  };
  const within: Step[] = [];
  for (const { name, start, seconds, compileId, depth, part } of phases) {
    within.length = Math.min(within.length, depth);
    const step: Step = { name, compileId, start, seconds, part, children: [] };
    const around = within.at(-1) ?? stretch(all, step, functions.get(compileId));
    around.children.push(step);
    within.push(step);
  }
  return all;
}

/** The root for an outermost step: the last root, if that is of the same compilation. */
function stretch(all: Step, step: Step, compiled: string | undefined): Step {
  const { compileId, start, seconds, part } = step;
  const end = start + seconds;
  all.seconds = Math.max(all.seconds, end);
  const last = all.children.at(-1);
  if (last?.compileId === compileId) {
    last.seconds = Math.max(last.seconds, end - last.start);
    return last;
  }
  const name = compiled === undefined ? compileId : `${compileId} ${compiled}`;
  const made: Step = { name, compileId, start, seconds, part, children: [] };
  all.children.push(made);
  return made;
}

/** A step as bars, with gaps between its children, which are cut to its own time. */
export function barOf(step: Step, start = step.start, end = start + step.seconds): Bar {
  const children: Bar[] = [];
  let now = start;
  for (const child of step.children) {
    const begin = Math.min(Math.max(child.start, now), end);
    const over = Math.min(Math.max(child.start + child.seconds, begin), end);
    if (begin > now) {
      children.push({ name: "", value: begin - now, children: [] });
    }
    children.push(barOf(child, begin, over));
    now = over;
  }
  return { name: step.name, value: end - start, step, children };
}

/** The seconds of all compilations, without the time between. */
export function compileSeconds(all: Step): number {
  return all.children.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** The seconds of each part of the compiler, without those of inner steps. */
export function secondsOfParts(all: Step): Map<Part, number> {
  const seconds = new Map<Part, number>();
  const add = (step: Step) => {
    const own = step.seconds - step.children.reduce((sum, child) => sum + child.seconds, 0);
    seconds.set(step.part, (seconds.get(step.part) ?? 0) + Math.max(own, 0));
    step.children.forEach(add);
  };
  // Between two stretches nothing is compiled.
  all.children.forEach(add);
  return seconds;
}

/** The number of rows of the chart. */
export function heightOf(step: Step): number {
  return 1 + Math.max(0, ...step.children.map(heightOf));
}
