import { join } from "node:path";
import { expect } from "vitest";
import { BREAKS } from "./harness/examples.ts";
import { install, pack } from "./harness/install.ts";
import { VENV, VSIX } from "./harness/paths.ts";
import { scenario, type Scene } from "./harness/scene.ts";

const SELECTED = join(VENV, "bin/python");

/** Both speak of the `.venv` of the folder at first, and of another Python after the command `stub.change`. */
const START = `
const { commands, EventEmitter, workspace } = require("vscode");
const changed = new EventEmitter();
let path = require("path").join(workspace.workspaceFolders[0].uri.fsPath, ".venv/bin/python");
commands.registerCommand("stub.change", () => { path = ${JSON.stringify(SELECTED)}; changed.fire({}); });
`;

const PYTHON = `${START}
exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ id: path, path }),
    resolveEnvironment: async (asked) => ({ executable: { uri: { fsPath: asked.path } } }),
    onDidChangeActiveEnvironmentPath: changed.event,
  },
});
`;

const ENVIRONMENTS = `${START}
exports.activate = () => ({
  getEnvironment: async () => ({ execInfo: { run: { executable: path } } }),
  onDidChangeEnvironment: changed.event,
});
`;

const SILENT = `
exports.activate = () => ({
  getEnvironment: () => new Promise(() => {}),
  onDidChangeEnvironment: () => ({ dispose() {} }),
});
`;

function withStub(scene: Scene, id: string, program: string): string {
  const stub = pack(scene.folder, id, program, "onLanguage:python");
  return install(join(scene.folder, "extensions"), VSIX, stub);
}

async function followsSelection(scene: Scene, id: string, program: string): Promise<void> {
  const extensions = withStub(scene, id, program);
  const folder = scene.workspace();
  const window = await scene.open({ open: folder, extensions });
  await window.openFile("toy.py");
  await expect
    .poll(() => window.status())
    .toContain(`${join(folder, ".venv/bin/python")} (the Python extension)`);
  await window.palette("Stub: Change");
  await expect.poll(() => window.status()).toContain(`${SELECTED} (the Python extension)`);
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
}

scenario("the interpreter of the Python extension is used", (scene) =>
  followsSelection(scene, "ms-python.python", PYTHON),
);

scenario("the interpreter of the Python Environments extension is used", (scene) =>
  followsSelection(scene, "ms-python.vscode-python-envs", ENVIRONMENTS),
);

scenario("a Python Environments extension that never answers is not waited for", async (scene) => {
  const extensions = withStub(scene, "ms-python.vscode-python-envs", SILENT);
  const folder = scene.workspace();
  const window = await scene.open({ open: folder, extensions });
  await window.openFile("toy.py");
  await expect.poll(() => window.status()).toContain(join(folder, ".venv/bin/python"));
  await window.palette("Fullgraph: Analyze This File");
  await expect.poll(() => window.squiggles()).toEqual(BREAKS);
});
