import { type Graph, instance, type Node, type Subgraph } from "@viz-js/viz";
import type { Drawing } from "./page/messages";
import type { OperationItem, PictureItem } from "../protocol";

const LONGEST = 40;
/** A font that Graphviz can measure. Most editors' fonts are wider: margins leave room for that. */
const FONT = { fontname: "Helvetica", fontsize: 11 };

/** Draw a graph. The page colours its parts by their classes and ids. */
export async function draw(picture: PictureItem): Promise<Drawing> {
  const graphviz = await instance();
  const { output, errors } = graphviz.render(graphOf(picture), { format: "svg" });
  return output === undefined
    ? { problem: errors.map(({ message }) => message).join(" ") }
    : { svg: output };
}

/** A picture as input for Graphviz: operations as boxes, in a cluster for each kernel; inputs are round. */
export function graphOf({ operations, kernels }: PictureItem): Graph {
  const numbers = new Map(operations.map(({ name }, number) => [name, number]));
  const inputs = new Set(operations.flatMap((operation) => operation.inputs));
  const id = (name: string) => {
    const number = numbers.get(name);
    return number === undefined ? `input ${name}` : `operation-${number}`;
  };
  const boxes = operations.map((operation, number) => ({
    kernel: operation.kernel,
    node: box(operation, number),
  }));
  const round = [...inputs].filter((name) => !numbers.has(name));
  return {
    directed: true,
    graphAttributes: { ...FONT, bgcolor: "transparent", labeljust: "l", nodesep: 0.35 },
    nodeAttributes: { ...FONT, shape: "box", height: 0.3, margin: "0.2,0.08" },
    edgeAttributes: { arrowsize: 0.6 },
    nodes: [
      ...round.map((name) => ({
        name: id(name),
        attributes: { label: name, shape: "ellipse", class: "input" },
      })),
      ...boxes.filter(({ kernel }) => kernel === undefined).map(({ node }) => node),
    ],
    edges: operations.flatMap((operation, number) =>
      [...new Set(operation.inputs)].map((input) => ({
        tail: id(input),
        head: `operation-${number}`,
      })),
    ),
    subgraphs: kernels.map((name, number) =>
      cluster(
        name,
        number,
        boxes.filter(({ kernel }) => kernel === number).map(({ node }) => node),
      ),
    ),
  };
}

function box({ operator, location }: OperationItem, number: number): Node {
  const file = location?.uri.split("/").at(-1);
  const line = location && `${decodeURIComponent(file ?? "")}:${location.range.start.line + 1}`;
  const name = `operation-${number}`;
  return {
    name,
    attributes: {
      id: name,
      class: line === undefined ? "operation" : "operation line",
      label: line === undefined ? operator : `${operator}\n${line}`,
    },
  };
}

function cluster(name: string, number: number, nodes: Node[]): Subgraph {
  const half = (LONGEST - 1) / 2;
  const label =
    name.length > LONGEST
      ? `${name.slice(0, Math.ceil(half))}…${name.slice(-Math.floor(half))}`
      : name;
  return {
    name: `cluster_${number}`,
    graphAttributes: { id: `kernel-${number}`, label, style: "rounded", margin: 14 },
    nodes,
  };
}
