import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario(
  "quick fix and hover show torch's whole message, with links into the file",
  async (scene) => {
    const window = await scene.open({ open: scene.workspace({}, "examples") });
    await window.openFile("toy.py");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);

    await window.clickText("print(");
    await window.quickFix("Show the full explanation of GB0059");
    await window.preview.getByText("torch's whole message").waitFor();
    const text = await window.preview.innerText();
    expect(text).toContain("GB0059: Failed to trace builtin operator");
    expect(text).toContain("Developer debug context: builtin print");
    expect(text).toContain("The graph before the break");
    expect(text).toContain("torch.abs");
    await scene.picture("explanation");

    await window.preview.getByRole("link", { name: "toy.py:16" }).click();
    await expect.poll(() => window.activeFile()).toBe("toy.py");
    await expect.poll(() => window.line()).toBe(16);

    await window.hover("b.sum()");
    await window.page.locator(".monaco-hover:visible").getByText("Full explanation").click();
    await window.preview.getByText("GB0170: Data-dependent branching").waitFor();
  },
);
