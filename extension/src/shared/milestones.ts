import { commands } from "vscode";
import type { StatusParams } from "../protocol";
import { isOn } from "./words";

/** Events that complete a step of the walkthrough: context key `fullgraph.<name>`. */
export type Milestone = "foundTorch" | "sawReport" | "sawGuards" | "ranOnSave" | "sawExplanation";

/** Reports to the walkthrough what the user has seen. */
export class Milestones {
  private commandedRuns = 0;

  /** Complete a step, every time: the walkthrough only sees the moment in which a key becomes true. */
  reached(milestone: Milestone): void {
    const key = `fullgraph.${milestone}`;
    void commands.executeCommand("setContext", key, true);
    void commands.executeCommand("setContext", key, false);
  }

  /** Wait for a run that the user has started. */
  async duringRun<T>(run: () => Promise<T>): Promise<T> {
    this.commandedRuns += 1;
    try {
      return await run();
    } finally {
      this.commandedRuns -= 1;
    }
  }

  /** Handle a target's new state. A run that the user did not start was started by an edit. */
  status({ state }: StatusParams): void {
    if (state === "running" && this.commandedRuns === 0) {
      this.reached("ranOnSave");
    }
    if (state !== undefined && !isOn(state) && state !== "cancelled" && state !== "not-started") {
      this.reached("sawReport");
    }
  }
}
