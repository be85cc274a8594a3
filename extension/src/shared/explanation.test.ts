import { afterEach, expect, test } from "vitest";
import { previewLinks, refreshPage, showPage } from "./explanation";
import { executed, extensions, folder, Uri, workspace } from "../testing/vscode";

const LINK = "at [toy.py:9](file:///my%20w%C3%B6rk/toy.py#L9), see <https://pytorch.org>";

afterEach(() => {
  workspace.workspaceFolders = undefined;
  workspace.textDocuments = [];
  executed.length = 0;
});

test("links to files lead from the folder to the top, and from there to the file", () => {
  workspace.workspaceFolders = [folder("/my wörk")];
  expect(previewLinks(LINK)).toMatch(
    /^at \[toy\.py:9\]\((\/\.\.)+\/my%20w%C3%B6rk\/toy\.py#L9\), see <https:/,
  );
});

test("without a folder they are text", () => {
  expect(previewLinks(LINK)).toBe("at toy.py:9, see <https://pytorch.org>");
});

test("a file's name may have brackets, and escaped text is no link", () => {
  workspace.workspaceFolders = [folder("/w")];
  expect(previewLinks("[a\\]b.py:1](file:///w/a%5Db.py#L1)")).toMatch(
    /^\[a\\\]b\.py:1\]\((\/\.\.)+/,
  );
  expect(previewLinks("\\[x\\](file:///w/x.py)")).toBe("\\[x\\](file:///w/x.py)");
});

test("a page is read again by hand only if its text is forgotten", async () => {
  const refresh = ["markdown.preview.refresh"];
  await refreshPage();
  expect(executed).toEqual([]);

  extensions.installed.set("vscode.markdown-language-features", {
    isActive: true,
    exports: undefined,
    activate: () => Promise.resolve(),
  });
  const page = Uri.parse("fullgraph-explanation:/GB0059%20in%20toy.py.md");
  expect(await showPage(page.toString())).toBe(true);
  workspace.textDocuments = [{ uri: page }];
  await refreshPage();
  expect(executed).not.toContainEqual(refresh);

  workspace.textDocuments = [];
  await refreshPage();
  expect(executed).toContainEqual(refresh);
});
