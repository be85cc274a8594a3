import { expect } from "vitest";
import { LONG, PRODUCT } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a kernel opens beside its source, with what belongs together marked", async (scene) => {
  const window = await scene.enter({ "model.py": PRODUCT });
  await window.openFile("model.py");
  await window.clickText("relu");
  await window.palette("Fullgraph: Open Generated Kernels");
  const first = window.quickRows.filter({ hasText: "cpp_fused_add_exp_relu" }).first();
  await first.waitFor({ timeout: LONG });
  await expect.poll(() => first.textContent()).toContain("model.py:7");
  await first.click();

  await expect.poll(() => window.activeFile()).toMatch(/^cpp_fused_add_exp_relu.*\.cpp$/);
  await window.page.locator(".view-line", { hasText: 'extern "C"' }).waitFor();
  const lenses = async () => (await window.lenses()).join("\n");
  await expect.poll(lenses).toMatch(/model\.py:7 z = torch.relu[^]*model\.py:8 return z\.exp\(\)/);
  const marked = window.page.locator(".view-overlays [class*='ced-']");
  await expect.poll(() => marked.count()).toBe(2);
  await scene.picture("kernel");

  await window.clickLens("model.py:8");
  await expect.poll(() => window.activeFile()).toBe("model.py");
  await expect.poll(() => window.line()).toBe(8);
  // The line of the kernel that computes it, and no other.
  await expect.poll(() => marked.count()).toBe(1);
  const exp = window.page.locator(".view-line", { hasText: "tmp4.exp()" });
  const distance = async () => {
    const [mark, line] = await Promise.all([marked.boundingBox(), exp.boundingBox()]);
    return (mark?.y ?? NaN) - (line?.y ?? NaN);
  };
  await expect.poll(distance).toBe(0);
  await scene.picture("kernel-of-a-line");
});
