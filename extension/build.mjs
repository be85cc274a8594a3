// Bundles the client and its libraries into dist/extension.js.
import { build } from "esbuild";

await build({
  entryPoints: ["extension/src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  logLevel: "info",
});
