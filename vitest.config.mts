import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias: { vscode: `${import.meta.dirname}/extension/src/testing/vscode.ts` } },
        test: { name: "unit", include: ["extension/src/**/*.test.ts"] },
      },
      {
        test: {
          name: "vscode",
          include: ["tests/vscode/**/*.test.ts"],
          globalSetup: "tests/vscode/setup.ts",
          // Every file starts an editor of its own, and programs that import torch.
          fileParallelism: false,
          testTimeout: 180_000,
          // On busy cores a workbench can lose a click. Tries are told, and what failed is kept.
          retry: 1,
          expect: { poll: { timeout: 30_000, interval: 100 } },
        },
      },
    ],
  },
});
