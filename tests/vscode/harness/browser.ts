/** The browser that shows the workbench: the Chromium that is on PATH. */

import { accessSync, constants } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { PATIENCE, Window } from "./window.ts";

const ARGUMENTS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
];

/** The theme of the pictures: `THEME=dark` for those of dark pages. */
const THEME = process.env["THEME"] === "dark" ? "dark" : "light";

export interface Shown {
  /** The folder, or the file of a workspace of several; none for an empty window. */
  readonly open?: string | undefined;
  /** A file to open in it. */
  readonly file?: string | undefined;
}

let browser: Browser | undefined;

/** Opens a window of a code-server, in a browser profile of its own. */
export async function openWindow(server: string, { open, file }: Shown): Promise<Window> {
  if (browser?.isConnected() !== true) {
    browser = await launchBrowser();
  }
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    colorScheme: THEME,
  });
  page.setDefaultTimeout(PATIENCE);
  const window = new Window(page);
  await page.goto(`${server}/?${addressOf(server, open, file)}`);
  await window.ready();
  if (open !== undefined && isWorkspaceFile(open)) {
    await window.hasFolders();
  }
  if (file !== undefined) {
    await window.shows(basename(file));
  }
  return window;
}

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: findChromium(), args: ARGUMENTS });
}

function findChromium(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
  if (found === undefined) {
    throw new Error("No Chromium on PATH: install the package chromium, and try again.");
  }
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isWorkspaceFile(path: string): boolean {
  return path.endsWith(".code-workspace");
}

/** What a window shows, as the workbench reads it from its address. */
function addressOf(server: string, open: string | undefined, file: string | undefined): string {
  const parameters = new URLSearchParams();
  if (open === undefined) {
    parameters.set("ew", "true");
  } else {
    parameters.set(isWorkspaceFile(open) ? "workspace" : "folder", open);
  }
  if (file !== undefined) {
    const uri = `vscode-remote://${new URL(server).host}${file}`;
    parameters.set("payload", JSON.stringify([["openFile", uri]]));
  }
  return parameters.toString();
}
