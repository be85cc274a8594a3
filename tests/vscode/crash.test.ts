import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { descendants } from "./harness/processes.ts";
import { scenario } from "./harness/scene.ts";

scenario("a killed server comes back", async (scene) => {
  const window = await scene.enter();
  await window.openFile("toy.py");
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);

  const servers = () => descendants(scene.pid, "server/start.py").map(({ pid }) => pid);
  await expect.poll(servers).toHaveLength(1);
  const killed = servers();
  killed.forEach((pid) => process.kill(pid, "SIGKILL"));
  await expect.poll(() => window.squiggles()).toEqual([]);
  await expect.poll(() => servers().filter((pid) => !killed.includes(pid))).toHaveLength(1);
  await expect.poll(() => window.lenses()).toEqual(["▶ Analyze with Fullgraph"]);
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
  expect(await window.messages()).toEqual([]);
});
