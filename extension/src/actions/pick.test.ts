import { afterEach, expect, test } from "vitest";
import { targetPicks } from "./pick";
import { target } from "../testing/reports";
import { folder, workspace } from "../testing/vscode";

const CONFIGURED = target({ id: "train", label: "train", configured: true });
const TARGETS = [
  CONFIGURED,
  target({ id: "toy", state: "crashed" }),
  target({ id: "f", label: "f", uri: "file:///project/model/block.py" }),
  target({ id: "g", label: "g", uri: "file:///project/model/block.py" }),
];

afterEach(() => {
  workspace.workspaceFolders = undefined;
});

test("targets stand below what they come from", () => {
  workspace.workspaceFolders = [folder("/project")];
  expect(targetPicks(TARGETS).map(({ label }) => label)).toEqual([
    ...["pyproject.toml", "train"],
    ...["toy.py", "toy.py"],
    ...["model/block.py", "f", "g"],
  ]);
});

test("of several folders, each is named", () => {
  workspace.workspaceFolders = [folder("/project"), folder("/other")];
  const labels = targetPicks(TARGETS).map(({ label }) => label);
  expect(labels).toContain("project/pyproject.toml");
  expect(labels).toContain("project/model/block.py");
});

test("where there is none, the list says so", () => {
  expect(targetPicks([])).toMatchObject([{ label: "No targets found" }]);
});
