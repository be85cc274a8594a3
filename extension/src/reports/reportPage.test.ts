import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { exportedPage, panelPage } from "./reportPage";
import { performanceItem } from "../testing/performance";

const EVIL = "</script><script>alert(1)</script>";

function exported(label: string): string {
  return exportedPage({ report: performanceItem({ label }), drawings: [] }, "run()", "a{}");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

test("what is exported runs no script but its own", () => {
  const page = exported(EVIL);
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page).toContain(`default-src 'none'; script-src 'sha256-${hash("run()")}'`);
  expect(page).toContain(`style-src 'sha256-${hash("a{}")}'`);
});

test("what is exported can be read again", () => {
  const [, data = ""] = /id="exported">(.*?)<\/script>/s.exec(exported(EVIL)) ?? [];
  expect(JSON.parse(data)).toMatchObject({ report: { label: EVIL } });
});

test("the page in a panel loads nothing but what the extension brings", () => {
  const page = panelPage("vscode:/report.js", "vscode:/report.css", "vscode:");
  expect(page).toContain("default-src 'none'; script-src vscode:; style-src vscode:;");
  expect(page).not.toContain("unsafe");
});
