/** Installs a packed extension into a folder. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { CODE_SERVER } from "./paths.ts";

export function install(vsix: string, extensions: string): void {
  execFileSync(
    CODE_SERVER,
    [
      ...["--config", join(extensions, "config.yaml"), "--user-data-dir", join(extensions, "user")],
      ...["--extensions-dir", extensions, "--install-extension", vsix],
    ],
    { stdio: "pipe" },
  );
}
