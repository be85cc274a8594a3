#!/bin/sh
# setup.sh FOLDER PYTHON TORCH: a virtual environment with torch, Fullgraph and its tools.
set -eu
folder=$1 python=$2 torch=$3

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "Fullgraph needs Python 3.10 or newer; $python is not. Try: make PYTHON=python3.11 ..." >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian keeps venv in a package of its own.
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$(dirname "$0")/packages.sh" "python$version-venv"
fi

[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --upgrade "pip>=25.1"
"$(dirname "$0")/install_torch.sh" "$folder/bin/python" "$torch"
"$folder/bin/python" -m pip install --quiet --editable . --group dev
touch "$folder/ready"
