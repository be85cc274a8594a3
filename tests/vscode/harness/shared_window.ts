/** One window for many scenarios, put back between them: a new window takes longer than most of them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWindow } from "./browser.ts";
import { startCodeServer, type CodeServer } from "./code_server.ts";
import { VENV_LATEST } from "./paths.ts";
import { KEYS, type Window } from "./window.ts";
import { fillWorkspace, type Files } from "./workspace.ts";

/** What single scenarios need, and the others do not notice. */
const SETTINGS = {
  "debug.allowBreakpointsEverywhere": true,
  "files.defaultLanguage": "python",
  "fullgraph.previewPython": VENV_LATEST,
};

/** The code-server of the shared window, as the setup provides it to the tests. */
export interface SharedServer {
  readonly url: string;
  readonly pid: number;
  readonly home: string;
  /** The workspace of the window. */
  readonly folder: string;
}

/** Starts the code-server of the shared window, with everything that it writes in a folder. */
export async function startSharedServer(
  root: string,
  extensions: string,
): Promise<{ server: CodeServer; shared: SharedServer }> {
  const home = join(root, "user data");
  mkdirSync(join(home, "User"), { recursive: true });
  writeFileSync(join(home, "User/keybindings.json"), JSON.stringify(KEYS));
  const server = await startCodeServer({ home, extensions, settings: SETTINGS });
  const folder = join(root, "Übungen λ mit torch", "examples");
  return { server, shared: { url: server.url, pid: server.pid, home, folder } };
}

let window: Window | undefined;

/** The window as the last scenario has left it, or a new one. */
export async function takeWindow({ url, folder }: SharedServer): Promise<Window> {
  if (window?.page.isClosed() !== false) {
    fillWorkspace(folder, {});
    window = await openWindow(url, { open: folder });
  }
  return window;
}

/** Puts the window back, and makes its workspace hold the examples and these files. */
export async function putBack(
  taken: Window,
  { folder }: SharedServer,
  files: Files,
): Promise<void> {
  await taken.clear();
  fillWorkspace(folder, files);
  await taken.refreshTargets();
}

/** Closes the window, whatever its state: the next scenario gets a new one. */
export async function discard(): Promise<void> {
  await window?.page.close();
  window = undefined;
}
