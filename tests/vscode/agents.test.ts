import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { LONG } from "./harness/examples.ts";
import { install, pack } from "./harness/install.ts";
import { VSIX } from "./harness/paths.ts";
import { scenario } from "./harness/scene.ts";

/** Calls a tool as a chat does, at the command `stub.change`, and writes what it is told. */
const AGENT = `
const { commands, lm, workspace } = require("vscode");
const { writeFileSync } = require("fs");
exports.activate = () => {
  commands.registerCommand("stub.change", async () => {
    const file = require("path").join(workspace.workspaceFolders[0].uri.fsPath, "told.json");
    const options = { input: { target: "toy.py" }, toolInvocationToken: undefined };
    const told = await lm.invokeTool("fullgraph_check_target", options).then(
      ({ content }) => content[0].value,
      (error) => JSON.stringify({ error: String(error) }),
    );
    writeFileSync(file, told);
  });
};
`;

scenario("a language model calls a tool once its call is confirmed", async (scene) => {
  const stub = pack(scene.folder, "fullgraph.agent", AGENT, "onLanguage:python");
  const extensions = install(join(scene.folder, "extensions"), VSIX, stub);
  const folder = scene.workspace();
  const window = await scene.open({ open: folder, extensions });
  await window.openFile("toy.py");
  await window.palette("Stub: Change");
  const question = window.page.locator(".monaco-dialog-box", {
    hasText: "This runs the code of toy.py",
  });
  await question.waitFor({ timeout: LONG });
  await scene.picture("tool-confirmation");
  await question.locator(".monaco-button", { hasText: "Yes" }).click();
  const told = (): unknown => JSON.parse(readFileSync(join(folder, "told.json"), "utf-8"));
  await expect
    .poll(told, { timeout: LONG })
    .toMatchObject({ target: "toy.py", status: "finished" });
});
