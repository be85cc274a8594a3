/** Installs the packed extension once; every test starts with it. */

import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { install } from "./harness/install.ts";
import { ARTEFACTS, VSIX } from "./harness/paths.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the installed extensions. */
    extensions: string;
  }
}

export default function setup(project: TestProject): () => void {
  if (!existsSync(VSIX)) {
    throw new Error("There is no build/fullgraph.vsix: run the tests with `make test`.");
  }
  rmSync(ARTEFACTS, { recursive: true, force: true });
  const extensions = mkdtempSync(join(realpathSync(tmpdir()), "fullgraph-extensions-"));
  install(extensions, VSIX);
  project.provide("extensions", extensions);
  return () => {
    rmSync(extensions, { recursive: true });
  };
}
