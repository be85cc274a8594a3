import type { Uri as RealUri } from "vscode";
import { afterEach, expect, test } from "vitest";
import { interpreterSetting, withInterpreter } from "./settings";
import { folder, settings, Uri, workspace } from "../testing/vscode";

const FILE = Uri.file("/project/toy.py") as unknown as RealUri;

afterEach(() => {
  settings.clear();
  workspace.workspaceFolders = undefined;
});

test.each([undefined, null, "", "  ", 3, ["python"], { path: "python" }])(
  "%j is no interpreter",
  (value) => {
    settings.set("interpreter", value);
    expect(interpreterSetting(FILE)).toBeUndefined();
  },
);

test("the folder may be named in a path", () => {
  workspace.workspaceFolders = [folder("/project")];
  settings.set("interpreter", "${workspaceFolder}/.venv");
  expect(interpreterSetting(FILE)).toBe("/project/.venv");
  const section = {
    interpreter: "${workspaceFolder}/.venv",
    previewPython: "${workspaceFolder}/gpu",
    timeout: 3,
  };
  expect(withInterpreter(section, FILE, "/active")).toEqual({
    interpreter: "/project/.venv",
    previewPython: "/project/gpu",
    timeout: 3,
    activeInterpreter: "/active",
  });
});

test("values of wrong types reach the server as they are, to be complained about", () => {
  expect(withInterpreter({ interpreter: 3 }, FILE, undefined)).toMatchObject({ interpreter: 3 });
  expect(withInterpreter("yes", FILE, "/active")).toBe("yes");
});
