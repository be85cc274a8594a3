/** The browser that drives the workbench: the Chromium that is on PATH. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const ARGUMENTS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update"],
];

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
