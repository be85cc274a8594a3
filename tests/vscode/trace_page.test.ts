import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./harness/browser.ts";
import { ARTEFACTS, ROOT, VENV } from "./harness/paths.ts";

const TRACES = join(ROOT, "tests/compiler/traces");
const EVIL =
  "<img src=https://evil.invalid/x.png onerror=alert(1)></script><script>alert(1)</script>";

/** What the log of a GPU is of, as far as its findings go. */
const SOURCE = `import torch


def toy(dev):
    """Programs of make_traces.py."""

    @torch.compile
    def toy_example(a, b):
        # Two graph breaks.
        x = a / (torch.abs(a) + 1)
        print("woo")
        if b.sum() < 0:
            b = b * -1
        return torch.softmax(x * b, -1)
`;

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await launchBrowser();
  folder = mkdtempSync(join(tmpdir(), "fullgraph-page-"));
  writeFileSync(join(folder, "pyproject.toml"), "[project]\n");
  copyFileSync(join(TRACES, "program.py"), join(folder, "program.py"));
  writeFileSync(join(folder, "make_traces.py"), SOURCE);
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Opens the page of a log; what it asks for and complains about is noted. */
async function openPage(log: Buffer | string): Promise<{ page: Page; noted: string[] }> {
  writeFileSync(join(folder, "job.log"), log);
  const program = join(VENV, "bin/fullgraph");
  const command = ["trace", "job.log", "-o", "out", "--fail-on", "never"];
  execFileSync(program, command, { cwd: folder, stdio: "pipe" });
  const page = await browser.newPage({ viewport: { width: 1100, height: 1400 } });
  const noted: string[] = [];
  page.on("console", (message) => noted.push(message.text()));
  page.on("pageerror", ({ message }) => noted.push(message));
  page.on("request", (request) => noted.push(request.url()));
  page.on("dialog", (dialog) => {
    noted.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(join(folder, "out/index.html")).href);
  return { page, noted };
}

async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}

test("the page of a trace shows the findings, a graph and its kernels without a network", async () => {
  const log = gunzipSync(readFileSync(join(TRACES, "torch-2.11-gpu-toy.log.gz")));
  const { page, noted } = await openPage(log);
  await page.getByRole("heading", { name: "job.log" }).waitFor();
  await page.getByText('print("woo")').first().waitFor();
  await expect.poll(() => page.locator(".flame").getByRole("button").count()).toBeGreaterThan(10);
  await page.locator(".picture svg .node").first().waitFor();
  await picture(page, "trace-page");

  const name = page.getByRole("region", { name: "Kernels" }).locator("tbody th").first();
  await name.getByRole("button").click();
  const shown = page.getByRole("dialog");
  await expect.poll(() => shown.locator("pre").innerText()).toContain("import triton");
  await shown.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => shown.count()).toBe(0);

  const texts = page.getByRole("region", { name: "All texts of the trace" });
  await texts.getByText(/^0\/0 · /).click();
  await texts.getByRole("button", { name: "dynamo_cpp_guards_str" }).first().click();
  await expect.poll(() => shown.locator("pre").innerText()).toContain("TREE_GUARD_MANAGER");
  expect(noted.filter((note) => !/^(file|blob):/.test(note))).toEqual([]);
  await page.close();
});

test("what a log says does nothing in its page", async () => {
  const log = gunzipSync(readFileSync(join(TRACES, "torch-2.13.log.gz"))).toString();
  const hostile = log
    .replaceAll("Failed to trace builtin operator", EVIL)
    .replaceAll('"co_name": "toy"', `"co_name": "${EVIL}"`);
  const { page, noted } = await openPage(hostile);
  const findings = page.getByRole("region", { name: "Findings" });
  await findings.getByText(EVIL).first().waitFor();
  await findings.getByText('print("woo")').first().waitFor();
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("script").count()).toBe(2);
  expect(noted.filter((note) => !note.startsWith("file:"))).toEqual([]);
  await picture(page, "trace-page-hostile");
  await page.close();
});
