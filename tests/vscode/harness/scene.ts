/** A test in an editor: in the window that many share, or in one of its own with fresh user data. */

import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, test } from "vitest";
import { openWindow, type Shown } from "./browser.ts";
import { startCodeServer, type CodeServer } from "./code_server.ts";
import { ARTEFACTS } from "./paths.ts";
import { discard, putBack, takeWindow } from "./shared_window.ts";
import type { Window } from "./window.ts";
import { fillWorkspace, writeFiles, type Files } from "./workspace.ts";

export interface OpenOptions extends Shown {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly restricted?: boolean;
  readonly extensions?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class Scene {
  /** A folder for everything that the test writes. */
  readonly folder: string;
  readonly #name: string;
  #server: CodeServer | undefined;
  #window: Window | undefined;

  constructor(name: string) {
    this.#name = name.replaceAll(/[^\w-]+/g, "-");
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-"));
  }

  /** A folder with the examples and a `.venv`, and whatever else it is to hold. */
  workspace(files: Files = {}, name = "Übungen λ mit torch"): string {
    const folder = join(this.folder, name);
    fillWorkspace(folder, files);
    return folder;
  }

  write(files: Files, folder = this.folder): void {
    writeFiles(folder, files);
  }

  /** Starts an editor of its own, for what needs a start: at most one in a scene. */
  async open(options: OpenOptions = {}): Promise<Window> {
    const { open, file, extensions = inject("extensions"), ...rest } = options;
    const home = join(this.folder, "user data");
    this.#server = await startCodeServer({ home, extensions, ...rest });
    this.#window = await openWindow(this.#server.url, { open, file });
    return this.#window;
  }

  /** Takes the window that is shared, with these files beside the examples in its workspace. */
  async enter(files: Files = {}): Promise<Window> {
    const shared = inject("shared");
    this.#window = await takeWindow(shared);
    await putBack(this.#window, shared, files);
    return this.#window;
  }

  /** The workspace of the shared window. */
  get sharedFolder(): string {
    return inject("shared").folder;
  }

  /** The user data of the editor. */
  get home(): string {
    return this.#server === undefined ? inject("shared").home : join(this.folder, "user data");
  }

  /** The process of the code-server. */
  get pid(): number {
    return (this.#server ?? inject("shared")).pid;
  }

  /** Keeps a picture of the page. */
  async picture(name: string): Promise<void> {
    await this.#window?.page.screenshot({
      path: join(ARTEFACTS, `${name}.png`),
      animations: "disabled",
    });
  }

  /** What the channels of this name have printed in the "Output" panel. */
  output(channel: string): string {
    const logs = join(this.home, "logs");
    return globSync(`**/${channel}.log`, { cwd: logs })
      .map((file) => readFileSync(join(logs, file), "utf8"))
      .join("\n");
  }

  /** Keeps what says why a test failed. */
  async keep(): Promise<void> {
    await this.picture(`failed/${this.#name}`);
    cpSync(join(this.home, "logs"), join(ARTEFACTS, "failed", this.#name), { recursive: true });
  }

  async close(): Promise<void> {
    if (this.#server !== undefined) {
      await this.#window?.page.close();
      await this.#server.stop();
    }
    rmSync(this.folder, { recursive: true, maxRetries: 5 });
  }
}

/** A test of what the editor shows. When it fails, a picture and the logs are kept. */
export function scenario(name: string, body: (scene: Scene) => Promise<void>): void {
  test(name, async () => {
    const scene = new Scene(name);
    try {
      await body(scene);
    } catch (error) {
      // The next one gets a new window.
      await scene.keep().finally(discard);
      throw error;
    } finally {
      await scene.close();
    }
  });
}
