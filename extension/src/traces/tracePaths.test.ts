import { afterEach, beforeEach, expect, test } from "vitest";
import type { ReportItem } from "../protocol";
import type { Server } from "../server/server";
import { frame, report, target } from "../testing/reports";
import { dialogs, folder, settings, shown, Uri, workspace } from "../testing/vscode";
import { mapRemoteFolder, remoteFolder } from "./tracePaths";

beforeEach(() => {
  workspace.workspaceFolders = [folder("/project")];
  dialogs.typed = "/remote";
  dialogs.chosen = Uri.file("/project/src");
  settings.clear();
  shown.length = 0;
});

afterEach(() => {
  workspace.workspaceFolders = undefined;
});

function told(...files: string[]): ReportItem {
  const { range } = frame().location;
  return report({
    frames: files.map((file) => frame({ location: { uri: `file://${file}`, range } })),
  });
}

test.each([
  [["/project/toy.py"], ""],
  [["/there/app/toy.py"], "/there/app"],
  [["/there/app/toy.py", "/project/here.py", "/there/app/sub/other.py"], "/there/app"],
  [["/there/app/toy.py", "/there/application/toy.py"], "/there"],
  [["/env/lib/python3.12/site-packages/lib/a.py", "/there/toy.py"], "/there"],
])("of %j, the folder elsewhere is %s", (files, expected) => {
  expect(remoteFolder([told(...files), undefined])).toBe(expected);
});

test("what open traces tell of is suggested", async () => {
  const server = {
    request: (method: string) =>
      Promise.resolve(
        method === "fullgraph/targets"
          ? [target({ kind: "trace" }), target()]
          : told("/there/app/toy.py"),
      ),
  } as unknown as Server;
  await mapRemoteFolder(server, undefined);
  expect(dialogs.suggested).toBe("/there/app");
});

const TRACE = {
  ...{ kind: "target" as const, id: "t", parent: undefined },
  ...{ item: target({ kind: "trace" }), report: told("/there/toy.py") },
};
const NOBODY = {} as unknown as Server;

test("a folder is remembered beside others, relative to the only one of the workspace", async () => {
  settings.set("tracePaths", { "/other": "." });
  await mapRemoteFolder(NOBODY, TRACE);
  expect(dialogs.suggested).toBe("/there");
  expect(settings.get("tracePaths")).toEqual({ "/other": ".", "/remote": "src" });
});

test("the whole workspace is a dot", async () => {
  dialogs.chosen = Uri.file("/project");
  await mapRemoteFolder(NOBODY, TRACE);
  expect(settings.get("tracePaths")).toEqual({ "/remote": "." });
});

test("of several folders, the whole path is remembered", async () => {
  workspace.workspaceFolders?.push(folder("/second"));
  await mapRemoteFolder(NOBODY, TRACE);
  expect(settings.get("tracePaths")).toEqual({ "/remote": "/project/src" });
});

test("a folder outside of the workspace is refused", async () => {
  dialogs.chosen = Uri.file("/elsewhere");
  await mapRemoteFolder(NOBODY, TRACE);
  expect(settings.size).toBe(0);
  expect(shown).toEqual(["/elsewhere is not in this workspace: choose a folder in the workspace."]);
});

test("without a folder there is nothing to map to", async () => {
  workspace.workspaceFolders = undefined;
  await mapRemoteFolder(NOBODY, TRACE);
  expect(shown).toEqual(["No folder is open: open the folder with the source of the trace first."]);
});
