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
  // By their icons: the labels for screen readers stay behind.
  const states = () =>
    rows.evaluateAll((all) =>
      all.map((row) => {
        const icon = row.querySelector(".computed-state")?.className ?? "";
        const state = /codicon-(?:testing-)?(\w+)/.exec(icon)?.[1] ?? "";
        return `${row.querySelector(".label")?.firstChild?.textContent ?? ""}: ${state}`;
      }),
    );
  await expect.poll(states).toEqual(["block.py: unset", "test_block.py: unset"]);

  const file = rows.filter({ hasText: "test_block.py" });
  await window.until(rows.filter({ hasText: "test_endless" }), () =>
    file.locator(".monaco-tl-twistie").click(),
  );
  // Once: a second click would run them again.
  await file.hover();
  await file.locator("[aria-label='Run Test']").click();
  await expect
    .poll(states, { timeout: 2 * LONG })
    .toEqual([
      "block.py: unset",
      "test_block.py: loading",
      "test_breaks: failed",
      "test_endless: loading",
    ]);
  await scene.picture("testing");
  await window.palette("Test: Cancel Test Run");
  await expect.poll(states).toContain("test_endless: skipped");

  await window.palette("Fullgraph: Show Program Output");
  const output = window.page.locator(".panel .view-line");
  // The channel shows its end: of the test that passed, or of the one that was stopped.
  await output
    .getByText(/collected\s1\sitem|1\spassed\sin/)
    .first()
    .waitFor();
  await scene.picture("program-output");
});
