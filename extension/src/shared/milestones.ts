import { commands } from "vscode";
import type { StatusParams } from "../protocol";
import { isOn } from "./words";

/** Things that really happened, each a step of the walkthrough: context key `fullgraph.<name>`. */
export type Milestone = "foundTorch" | "sawReport" | "sawGuards" | "ranOnSave" | "sawExplanation";

/** Notices what the user has seen, and tells the walkthrough. */
export class Milestones {
  private commandedRuns = 0;

  /** Tell the walkthrough, each time: it heeds a key only in the moment in which it becomes true. */
  reached(milestone: Milestone): void {
    const key = `fullgraph.${milestone}`;
    void commands.executeCommand("setContext", key, true);
    void commands.executeCommand("setContext", key, false);
  }

  /** Wait for a run that the user has commanded. */
  async duringRun<T>(run: () => Promise<T>): Promise<T> {
    this.commandedRuns += 1;
    try {
      return await run();
    } finally {
      this.commandedRuns -= 1;
    }
  }

  /** Take note of a target's new state. A run that nobody commanded is one that an edit has started. */
  status({ state }: StatusParams): void {
    if (state === "running" && this.commandedRuns === 0) {
      this.reached("ranOnSave");
    }
    if (state !== undefined && !isOn(state) && state !== "cancelled" && state !== "not-started") {
      this.reached("sawReport");
    }
  }
}
