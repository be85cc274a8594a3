#!/bin/sh
# packages.sh NAME...: installs those Debian packages that are missing. Elsewhere it leaves that to the user.
set -eu
command -v dpkg-query >/dev/null || exit 0

missing=
for name; do
    dpkg-query --show --showformat '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing="$missing $name"
done
[ -n "$missing" ] || exit 0

as_root=; [ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
