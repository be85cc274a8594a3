import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { descendants } from "./harness/processes.ts";
import { scenario } from "./harness/scene.ts";

scenario("in Restricted Mode nothing runs until trust is granted", async (scene) => {
  const window = await scene.open({ open: scene.workspace(), restricted: true });
  await window.openFile("toy.py");
  await window.openView("Fullgraph");
  await expect
    .poll(() => window.welcome())
    .toContain("In Restricted Mode nothing of this workspace is run");
  await expect.poll(() => window.status()).toContain("Restricted Mode");
  await window.palette("Fullgraph: Analyze This File");
  await expect
    .poll(() => window.messages())
    .toEqual([expect.stringContaining("Fullgraph runs nothing in Restricted Mode")]);
  expect(descendants(scene.pid, "python")).toEqual([]);
  await scene.picture("restricted");

  await window.answer("Manage Workspace Trust");
  await window.page.getByRole("button", { name: "Trust", exact: true }).click();
  await window.openFile("toy.py");
  await expect.poll(() => window.target("toy.py")).toMatchObject({ description: "" });
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  await scene.picture("trusted");
});
