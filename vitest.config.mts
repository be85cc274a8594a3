import { defineConfig } from "vitest/config";

/**
 * Scenarios for `make test-all`, which sets SLOW to nothing: they install another extension, wait until a time
 * limit is over, start an editor of their own and TorchInductor in it, build kernels for a GPU, or measure speed.
 */
const SLOW = [
  "tests/vscode/python_extension.test.ts",
  "tests/vscode/limit.test.ts",
  "tests/vscode/new_folder.test.ts",
  "tests/vscode/preview.test.ts",
  "tests/vscode/speed.test.ts",
];

export default defineConfig({
  test: {
    reporters: ["default", "tests/vscode/harness/retries.ts"],
    projects: [
      {
        resolve: { alias: { vscode: `${import.meta.dirname}/extension/src/testing/vscode.ts` } },
        test: { name: "unit", include: ["extension/src/**/*.test.ts"] },
      },
      {
        test: {
          name: "vscode",
          include: ["tests/vscode/**/*.test.ts"],
          exclude: process.env["SLOW"] === "" ? [] : SLOW,
          globalSetup: "tests/vscode/setup.ts",
          // One file after the other, in one process: they share a window, and run programs that import torch.
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          // On busy cores a workbench can lose a click. Tries are told, and what failed is kept.
          retry: 1,
          expect: { poll: { timeout: 60_000, interval: 100 } },
        },
      },
    ],
  },
});
