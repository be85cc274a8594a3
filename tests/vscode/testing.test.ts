import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

const TESTS = `import torch


def test_breaks():
    f = torch.compile(lambda x: (print("woo"), x * 2)[1])
    f(torch.ones(2))


def test_endless():
    while True:
        pass
`;

scenario("tests and example calls run from the Testing view, and stop with it", async (scene) => {
  const window = await scene.enter({ "test_block.py": TESTS });
  await window.openFile("test_block.py");
  await window.palette("Testing: Focus on Test Explorer View");
  const rows = window.page.locator(".test-explorer .monaco-list-row");
  const states = () => rows.evaluateAll((all) => all.map((row) => row.ariaLabel));
  await expect.poll(states).toEqual(["block.py (Not yet run)", "test_block.py (Not yet run)"]);

  const file = rows.filter({ hasText: "test_block.py" });
  await window.until(rows.filter({ hasText: "test_endless" }), () =>
    file.locator(".monaco-tl-twistie").click(),
  );
  const begun = rows.and(window.page.locator(":not([aria-label*='Not yet run'])"));
  await window.until(begun, async () => {
    await file.hover();
    await file.locator("[aria-label='Run Test']").click();
  });
  await expect
    .poll(states, { timeout: 2 * LONG })
    .toEqual([
      "block.py (Not yet run)",
      expect.stringMatching(/^test_block.py \(Running/),
      expect.stringMatching(/^test_breaks.* \(Failed/),
      expect.stringMatching(/^test_endless.* \(Running/),
    ]);
  await scene.picture("testing");
  await window.palette("Test: Cancel Test Run");
  await expect.poll(states).toContainEqual(expect.stringMatching(/^test_endless.* \(Skipped/));

  await window.palette("Fullgraph: Show Program Output");
  const output = window.page.locator(".panel .view-line");
  // The channel shows its end: of the test that passed, or of the one that was stopped.
  await output
    .getByText(/collected\s1\sitem|1\spassed\sin/)
    .first()
    .waitFor();
  await scene.picture("program-output");
});
