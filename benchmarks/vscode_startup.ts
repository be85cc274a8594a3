/**
 * How long after VS Code itself Fullgraph is ready, in a window that opens with a Python file.
 *
 * VS Code's own start ends when it activates an extension that does nothing, for the same file in the same
 * window. The first start after an installation has no compiled Python files yet, and is told apart.
 */

import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchBrowser } from "../tests/vscode/harness/browser.ts";
import { startCodeServer } from "../tests/vscode/harness/code_server.ts";
import { ROOT } from "../tests/vscode/harness/paths.ts";
import { extensionsWith } from "../tests/vscode/harness/stub_extension.ts";

const STARTS = 5;
const TARGET_MS = 1500;
const PATIENCE_MS = 60_000;

const STUB = `
const { writeFileSync } = require("node:fs");
exports.activate = () => writeFileSync(process.env.STUB_ACTIVATED, String(Date.now()));
`;

interface Start {
  /** From the request for the page to the activation of the extension that does nothing. */
  readonly editor: number;
  /** From there to the server being ready. */
  readonly beyond: number;
  /** What Fullgraph says that its own activation took. */
  readonly activation: number;
}

async function start(folder: string, extensions: string): Promise<Start> {
  const home = mkdtempSync(join(folder, "home-"));
  const stamp = join(home, "activated");
  const env = { STUB_ACTIVATED: stamp };
  const server = await startCodeServer({ home, extensions, env });
  const browser = await launchBrowser();
  try {
    const { host } = new URL(server.url);
    const workspace = join(folder, "examples");
    const payload = [["openFile", `vscode-remote://${host}${workspace}/toy.py`]];
    const page = await browser.newPage();
    const begun = Date.now();
    await page.goto(
      `${server.url}/?folder=${workspace}&payload=${encodeURIComponent(JSON.stringify(payload))}`,
    );
    const log = await ready(join(home, "logs"));
    const activated = Number(readFileSync(stamp, "utf8"));
    return {
      editor: activated - begun,
      beyond: Date.parse(log.time) - activated,
      activation: log.activation,
    };
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** When the log says that the server is ready. */
async function ready(logs: string): Promise<{ time: string; activation: number }> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline;) {
    const text = logText(logs);
    const time = /^(\S+ \S+) .*the server was ready/m.exec(text)?.[1];
    const activation = /activated in (\d+) ms/.exec(text)?.[1];
    if (time !== undefined && activation !== undefined) {
      return { time, activation: Number(activation) };
    }
    await sleep(50);
  }
  throw new Error(`the server was not ready within ${PATIENCE_MS} ms:\n${logText(logs)}`);
}

function logText(logs: string): string {
  try {
    const paths = readdirSync(logs, { recursive: true, encoding: "utf8" });
    const path = paths.find((name) => name.endsWith("Fullgraph.log"));
    return path === undefined ? "" : readFileSync(join(logs, path), "utf8");
  } catch {
    return ""; // not yet there
  }
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}

function line(name: string, starts: Start[]): string {
  const [editor, beyond, activation] = (["editor", "beyond", "activation"] as const).map((key) =>
    Math.round(median(starts.map((one) => one[key]))),
  );
  return `${name}: VS Code ${editor} ms, server ready ${beyond} ms later (target <= ${TARGET_MS}), activation ${activation} ms`;
}

const folder = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-startup-"));
try {
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  const extensions = extensionsWith(folder, "stub.nothing", STUB);
  console.log(line("first start", [await start(folder, extensions)]));
  const starts: Start[] = [];
  while (starts.length < STARTS) {
    starts.push(await start(folder, extensions));
  }
  console.log(line(`median of ${STARTS}`, starts));
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
