import { beforeEach, expect, test } from "vitest";
import { Milestones } from "./milestones";
import { executed } from "../testing/vscode";

const RUNNING = {
  target: "t",
  generation: 1,
  stale: false,
  runOnSave: true,
  state: "running" as const,
};

beforeEach(() => {
  executed.length = 0;
});

/** The keys that became true. */
function reached(): unknown[] {
  return executed.filter(([, , value]) => value === true).map(([, key]) => key);
}

test("a run that was commanded is none on save", async () => {
  const milestones = new Milestones();
  await milestones.duringRun(() => {
    milestones.status(RUNNING);
    return Promise.resolve();
  });
  expect(reached()).toEqual([]);
  milestones.status(RUNNING);
  expect(reached()).toEqual(["fullgraph.ranOnSave"]);
});

test("a report is one of a run that began", () => {
  const milestones = new Milestones();
  milestones.status({ ...RUNNING, state: "cancelled" });
  milestones.status({ ...RUNNING, state: "not-started" });
  expect(reached()).toEqual([]);
  milestones.status({ ...RUNNING, state: "finished" });
  expect(reached()).toEqual(["fullgraph.sawReport"]);
});

test("what was reached can be reached again", () => {
  const milestones = new Milestones();
  milestones.reached("sawGuards");
  milestones.reached("sawGuards");
  expect(executed.map(([, , value]) => value)).toEqual([true, false, true, false]);
});
