/** A test in an editor of its own: fresh user data, its own copy of the example workspace. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { inject, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { startCodeServer, type CodeServer } from "./code_server.ts";
import { ARTEFACTS, ROOT, VENV } from "./paths.ts";
import { PATIENCE, Window } from "./window.ts";

export interface OpenOptions {
  /** The folder, or the file of a workspace of several; none for an empty window. */
  readonly open?: string;
  /** A file to open in it. */
  readonly file?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly restricted?: boolean;
  readonly extensions?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class Scene {
  /** A folder for everything that the test writes. */
  readonly folder: string;
  readonly #name: string;
  #browser: Browser | undefined;
  #server: CodeServer | undefined;
  #window: Window | undefined;

  constructor(name: string) {
    this.#name = name.replaceAll(/[^\w-]+/g, "-");
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-"));
  }

  /** A folder with the examples and a `.venv`, and whatever else it is to hold. */
  workspace(files: Readonly<Record<string, string>> = {}, name = "Übungen λ mit torch"): string {
    const folder = join(this.folder, name);
    cpSync(join(ROOT, "examples"), folder, { recursive: true });
    symlinkSync(VENV, join(folder, ".venv"));
    this.write(files, folder);
    return folder;
  }

  write(files: Readonly<Record<string, string>>, folder = this.folder): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }

  /** Starts the editor. One for each scene. */
  async open(options: OpenOptions = {}): Promise<Window> {
    const { open, file, extensions = inject("extensions"), ...rest } = options;
    this.#server = await startCodeServer({ home: this.home, extensions, ...rest });
    this.#browser = await launchBrowser();
    const page = await this.#browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(PATIENCE);
    this.#window = new Window(page);
    await page.goto(`${this.#server.url}/?${addressOf(this.#server.url, open, file)}`);
    await this.#window.ready();
    if (file !== undefined) {
      await this.#window.shows(basename(file));
    }
    return this.#window;
  }

  get home(): string {
    return join(this.folder, "user data");
  }

  /** The process of the code-server. */
  get pid(): number {
    if (this.#server === undefined) {
      throw new Error("no editor is open");
    }
    return this.#server.pid;
  }

  /** Keeps a picture of the page. */
  async picture(name: string): Promise<void> {
    await this.#window?.page.screenshot({
      path: join(ARTEFACTS, `${name}.png`),
      animations: "disabled",
    });
  }

  /** Keeps what says why a test failed. */
  async keep(): Promise<void> {
    await this.picture(`failed/${this.#name}`);
    cpSync(join(this.home, "logs"), join(ARTEFACTS, "failed", this.#name), { recursive: true });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.stop();
    rmSync(this.folder, { recursive: true, maxRetries: 5 });
  }
}

/** What a window shows, as the workbench reads it from its address. */
function addressOf(server: string, open: string | undefined, file: string | undefined): string {
  const parameters = new URLSearchParams();
  if (open === undefined) {
    parameters.set("ew", "true");
  } else {
    parameters.set(open.endsWith(".code-workspace") ? "workspace" : "folder", open);
  }
  if (file !== undefined) {
    const uri = `vscode-remote://${new URL(server).host}${file}`;
    parameters.set("payload", JSON.stringify([["openFile", uri]]));
  }
  return parameters.toString();
}

/** A test of what the editor shows. When it fails, a picture and the logs are kept. */
export function scenario(name: string, body: (scene: Scene) => Promise<void>): void {
  test(name, async () => {
    const scene = new Scene(name);
    try {
      await body(scene);
    } catch (error) {
      await scene.keep();
      throw error;
    } finally {
      await scene.close();
    }
  });
}
