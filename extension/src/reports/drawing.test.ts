import { expect, test } from "vitest";
import { draw, graphOf } from "./drawing";
import { line, operation } from "../testing/performance";

const PICTURE = {
  name: "0/0 forward",
  documents: [],
  operations: [
    operation({ name: "mm", operator: "aten.mm", inputs: ["x", "x"], kernel: 0 }),
    operation({ name: "relu", inputs: ["mm"], kernel: 1, location: line(7) }),
    operation({ name: "view", operator: "aten.view", inputs: ["relu"] }),
  ],
  kernels: ["extern_kernels.mm", `cpp_fused_${"relu_".repeat(20)}0`],
};

test("operations are in the cluster of the kernel that computes them", () => {
  const { subgraphs = [], nodes = [] } = graphOf(PICTURE);
  expect(subgraphs.map((cluster) => cluster.nodes?.map(({ name }) => name))).toEqual([
    ["operation-0"],
    ["operation-1"],
  ]);
  expect(nodes.map(({ name }) => name)).toEqual(["input x", "operation-2"]);
});

test("what is used twice is one edge", () => {
  expect(graphOf(PICTURE).edges).toEqual([
    { tail: "input x", head: "operation-0" },
    { tail: "operation-0", head: "operation-1" },
    { tail: "operation-1", head: "operation-2" },
  ]);
});

test("an operation tells its line, and a long name of a kernel is cut in its middle", () => {
  const { subgraphs: [, relu] = [] } = graphOf(PICTURE);
  expect(relu?.nodes?.[0]?.attributes).toMatchObject({ label: "aten.relu\nmodel.py:7" });
  expect(relu?.graphAttributes?.["label"]).toMatch(/^cpp_fused_relu_.{5}.*….*relu_0$/);
});

test("the drawing has the ids by which the page finds its parts", async () => {
  const { svg = "" } = await draw(PICTURE);
  expect(svg).toMatch(/^<\?xml/);
  for (const id of ["operation-0", "operation-1", "operation-2", "kernel-0", "kernel-1"]) {
    expect(svg.replaceAll("&#45;", "-")).toContain(`id="${id}"`);
  }
});
