/** One window for many scenarios, put back between them: a new window takes longer than most of them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWindow } from "./browser.ts";
import { startCodeServer, writeSettings, type CodeServer } from "./code_server.ts";
import { PUT_BACK, type Window } from "./window.ts";
import { fillWorkspace, type Files } from "./workspace.ts";

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
  writeFileSync(join(home, "User/keybindings.json"), JSON.stringify([PUT_BACK]));
  const server = await startCodeServer({ home, extensions });
  const { url, pid } = server;
  return {
    server,
    shared: { url, pid, home, folder: join(root, "Übungen λ mit torch", "examples") },
  };
}

let window: Window | undefined;
let entered = 0;

/** The shared window with a workspace of these files and the examples, and these user settings. */
export async function enter(
  shared: SharedServer,
  files: Files,
  settings: Readonly<Record<string, unknown>>,
): Promise<Window> {
  if (window?.page.isClosed() === false) {
    await window.putBack();
  }
  fillWorkspace(shared.folder, files);
  // The settings have taken effect once the title, which is one of them, has.
  const title = `scenario ${++entered}`;
  writeSettings(shared.home, {
    "security.workspace.trust.enabled": false,
    ...settings,
    "window.title": title,
  });
  if (window?.page.isClosed() !== false) {
    window = await openWindow(shared.url, { open: shared.folder });
  }
  await window.page.waitForFunction((wanted) => document.title.includes(wanted), title);
  return window;
}

/** Closes the window, whatever its state: the next scenario gets a new one. */
export async function discard(): Promise<void> {
  await window?.page.close();
  window = undefined;
}
