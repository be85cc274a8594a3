import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { LONG, PRODUCT } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

/** Compiled twice, the second time for another size. */
const TWICE = PRODUCT.replace(
  /# fullgraph: .*\n/,
  (call) => call + call.replace("8, 16", "12, 16"),
);

scenario("a report shows where compile time went, the graphs and the kernels", async (scene) => {
  const window = await scene.enter({ "model.py": TWICE });
  await window.openFile("model.py");
  await window.palette("Fullgraph: Open Compile Report");
  const report = window.preview;
  await report.getByRole("heading", { name: "model.py" }).waitFor({ timeout: LONG });
  await window.page.getByRole("tab", { name: "Report: model.py" }).waitFor();
  await expect
    .poll(() => report.getByRole("listitem").allInnerTexts())
    .toContain("1 recompilation");

  const bars = report.locator(".flame").getByRole("button");
  await expect.poll(() => bars.count()).toBeGreaterThan(10);
  await scene.picture("report-times");
  await bars.first().focus();
  await window.page.keyboard.press("ArrowDown");
  await expect
    .poll(() => report.locator(".flame-details").innerText())
    .toMatch(/^0\/0 step · [\d.]+ m?s · \d+ % of compile time$/);
  await window.page.keyboard.press("Enter");
  const other = report.locator(".flame").getByRole("button", { name: /^0\/1 step/ });
  await expect.poll(() => other.count()).toBe(0);
  await window.page.keyboard.press("Escape");
  await expect.poll(() => other.count()).toBe(1);

  const times = report.getByRole("region", { name: "Compile time" });
  await times.getByText("As a table").click();
  await times.getByRole("cell", { name: "backend_compile" }).first().waitFor();
  await window.page.getByRole("tab", { name: "model.py", exact: true }).click();
  await window.shows("model.py");
  await window.page.getByRole("tab", { name: "Report: model.py" }).click();
  await times.getByRole("cell", { name: "backend_compile" }).first().waitFor();

  const compilations = report.getByRole("region", { name: "Compilations" }).locator("tbody tr");
  await expect
    .poll(() => compilations.allInnerTexts())
    .toEqual([
      expect.stringMatching(/0\/0\s+step.*first compilation/s),
      expect.stringMatching(/0\/1\s+step.*\bx\b.*8.*12/s),
    ]);

  const graphs = report.getByRole("region", { name: "Graphs" });
  await graphs.getByRole("combobox").selectOption("0/0 forward");
  await graphs.getByRole("link", { name: /aten.relu/ }).scrollIntoViewIfNeeded();
  await scene.picture("report-graph");

  const kernels = report.getByRole("region", { name: "Kernels" });
  const names = () => kernels.locator("tbody th").allInnerTexts();
  let before: string[] = [];
  await expect.poll(async () => (before = await names())).not.toEqual([]);
  await kernels.getByRole("columnheader", { name: /Kernel/ }).click();
  await expect.poll(names).toEqual(before.toSorted().toReversed());
  await kernels.locator("tbody tr").last().scrollIntoViewIfNeeded();
  await scene.picture("report-kernels");

  await graphs.getByRole("link", { name: /aten.relu/ }).click();
  await expect.poll(() => window.activeFile()).toBe("model.py");
  await expect.poll(() => window.line()).toBe(8);

  await kernels
    .getByRole("button", { name: /^cpp_fused_add_exp_relu/ })
    .first()
    .click();
  await expect.poll(() => window.activeFile()).toMatch(/^cpp_fused_add_exp_relu.*\.cpp$/);
  await scene.picture("report-beside-kernel");

  await report.getByRole("button", { name: "Export as HTML" }).click();
  await expect
    .poll(() => window.quickInput.locator("input").first().inputValue())
    .toMatch(/model\.py\.html$/);
  await window.page.keyboard.press("Enter");
  await expect.poll(() => window.messages()).toContainEqual(expect.stringMatching(/report is in/));
  const exported = join(scene.sharedFolder, "model.py.html");
  expect(readFileSync(exported, "utf8")).not.toContain("vscode-resource");
  const page = await window.page.context().browser()?.newPage();
  const complaints: string[] = [];
  page?.on("console", (message) => complaints.push(message.text()));
  await page?.goto(pathToFileURL(exported).href);
  await page?.getByRole("link", { name: /aten.relu/ }).waitFor();
  await expect.poll(() => page?.locator(".flame").getByRole("button").count()).toBeGreaterThan(10);
  expect(complaints).toEqual([]);
  await page?.close();
});
