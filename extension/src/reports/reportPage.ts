import { createHash } from "node:crypto";
import { EXPORTED, type Exported } from "./page/messages";

/** The page in a panel: `script` and `style` are addresses, `source` is their origin in VS Code. */
export function panelPage(script: string, style: string, source: string): string {
  return page(
    `script-src ${source}; style-src ${source}; font-src ${source}`,
    `<link rel="stylesheet" href="${style}">`,
    `<script src="${script}"></script>`,
  );
}

/** The page as a self-contained file: `script` and `style` are the contents of the packed files. */
export function exportedPage(exported: Exported, script: string, style: string): string {
  // In JSON, a < can only be in a string.
  const data = JSON.stringify(exported).replaceAll("<", "\\u003c");
  return page(
    `script-src '${hash(script)}'; style-src '${hash(style)}'`,
    `<style>${style}</style>`,
    `<script type="application/json" id="${EXPORTED}">${data}</script><script>${script}</script>`,
  );
}

function page(policy: string, head: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
</head>
<body>${body}</body>
</html>
`;
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
