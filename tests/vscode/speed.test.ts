import { join } from "node:path";
import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { VENV } from "./harness/paths.ts";
import { scenario } from "./harness/scene.ts";

/** Small tensors and a graph break: the calls take longer than what they compute. */
const SMALL = `import torch


@torch.compile
def step(x, w):
    y = torch.relu(x @ w)
    largest = max(y.sum(dim=1).tolist())
    z = (y / largest).exp()
    return z + 1


x, w = torch.randn(16, 8), torch.randn(8, 16)
for _ in range(3):
    step(x, w)
`;

scenario("what the time of a call goes to stands in a report and on the lines", async (scene) => {
  // Where torch itself lies in a folder with a blank, as this one, it compiles no C++.
  const interpreter = join(VENV, "bin/python");
  const window = await scene.enter({
    "model.py": SMALL,
    ".vscode/settings.json": JSON.stringify({ "fullgraph.interpreter": interpreter }),
  });
  await window.openFile("model.py");
  // Two columns need room.
  await window.palette("View: Toggle Primary Side Bar Visibility");
  await window.palette("Fullgraph: Analyze…");
  await window.choose("Why Is It Not Faster?");
  const speed = window.preview.getByRole("region", { name: "Speed of a call" });
  const bar = speed.getByRole("img", { name: /\d+ % entering and leaving graphs/ });
  await bar.waitFor({ timeout: LONG });
  await expect.poll(() => window.messages()).toContainEqual(expect.stringMatching(/uncompiled/));
  /** The pixels of the bar behind its last part. */
  const left = async () => {
    const [last, all] = await Promise.all([
      bar.locator(".part").last().boundingBox(),
      bar.boundingBox(),
    ]);
    return last && all && Math.round(last.x + last.width - all.x - all.width);
  };
  await expect.poll(left).toBe(0);
  const shares = await speed.locator("table tbody tr").allInnerTexts();
  expect(shares.join("\n")).toMatch(/between graphs, uncompiled\s+[\d.]+ µs\s+\d+ %/);

  await speed.getByRole("button", { name: "model.py:7" }).click();
  await expect.poll(() => window.activeFile()).toBe("model.py");
  await expect.poll(() => window.line()).toBe(7);
  const line = window.editor.locator(".view-line", { hasText: "largest = max" });
  const cost = /[\d.]+ us, \d+ % outside of graphs/;
  await expect.poll(() => line.innerText().then(plain)).toMatch(cost);
  await window.page.keyboard.press("Escape");
  await scene.picture("speed");

  await window.typeBehind("dim=1", ", keepdim=False");
  await expect.poll(() => line.innerText().then(plain)).not.toMatch(cost);
});

/** The editor draws blanks that do not break. */
function plain(text: string): string {
  return text.replaceAll("\u00A0", " ");
}
