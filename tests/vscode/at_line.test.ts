import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";
import type { Window } from "./harness/window.ts";

const PROGRAM = `import torch


@torch.compile
def step(x, scale):
    y = x * scale
    print("half way")
    return y.relu()


if __name__ == "__main__":
    for size in (4, 6):
        step(torch.ones(size), 3.0)
`;

/** The texts of the view, from top to bottom: its message, then its rows. */
async function shown({ page }: Window): Promise<string> {
  const view = page.locator(".part.panel .tree-explorer-viewlet-tree-view").first();
  const rows = await view.locator(".monaco-list-row").evaluateAll((elements) =>
    (elements as HTMLElement[])
      .map((element) => ({ top: element.getBoundingClientRect().top, text: element.innerText }))
      .sort((left, right) => left.top - right.top)
      .map(({ text }) => text.replaceAll(/\s+/g, " ").trim()),
  );
  const [message = ""] = await view.locator(".message").allInnerTexts();
  return [message.replaceAll(/\s+/g, " ").trim(), ...rows].join("\n");
}

scenario("a view tells everything that is known of the cursor's line", async (scene) => {
  const window = await scene.enter({ "model.py": PROGRAM });
  await window.openFile("model.py");
  await window.palette("Fullgraph: Focus on At This Line View");
  await window.clickText("x * scale");
  await expect.poll(() => shown(window)).toContain("no run has imported this file");

  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => shown(window), { timeout: LONG }).toMatch(/^model\.py:6\n/);
  const line = await shown(window);
  expect(line).toContain("Graph 1 of 2");
  expect(line).toContain("recompiled");
  await scene.picture("at-line");

  await window.clickText('print("half way")');
  await expect.poll(() => shown(window)).toContain("`print` breaks the graph");
  expect(await shown(window)).toMatch(/^model\.py:7\n/);

  // A pinned line stays while the cursor moves, and moves with its text.
  await window.palette("Fullgraph: Pin This Line");
  await expect.poll(() => shown(window)).toMatch(/^model\.py:7 · pinned\n/);
  await window.typeBehind("import torch", "\n");
  await expect.poll(() => shown(window)).toMatch(/^model\.py:8 · pinned\n/);
  expect(await shown(window)).toContain("`print` breaks the graph");
  await scene.picture("at-line-pinned");

  await window.palette("Fullgraph: Unpin and Follow the Cursor");
  await window.clickText("y.relu");
  await expect.poll(() => shown(window)).toMatch(/^model\.py:9\n/);
});
