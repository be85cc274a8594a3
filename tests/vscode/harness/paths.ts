/** Where things are in the repository. */

import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const VSIX = join(ROOT, "build/fullgraph.vsix");
export const VENV = join(ROOT, ".venv");
/** An environment whose torch is a CUDA build. */
export const VENV_LATEST = join(ROOT, ".venv-latest");
export const CODE_SERVER = join(ROOT, ".cache/code-server/node_modules/.bin/code-server");
/** Pictures of every scene, and the logs of tests that failed. */
export const ARTEFACTS = join(ROOT, "build/vscode");
