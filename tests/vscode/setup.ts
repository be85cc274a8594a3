/** Installs the packed extension once, and starts the code-server of the window that most tests share. */

import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { install } from "./harness/install.ts";
import { ARTEFACTS, VSIX } from "./harness/paths.ts";
import { startSharedServer, type SharedServer } from "./harness/shared_window.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the installed extensions. */
    extensions: string;
    shared: SharedServer;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(VSIX)) {
    throw new Error("There is no build/fullgraph.vsix: run the tests with `make test`.");
  }
  rmSync(ARTEFACTS, { recursive: true, force: true });
  const root = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-shared-"));
  const extensions = install(join(root, "extensions"), VSIX);
  const { server, shared } = await startSharedServer(root, extensions);
  project.provide("extensions", extensions);
  project.provide("shared", shared);
  return async () => {
    await server.stop();
    rmSync(root, { recursive: true, maxRetries: 5 });
  };
}
