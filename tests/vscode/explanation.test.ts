import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario(
  "quick fix and hover show torch's whole message, with links into the file",
  async (scene) => {
    const window = await scene.enter();
    await window.openFile("toy.py");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);
    await expect.poll(async () => (await window.lenses()).join("\n")).toContain("compiled in");

    await window.clickText("print(");
    await window.quickFix("Show the full explanation of GB0059");
    await window.preview.getByText("torch's whole message").waitFor();
    for (const text of [
      "GB0059: print breaks the graph",
      "Developer debug context: builtin print",
      "The graph before the break",
      "torch.abs",
    ]) {
      await expect.poll(() => window.preview.innerText()).toContain(text);
    }
    await scene.picture("explanation");

    await window.preview.getByRole("link", { name: "toy.py:16" }).click();
    await expect.poll(() => window.activeFile()).toBe("toy.py");
    await expect.poll(() => window.line()).toBe(16);

    await expect.poll(() => window.hover("b.sum()")).toContain("Full explanation");
    await window.page.locator(".monaco-hover:visible").getByText("Full explanation").click();
    await window.preview
      .getByText("GB0170: a branch on the data of b.sum() breaks the graph")
      .waitFor();
  },
);

scenario(
  "an explanation opens beside the program, and says when its finding is gone",
  async (scene) => {
    const window = await scene.enter();
    await window.openFile("toy.py");
    await window.palette("Fullgraph: Analyze This File");
    await expect.poll(() => window.squiggles()).toEqual(BREAKS);
    await window.clickText("print(");
    await window.quickFix("Show the full explanation of GB0059");
    await window.preview.getByText("torch's whole message").waitFor();
    // The explanation has the focus now.
    await window.page.locator('.tab[data-resource-name="toy.py"]').first().click();
    await window.shows("toy.py");
    await window.deleteLine("print(");
    await window.save();
    await window.preview.getByText("The last run no longer has this finding.").waitFor();
    await window.preview.getByText("torch's whole message").waitFor();
  },
);
