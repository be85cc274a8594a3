import { expect, test } from "vitest";
import { RecentTraces } from "./recentTraces";
import { keepingMemory } from "../testing/memory";
import { workspace } from "../testing/vscode";

function recent(...there: string[]): RecentTraces {
  workspace.files.clear();
  there.forEach((path) => workspace.files.add(path));
  return new RecentTraces(keepingMemory());
}

test("the last one comes first, and none comes twice", async () => {
  const traces = recent("/a", "/b");
  for (const path of ["/a", "/b", "/a"]) {
    await traces.add(path);
  }
  expect(await traces.all()).toEqual(["/a", "/b"]);
});

test("those that are gone are not told", async () => {
  const traces = recent("/a");
  await traces.add("/a");
  await traces.add("/gone");
  expect(await traces.all()).toEqual(["/a"]);
});

test("only so many are kept", async () => {
  const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
  const traces = recent(...paths);
  for (const path of paths) {
    await traces.add(path);
  }
  expect(await traces.all()).toEqual(paths.slice(2).toReversed());
});
