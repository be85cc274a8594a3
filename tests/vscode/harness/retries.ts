/** Says at the end of a run which scenarios needed a second try, which passes hide otherwise. */

import type { Reporter, TestModule } from "vitest/node";

export default class Retries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const scenarios = modules
      .filter(({ project }) => project.name === "vscode")
      .flatMap(({ children }) => [...children.allTests()]);
    if (scenarios.length > 0) {
      console.log(summary(scenarios.filter(isRetried).map(({ name }) => name)));
    }
  }
}

function isRetried(scenario: { diagnostic(): { retryCount: number } | undefined }): boolean {
  return (scenario.diagnostic()?.retryCount ?? 0) > 0;
}

function summary(names: readonly string[]): string {
  return [`retried: ${names.length}`, ...names.map((name) => `  ${name}`)].join("\n");
}
