#!/bin/sh
# vsix.sh OUTPUT [OPTION OF VSCE]...: packs the extension. What is packed is first copied into a folder of its
# own: vsce would look at every file of the virtual environments before it left them out.
set -eu
output=$PWD/$1
shift
vsce=$PWD/node_modules/.bin/vsce
stage=$PWD/build/vsix

rm -rf "$stage"
mkdir -p "$stage"
tar -cf - --exclude __pycache__ --exclude 'server/fullgraph_server/cli' \
    package.json package.nls.json LICENSE CHANGELOG.md \
    dist/extension.js dist/drawingWorker.js dist/report.js dist/report.css dist/LICENSES.txt \
    extension/README.md extension/media extension/walkthrough \
    server/start.py server/fullgraph_server compiler/fullgraph_compiler bundled/libs |
    tar -xf - -C "$stage"
# Light pictures alone: vsce makes addresses of the `src` of pictures, and none of a `srcset`.
sed -E '/^ *<\/?(picture|source)[ >]/d' "$stage/extension/README.md" >"$stage/README.md"
rm "$stage/extension/README.md"

cd "$stage"
"$vsce" package --no-dependencies --allow-missing-repository --out "$output" "$@" >../vsce.log 2>&1 || {
    cat ../vsce.log >&2
    exit 1
}
