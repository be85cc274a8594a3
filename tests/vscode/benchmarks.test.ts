import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "./harness/paths.ts";

/** Those in Python are started by `tests/e2e/cli/test_benchmarks.py`. */
const FOLDER = join(ROOT, "benchmarks");
const BENCHMARKS = readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));

test.each(BENCHMARKS)("%s runs on a small input", async (name) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, name), "--small"]);
  for (const line of stdout.trim().split("\n")) {
    expect(line).toMatch(/\d ms.* \(target <= \d+\), ratio \d/);
  }
});
