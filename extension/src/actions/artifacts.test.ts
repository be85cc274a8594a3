import { beforeEach, expect, test } from "vitest";
import { assemblyPicks, compareWithPrevious } from "./artifacts";
import { artifact } from "../testing/reports";
import { executed } from "../testing/vscode";

beforeEach(() => {
  executed.length = 0;
});

function compiled(file: string, phase: string) {
  return artifact({ uri: `fullgraph-kernel:///1/${file}`, name: file, file, phase });
}

test("of all documents, those that kernels were compiled to are offered, by graph", () => {
  const picks = assemblyPicks([
    artifact(),
    compiled("relu.ptx", "forward"),
    compiled("relu.py", "forward"),
    compiled("relu.ttir", "forward"),
    compiled("mul.s", "backward"),
  ]);
  expect(picks.map(({ label }) => label)).toEqual([
    ...["0/0 forward", "relu.ptx", "relu.ttir"],
    ...["0/0 backward", "mul.s"],
  ]);
});

test("a document is compared with what it was in the run before", async () => {
  await compareWithPrevious(artifact({ previous: "fullgraph-kernel:///0/output_code.py" }));
  expect(executed).toMatchObject([
    [
      "vscode.diff",
      { path: "/0/output_code.py" },
      { path: "/1/0_0_forward/output_code.py" },
      "Output code (previous run ↔ last run)",
    ],
  ]);
});
