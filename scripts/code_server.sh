#!/bin/sh
# code_server.sh FOLDER HEADERS: VS Code for the browser in FOLDER/node_modules/.bin/code-server, built with
# the Node on PATH, whose headers are in HEADERS.
set -eu
folder=$1 headers=$2

"$(dirname "$0")/packages.sh" g++ make pkg-config libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev

mkdir -p "$folder"
echo '{ "private": true, "allowScripts": { "code-server": true, "argon2": true } }' > "$folder/package.json"
export npm_config_nodedir="$headers"
if ! npm install --prefix "$folder" --no-audit --no-fund code-server@4.139.1 > "$folder/install.log" 2>&1; then
    tail -n 40 "$folder/install.log" >&2
    echo "code-server could not be built; $folder/install.log has the whole story." >&2
    exit 1
fi
touch "$folder/ready"
