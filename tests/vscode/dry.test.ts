import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { scenario } from "./harness/scene.ts";

scenario("a dry run stands beside what the ordinary run found", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await window.openView("Fullgraph");
  const description = async () => (await window.target("toy.py"))?.description;
  await expect.poll(description, { timeout: LONG }).toMatch(/^2 graph breaks · /);
  await window.palette("Fullgraph: Analyze…");
  await window.choose("Dry Run");
  await window.expand("toy.py");
  const dry = async () => (await window.target("Dry run"))?.description;
  await expect.poll(dry, { timeout: LONG }).toMatch(/^2 graph breaks · /);
  expect(await description()).toMatch(/^2 graph breaks · /);
});
