import { expect, test } from "vitest";
import { kernel } from "../../testing/performance";
import { columnsOf } from "./kernelColumns";

function told(...kernels: Parameters<typeof columnsOf>[0][number][]): Record<string, unknown>[] {
  const columns = columnsOf(kernels);
  return kernels.map((row) =>
    Object.fromEntries(columns.map(({ title, cell }) => [title, cell(row)?.text])),
  );
}

test("columns that say nothing of any kernel are not shown", () => {
  expect(Object.keys(told(kernel())[0] ?? {})).toEqual([
    ...["Language", "Graph", "Operators", "Lines", "Launches"],
  ]);
  expect(Object.keys(told(kernel(), kernel({ spills: 0 }))[0] ?? {})).toContain("Spills");
});

test("bytes are those that are read and written, work is told for each of them", () => {
  expect(told(kernel({ read: 1024, written: 1024, flops: 4096 }))).toMatchObject([
    { Bytes: "2.0 KiB", FLOP: "4.1 k", "FLOP/byte": "2.00" },
  ]);
  expect(told(kernel({ read: 512 }))).toMatchObject([{ Bytes: "512 B" }]);
});

test("without bytes there is no work for each of them", () => {
  const columns = told(kernel({ flops: 10, read: 0, written: 0 }));
  expect(columns[0]).not.toHaveProperty("FLOP/byte");
});

test("a preview tells shared memory, and why a kernel was not compiled", () => {
  expect(told(kernel({ shared: 2048 }), kernel({ problem: "no such layout" }))).toMatchObject([
    { "Shared memory": "2.0 KiB", "Not compiled": undefined },
    { "Shared memory": undefined, "Not compiled": "no such layout" },
  ]);
});

test("numbers are sorted by what they are, not by what they look like", () => {
  const bytes = columnsOf([kernel({ read: 2048 })]).find(({ title }) => title === "Bytes");
  expect(bytes?.cell(kernel({ read: 2048 }))).toEqual({ text: "2.0 KiB", order: 2048 });
});
