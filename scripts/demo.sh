#!/bin/sh
# demo.sh VSIX CODE_SERVER: opens the examples in the VS Code of this machine, with the extension installed;
# where there is none, serves them to a browser on loopback with code-server, behind a password: every user
# of this machine can reach that.
set -eu
vsix=$1 code_server=$2 folder=$PWD/examples

for editor in code code-insiders codium cursor; do
    # As root these do not start.
    if [ "$(id -u)" != 0 ] && command -v "$editor" >/dev/null; then
        "$editor" --install-extension "$vsix" --force
        exec "$editor" "$folder" "$folder/toy.py"
    fi
done

umask 077
home=$PWD/.cache/demo
mkdir -p "$home/User"
cat > "$home/User/settings.json" <<SETTINGS
{
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none"
}
SETTINGS
set -- --config "$home/config.yaml" --user-data-dir "$home" --extensions-dir "$home/extensions"
"$code_server" "$@" --install-extension "$vsix" --force >/dev/null
unset HASHED_PASSWORD
PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export PASSWORD
"$code_server" "$@" --auth password --bind-addr 127.0.0.1:0 --ignore-last-opened --disable-telemetry \
    --disable-update-check --disable-workspace-trust 2>/dev/null |
    while read -r line; do
        case $line in
            *"HTTP server listening on "*)
                echo "Open ${line##* on }?folder=$folder in a browser, with the password $PASSWORD; Ctrl-C ends it."
                ;;
        esac
    done
