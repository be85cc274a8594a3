/** One code-server: the workbench and extension host of VS Code, served to a browser on loopback. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CODE_SERVER } from "./paths.ts";

/** What keeps the pictures clean and the tests quick; a test's own settings are added to it. */
const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.hover.delay": 100,
  "editor.minimap.enabled": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "git.enabled": false,
  // Not through the link to the virtual environment, which holds all of torch.
  "search.followSymlinks": false,
  "security.workspace.trust.banner": "never",
  "security.workspace.trust.startupPrompt": "never",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.autoDetectColorScheme": true,
  "window.commandCenter": false,
  // Without the name of the application, which is another one for users.
  "window.title": "${dirty}${activeEditorShort}${separator}${rootName}",
  "workbench.editor.empty.hint": "hidden",
  "workbench.editor.restoreViewState": false,
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export interface CodeServerOptions {
  /** A fresh folder for user data and logs. */
  readonly home: string;
  /** Where the extensions are installed. */
  readonly extensions: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether folders start in Restricted Mode, as they do for users. */
  readonly restricted?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CodeServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startCodeServer(options: CodeServerOptions): Promise<CodeServer> {
  const user = join(options.home, "User");
  mkdirSync(user, { recursive: true });
  const settings = {
    ...SETTINGS,
    "security.workspace.trust.enabled": options.restricted === true,
    ...options.settings,
  };
  writeFileSync(join(user, "settings.json"), JSON.stringify(settings, undefined, 2));
  const child = spawn(
    CODE_SERVER,
    [
      ...["--auth", "none", "--bind-addr", "127.0.0.1:0", "--ignore-last-opened"],
      ...["--config", join(options.home, "config.yaml")],
      ...["--user-data-dir", options.home, "--extensions-dir", options.extensions],
      ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
      // An extension host ends soon after its window.
      ...["--reconnection-grace-time", "1"],
    ],
    // Detached: its process group is ended with it.
    { detached: true, env: { ...cleanEnvironment(), ...options.env } },
  );
  const url = await listening(child);
  const { pid } = child;
  if (pid === undefined) {
    throw new Error("code-server has no process");
  }
  return {
    url,
    pid,
    stop: async () => {
      const exited = once(child, "exit");
      process.kill(-pid, "SIGTERM");
      await exited;
    },
  };
}

/** The environment without what a VS Code around the tests, or an active environment, would bring. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const brought = /^(VSCODE_|ELECTRON_|VIRTUAL_ENV|CONDA_|PYTHON)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !brought.test(name)));
}

async function listening(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) {
    throw new Error("code-server has no output");
  }
  stderr.resume();
  const told: string[] = [];
  const lines = createInterface({ input: stdout });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    lines.once("close", () => {
      reject(new Error(`code-server ended before it listened:\n${told.join("\n")}`));
    });
    // Read to the end: a full pipe would stop it.
    lines.on("line", (line) => {
      told.push(line);
      const url = /HTTP server listening on (http:\S+?)\/?$/.exec(line)?.[1];
      if (url !== undefined) {
        resolve(url);
      }
    });
  });
}
