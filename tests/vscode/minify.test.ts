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

  // Progress names the stages; what they tell stands on the line, in the place of the failure.
  await window.palette("Fullgraph: Analyze…");
  await window.quickRow("Dry Run").waitFor();
  await window.page.keyboard.type("Which Stage");
  await window.choose("Which Stage Is at Fault?");
  await window.page
    .locator(".statusbar", { hasText: /looking for the stage at fault in fails\.py: stages? \d/ })
    .waitFor();
  await expect
    .poll(() => window.problems(), { timeout: LONG })
    .toContainEqual(expect.stringMatching(/The fault is in the backend relu_compile_error/));
  expect(await window.squiggles()).toEqual([
    { severity: "error", text: "return torch.relu(z) * 2" },
  ]);
  await scene.picture("stages");

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
