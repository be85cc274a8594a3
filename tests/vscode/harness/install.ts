/** Extensions for an editor: installing packed ones, and making small ones for a test. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CODE_SERVER, ROOT } from "./paths.ts";

/** Installs packed extensions into a folder of their own. */
export function install(extensions: string, ...packed: string[]): string {
  mkdirSync(extensions, { recursive: true });
  execFileSync(
    CODE_SERVER,
    [
      ...["--config", join(extensions, "config.yaml"), "--user-data-dir", join(extensions, "user")],
      ...["--extensions-dir", extensions],
      ...packed.flatMap((vsix) => ["--install-extension", vsix]),
    ],
    { stdio: "pipe" },
  );
  return extensions;
}

/** Packs an extension of an id and a program, with the command `stub.change`. */
export function pack(folder: string, id: string, program: string, activation: string): string {
  const [publisher = "", name = ""] = id.split(".");
  const source = join(folder, name);
  mkdirSync(source, { recursive: true });
  const manifest = {
    ...{ publisher, name, version: "99.0.0", engines: { vscode: "^1.94.0" } },
    ...{ main: "./main.js", activationEvents: [activation] },
    contributes: { commands: [{ command: "stub.change", title: "Change", category: "Stub" }] },
  };
  writeFileSync(join(source, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(source, "main.js"), program);
  writeFileSync(join(source, "README.md"), name);
  const packed = join(folder, `${name}.vsix`);
  execFileSync(
    join(ROOT, "node_modules/.bin/vsce"),
    ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "-o", packed],
    { cwd: source, stdio: "pipe" },
  );
  return packed;
}
