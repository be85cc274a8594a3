import { expect, test } from "vitest";
import { compilation, phase } from "../../testing/performance";
import {
  type Bar,
  barOf,
  compileSeconds,
  heightOf,
  secondsOfParts,
  type Step,
  stepsOf,
} from "./phases";

/** A run of two compilations, the backward graph of the first one compiled after the second. */
const PHASES = [
  phase("dynamo", 0, 4, 0),
  phase("bytecode_tracing", 0.5, 1, 1),
  phase("backend_compile", 1.5, 2, 1),
  phase("create_aot_dispatcher_function", 1.5, 2, 2, "aot"),
  phase("GraphLowering.run", 2, 1, 3, "inductor"),
  { ...phase("dynamo", 5, 1, 0), compileId: "1/0" },
  phase("entire_backward_compile", 7, 1, 0),
];
const COMPILATIONS = [compilation(), compilation({ compileId: "1/0", function: "other" })];

function outline({ name, children }: Step): unknown {
  return children.length === 0 ? name : { [name]: children.map(outline) };
}

function ends(bar: Bar): number {
  return bar.children.reduce((sum, child) => sum + child.value, 0);
}

test("each stretch of time that a function is compiled in has a tree of its own", () => {
  const all = stepsOf(PHASES, COMPILATIONS);
  expect(all.children.map(outline)).toEqual([
    {
      "0/0 step": [
        {
          dynamo: [
            "bytecode_tracing",
            { backend_compile: [{ create_aot_dispatcher_function: ["GraphLowering.run"] }] },
          ],
        },
      ],
    },
    { "1/0 other": ["dynamo"] },
    { "0/0 step": ["entire_backward_compile"] },
  ]);
  expect(all.seconds).toBe(8);
  expect(compileSeconds(all)).toBe(6);
  expect(heightOf(all)).toBe(6);
});

test("steps that follow each other are of one stretch", () => {
  const phases = [phase("dynamo", 0, 1, 0), phase("entire_backward_compile", 1.5, 1, 0)];
  const all = stepsOf(phases, COMPILATIONS);
  expect(all.children).toMatchObject([{ name: "0/0 step", start: 0, seconds: 2.5 }]);
});

test("each part of the compiler has the time of its own steps", () => {
  const seconds = secondsOfParts(stepsOf(PHASES, COMPILATIONS));
  expect(Object.fromEntries(seconds)).toEqual({ dynamo: 2 + 1 + 1, aot: 1, inductor: 1 });
});

test("where nothing was on, the chart has a gap", () => {
  const [first, gap, second] = barOf(stepsOf(PHASES, COMPILATIONS)).children;
  expect(first).toMatchObject({ name: "0/0 step", value: 4 });
  expect(gap).toEqual({ name: "", value: 1, children: [] });
  expect(second).toMatchObject({ name: "1/0 other", value: 1 });
});

test("no bar is longer than the one that it is within", () => {
  const phases = [phase("dynamo", 0, 1, 0), phase("gc", 0.9, 0.5, 1), phase("gc", 0.95, 1, 1)];
  const [dynamo] = barOf(stepsOf(phases, [])).children[0]?.children ?? [];
  expect(dynamo?.name).toBe("dynamo");
  expect(dynamo && ends(dynamo)).toBe(1);
});
