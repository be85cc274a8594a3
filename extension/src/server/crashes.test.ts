import { expect, test } from "vitest";
import { Crashes } from "./crashes";

const MINUTE = 60_000;

test("three crashes within three minutes are borne, the fourth is not", () => {
  const crashes = new Crashes();
  const borne = [0, 10, 20, 30].map((now) => crashes.mayRestart(now));
  expect(borne).toEqual([true, true, true, false]);
});

test("old crashes do not count", () => {
  const crashes = new Crashes();
  const borne = [0, 1, 2, 3, 4, 5].map((minutes) => crashes.mayRestart(minutes * MINUTE));
  expect(borne).not.toContain(false);
});

test("a restart by hand makes a new start", () => {
  const crashes = new Crashes();
  [0, 1, 2].forEach((now) => crashes.mayRestart(now));
  crashes.forget();
  expect(crashes.mayRestart(3)).toBe(true);
});
