/**
 * Measure how long after VS Code itself Fullgraph's server is ready, when a window opens with a Python file.
 *
 * The peer is VS Code's own start in the same window, until it says that it has finished. The first start after
 * an installation is reported separately: Python has not compiled its files yet. With `--small`, one more start
 * follows.
 */

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchBrowser } from "../tests/vscode/harness/browser.ts";
import { startCodeServer } from "../tests/vscode/harness/code_server.ts";
import { install, pack } from "../tests/vscode/harness/install.ts";
import { ROOT, VENV, VSIX } from "../tests/vscode/harness/paths.ts";

const STARTS = process.argv.includes("--small") ? 1 : 5;
const TARGET_MS = 1500;
const PATIENCE_MS = 60_000;

/** Activated when VS Code has finished its start, it writes down when that was. */
const FINISHED = `
const { writeFileSync } = require("node:fs");
exports.activate = ({ logUri }) => {
  writeFileSync(logUri.fsPath + ".log", new Date().toISOString() + " finished");
};
`;

/** Milliseconds from the request for the page on, and those that the activation of Fullgraph took. */
interface Start {
  readonly finished: number;
  readonly ready: number;
  readonly activation: number;
}

async function start(folder: string, extensions: string): Promise<Start> {
  const home = mkdtempSync(join(folder, "home-"));
  const server = await startCodeServer({ home, extensions });
  const browser = await launchBrowser();
  try {
    const workspace = join(folder, "examples");
    const file = `vscode-remote://${new URL(server.url).host}${workspace}/toy.py`;
    const payload = encodeURIComponent(JSON.stringify([["openFile", file]]));
    const page = await browser.newPage();
    const begun = Date.now();
    await page.goto(`${server.url}/?folder=${workspace}&payload=${payload}`);
    const logs = join(home, "logs");
    return {
      finished: Date.parse(await logged(logs, /^(\S+) finished/m)) - begun,
      ready: Date.parse(await logged(logs, /^(\S+ \S+) .*the server was ready/m)) - begun,
      activation: Number(await logged(logs, /activated in (\d+) ms/)),
    };
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** What a line of the log says, once it is there. */
async function logged(logs: string, line: RegExp): Promise<string> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline;) {
    const said = line.exec(logText(logs))?.[1];
    if (said !== undefined) {
      return said;
    }
    await sleep(50);
  }
  throw new Error(`no ${line.source} within ${PATIENCE_MS} ms in the log:\n${logText(logs)}`);
}

function logText(logs: string): string {
  try {
    const names = readdirSync(logs, { recursive: true, encoding: "utf8" });
    const ours = names.filter((name) => /(Fullgraph|stub\.finished)\.log$/.test(name));
    return ours.map((name) => readFileSync(join(logs, name), "utf8")).join("\n");
  } catch {
    return ""; // not there yet
  }
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}

function report(name: string, starts: Start[]): void {
  const finished = median(starts.map((one) => one.finished));
  const beyond = median(starts.map((one) => one.ready - one.finished));
  const activation = median(starts.map((one) => one.activation));
  console.log(
    `${name}: VS Code ${finished} ms, Fullgraph's server ready ${beyond} ms later (target <= ${TARGET_MS}), ` +
      `ratio ${((finished + beyond) / finished).toFixed(2)}; its activation ${activation} ms`,
  );
}

const folder = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-startup-"));
try {
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  symlinkSync(VENV, join(folder, "examples", ".venv"));
  const stub = pack(folder, "stub.finished", FINISHED, "onStartupFinished");
  const extensions = install(join(folder, "extensions"), VSIX, stub);
  report("first start", [await start(folder, extensions)]);
  const starts: Start[] = [];
  while (starts.length < STARTS) {
    starts.push(await start(folder, extensions));
  }
  report(`medians of ${STARTS} starts`, starts);
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
