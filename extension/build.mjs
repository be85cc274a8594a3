// Bundles the parts of the extension with their libraries and licences: the client, the thread that draws
// graphs, and the page of reports with its style.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";

const common = {
  outdir: "dist",
  bundle: true,
  minify: true,
  charset: "utf8",
  logLevel: "info",
  metafile: true,
};

const built = await Promise.all([
  build({
    ...common,
    entryPoints: ["extension/src/extension.ts", "extension/src/reports/drawingWorker.ts"],
    entryNames: "[name]",
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
  }),
  build({
    ...common,
    entryPoints: ["extension/src/reports/page/report.ts", "extension/src/reports/page/drawer.ts"],
    entryNames: "[name]",
    platform: "browser",
    target: "es2022",
    format: "iife",
  }),
]);

const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
const folders = inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
const notices = await Promise.all([...new Set(folders.filter(Boolean))].sort().map(notice));
await writeFile("dist/LICENSES.txt", notices.join("\n"));

// The command line uses the same files to write pages of traces.
const page = "server/fullgraph_server/cli/exports/page";
await mkdir(page, { recursive: true });
for (const name of ["report.js", "report.css", "drawer.js", "LICENSES.txt"]) {
  await copyFile(`dist/${name}`, `${page}/${name}`);
}

/** The licence text of a bundled library. */
async function notice(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? "" : await readFile(`${folder}/${file}`, "utf8");
  return `${name} ${version} (${license})\n\n${text}\n`;
}
