import { expect, test } from "vitest";
import {
  childrenOfFrame,
  childrenOfGraph,
  childrenOfLayer,
  childrenOfTarget,
  type FrameNode,
  type GraphNode,
  graphNodes,
  guardNodes,
  type Node,
  rankNodes,
  type RanksNode,
  rootsOf,
  type TargetNode,
} from "./nodes";
import type { GuardItem } from "../protocol";
import { artifact, finding, frame, layer, rank, report, target } from "../testing/reports";

const NONE = new Map<string, TargetNode>();

function told(changes: Parameters<typeof report>[0]): TargetNode {
  const [node] = rootsOf([target()], ["file:///project"], NONE);
  if (node?.kind !== "target") {
    throw new Error("not a target");
  }
  node.report = report(changes);
  return node;
}

function labels(nodes: readonly Node[]): string[] {
  return nodes.map((node) =>
    node.kind === "finding"
      ? node.finding.message
      : node.kind === "frame"
        ? node.frame.function
        : node.kind,
  );
}

test("layers stand below what the ordinary run told, and have what their run told", () => {
  const node = told({ frames: [frame()], findings: [finding()] });
  node.layers = [layer({ report: report({ findings: [finding({ message: "too slow" })] }) })];
  const nodes = childrenOfTarget(node);
  expect(labels(nodes)).toEqual(["`print` breaks the graph", "toy", "layer"]);
  const below = nodes.flatMap((item) => (item.kind === "layer" ? childrenOfLayer(item) : []));
  expect(labels(below)).toEqual(["too slow"]);
});

test("one folder is not shown", () => {
  const roots = rootsOf([target(), target({ id: "other" })], ["file:///project"], NONE);
  expect(roots.map((node) => node.kind)).toEqual(["target", "target"]);
});

test("several folders are, those with targets, and so is one that is not open", () => {
  const items = [
    target({ id: "a", folder: "file:///a" }),
    target({ id: "x", folder: "file:///elsewhere" }),
    target({ id: "b", folder: "file:///b" }),
  ];
  const roots = rootsOf(items, ["file:///b", "file:///empty", "file:///a"], NONE);
  expect(roots.map((node) => node.id)).toEqual([
    "folder/file:///b",
    "folder/file:///a",
    "folder/file:///elsewhere",
  ]);
});

test("a target that was there before keeps its node and its report", () => {
  const before = told({ frames: [frame()] });
  const [after] = rootsOf([target({ label: "new" })], [], new Map([["/project/toy.py", before]]));
  expect(after).toBe(before);
  expect(before.item.label).toBe("new");
  expect(before.report?.frames).toHaveLength(1);
});

test("a target has the findings outside of its functions, then the functions", () => {
  const node = told({
    findings: [finding({ message: "in f" }), finding({ message: "outside", kind: "target-error" })],
    frames: [frame({ function: "f", findings: [0] }), frame({ function: "g" })],
  });
  expect(labels(childrenOfTarget(node))).toEqual(["outside", "f", "g"]);
});

test("several ranks have a node, and groups that differ come first", () => {
  const ranks = [rank(), rank({ rank: 1 }), rank({ rank: 2, group: 1, differs: true })];
  const node = told({
    ...{ findings: [finding()], frames: [frame({ function: "f" })] },
    ranks,
    rankGroups: ["Ranks 0-1", "Rank 2"],
  });
  const children = childrenOfTarget(node);
  expect(labels(children)).toEqual(["`print` breaks the graph", "ranks", "f"]);
  const [other, alike] = rankNodes(children[1] as RanksNode);
  expect(other).toMatchObject({ kind: "rank", rank: { rank: 2 } });
  expect(alike).toMatchObject({
    kind: "rankGroup",
    label: "Ranks 0-1",
    ranks: [{ rank: { rank: 0 } }, { rank: { rank: 1 } }],
  });
  const [all] = childrenOfTarget(told({ ranks: ranks.slice(0, 2), rankGroups: ["Ranks 0-1"] }));
  expect(rankNodes(all as RanksNode)).toMatchObject([{ kind: "rank" }, { kind: "rank" }]);
  expect(childrenOfTarget(told({ ranks: [rank()] }))).toEqual([]);
});

test("a function has its findings, the worst first, and only the groups that hold something", () => {
  const node = told({
    findings: [
      finding({ message: "recompiled", severity: "information" }),
      finding({ message: "break" }),
      finding({ message: "failure", severity: "error" }),
    ],
    frames: [frame({ findings: [0, 1, 2], guards: 3 })],
  });
  const [of] = childrenOfTarget(node) as FrameNode[];
  expect(of && labels(childrenOfFrame(of))).toEqual(["failure", "break", "recompiled", "guards"]);
});

test("every node of a report has an id of its own, a finding of two functions too", () => {
  const node = told({
    findings: [finding(), finding()],
    frames: [frame({ findings: [0, 1] }), frame({ findings: [1] })],
  });
  const frames = childrenOfTarget(node) as FrameNode[];
  const ids = [...frames, ...frames.flatMap((of) => childrenOfFrame(of))].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(5);
});

test("guards that say the same are told once, and those that failed are told apart", () => {
  const guard: GuardItem = {
    name: "a",
    kind: "SHAPE",
    expected: "[10]",
    failures: 0,
    ambient: false,
    origin: "",
    code: "",
  };
  const guards = [{ ...guard, failures: 2 }, guard, guard, { ...guard, name: "b" }];
  const of = childrenOfTarget(told({ frames: [frame()] }))[0] as FrameNode;
  const nodes = guardNodes({ kind: "guards", id: "guards", of }, guards);
  expect(nodes).toMatchObject([
    { guard: { name: "a", failures: 2 }, count: 1 },
    { guard: { name: "a", failures: 0 }, count: 2 },
    { guard: { name: "b" }, count: 1 },
  ]);
});

test("guards on the state of the process are told apart", () => {
  const guard = { kind: "TYPE", expected: "", failures: 0, origin: "", code: "" };
  const guards: GuardItem[] = [
    { ...guard, name: "", ambient: true },
    { ...guard, name: "a", ambient: false },
  ];
  const of = childrenOfTarget(told({ frames: [frame()] }))[0] as FrameNode;
  const nodes = guardNodes({ kind: "guards", id: "guards", of }, guards);
  expect(nodes).toMatchObject([
    { kind: "ambient", guards: [{ guard: { ambient: true } }] },
    { kind: "guard", guard: { name: "a" } },
  ]);
});

function graphsOf(...artifacts: ReturnType<typeof artifact>[]): GraphNode[] {
  const graphs = ["0/0", "0/1"].map((compileId) => ({ compileId, ops: 3 }));
  const of: FrameNode = {
    ...{ kind: "frame", id: "f", report: report({ artifacts }), index: 0 },
    frame: frame({ graphs }),
  };
  return graphNodes({ kind: "graphs", id: "f/graphs", of }) as GraphNode[];
}

test("a graph has its own documents only", () => {
  const [first, second] = graphsOf(artifact(), artifact({ compileId: "0/1", name: "other" }));
  expect(first && childrenOfGraph(first)).toMatchObject([{ artifact: { name: "Output code" } }]);
  expect(second && childrenOfGraph(second)).toMatchObject([{ artifact: { name: "other" } }]);
});

test("the other records of a trace are apart", () => {
  const [graph] = graphsOf(
    artifact({ phase: "inference" }),
    artifact({ phase: "records", name: "dynamo_error" }),
  );
  expect(graph && childrenOfGraph(graph)).toMatchObject([
    { kind: "artifact", artifact: { phase: "inference" } },
    { kind: "phase", phase: "records", artifacts: [{ name: "dynamo_error" }] },
  ]);
});

test("documents are told by phase if there are several, what is of all of them first", () => {
  const [graph] = graphsOf(
    artifact({ phase: "forward" }),
    artifact({ phase: "", name: "Joint graph" }),
    artifact({ phase: "backward" }),
  );
  expect(graph && childrenOfGraph(graph)).toMatchObject([
    { kind: "artifact", artifact: { name: "Joint graph" } },
    { kind: "phase", phase: "forward", artifacts: [{ phase: "forward" }] },
    { kind: "phase", phase: "backward", artifacts: [{ phase: "backward" }] },
  ]);
});
