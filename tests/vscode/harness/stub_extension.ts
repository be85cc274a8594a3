/** An extension made by a test, packed and installed like any other. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { install } from "./install.ts";
import { ROOT, VSIX } from "./paths.ts";

/** A folder of extensions: this project's, and one with an id and a program of its own. */
export function extensionsWith(folder: string, id: string, program: string): string {
  const [publisher = "", name = ""] = id.split(".");
  const source = join(folder, name);
  mkdirSync(source, { recursive: true });
  const manifest = {
    ...{ publisher, name, version: "99.0.0", engines: { vscode: "^1.94.0" } },
    ...{ main: "./main.js", activationEvents: ["onLanguage:python"] },
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
  const extensions = join(folder, "extensions");
  mkdirSync(extensions);
  install(VSIX, extensions);
  install(packed, extensions);
  return extensions;
}
