import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OutputParams } from "../protocol";
import { ProgramOutput } from "./programOutput";
import type { Server } from "./server";
import { EventEmitter, window } from "../testing/vscode";

let printed: EventEmitter<OutputParams>;
let restarted: EventEmitter<undefined>;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 0, 1, 12, 30, 15) });
  printed = new EventEmitter();
  restarted = new EventEmitter();
  const server = { onDidPrint: printed.event, onDidChange: restarted.event };
  new ProgramOutput(server as unknown as Server);
});

afterEach(() => {
  vi.useRealTimers();
});

function print(label: string, generation: number, text: string): void {
  printed.fire({ target: `/project/${label}`, label, generation, text });
}

/** What the channel shows, with the time left out. */
function shown(): string {
  return window.channels.get("Fullgraph Programs")?.replaceAll(/ · .*30.* ──/g, " ──") ?? "";
}

test("what a run prints has the name of its target once", () => {
  print("toy.py", 1, "epoch ");
  print("toy.py", 1, "1\nepoch 2\n");
  expect(shown()).toBe("── toy.py ──\nepoch 1\nepoch 2\n");
});

test("runs that print at the same time are told apart, and so are runs of one target", () => {
  print("toy.py", 1, "one\n");
  print("train.py", 2, "two");
  print("toy.py", 1, "three\n");
  print("toy.py", 3, "four\n");
  expect(shown()).toBe(
    "── toy.py ──\none\n── train.py ──\ntwo\n── toy.py ──\nthree\n── toy.py ──\nfour\n",
  );
});

test("the runs of another server are other runs, though it counts them anew", () => {
  print("toy.py", 1, "one\n");
  restarted.fire(undefined);
  print("toy.py", 1, "two\n");
  expect(shown()).toBe("── toy.py ──\none\n── toy.py ──\ntwo\n");
});
