import { expect } from "vitest";
import { scenario } from "./harness/scene.ts";
import type { Squiggle } from "./harness/text.ts";

const FAILS = `import torch


@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def block(x, y):
    z = torch.cos(x) + y
    return torch.relu(z) * 2


if __name__ == "__main__":
    block(torch.ones(8), torch.ones(8))
`;

/** Milliseconds for the minifier, which runs the program and its graphs often. */
const LONG = 120_000;

scenario("a failure of the compiler is shrunk to a repro, which opens beside it", async (scene) => {
  const window = await scene.enter({ "fails.py": FAILS });
  await window.openFile("fails.py");
  await window.palette("Fullgraph: Analyze This File");
  let failing: Squiggle[] = [];
  await expect
    .poll(async () => (failing = await window.squiggles()))
    .toMatchObject([{ severity: "error", text: expect.stringMatching(/./) as string }]);
  await expect
    .poll(() => window.lenses())
    .toContainEqual(expect.stringContaining("Minify this failure"));

  await window.clickText(failing[0]?.text ?? "");
  await window.quickFix("Minify this failure");
  await expect.poll(() => window.activeFile(), { timeout: LONG }).toBe("fails-1.py");
  await window.editor.locator(".view-line", { hasText: "def forward(" }).waitFor();
  await window.editor.locator(".view-line", { hasText: "relu = torch.relu(z)" }).waitFor();
  await expect
    .poll(() => window.messages())
    .toContainEqual(
      expect.stringMatching(
        /^fails-1\.py: 1 of \d nodes, \d+ queries, [\d.]+ s; still fails when run$/,
      ),
    );
  await window.page.locator(".tab", { hasText: "fails.py" }).waitFor();
  await scene.picture("minified");
});
