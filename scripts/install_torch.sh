#!/bin/sh
# install_torch.sh PYTHON TORCH: installs TORCH (torch==2.13.0+cpu); without such a build, the plain wheel of
# that version (torch==2.13.0), which is all that PyPI has.
set -eu
python=$1 torch=$2 plain=${2%+cpu}

if [ "$torch" != "$plain" ] && ! "$python" -m pip install --quiet --dry-run --no-deps "$torch" 2>/dev/null; then
    if [ "$(uname -s)" = Linux ] && ! "$python" -m pip freeze | grep -qx "$plain"; then
        # On macOS the plain wheel is a CPU build. The size is that of torch 2.13.0 with its CUDA packages.
        echo "Your package indexes have no $torch. Installing $plain, a download of about 2.7 GB with its CUDA packages. For the CPU build (0.2 GB), stop this and set PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu." >&2
    fi
    torch=$plain
fi
if ! "$python" -m pip install --quiet "$torch"; then
    echo "Could not install $torch. pip says why above; another version or build: make TORCH=torch==... ..." >&2
    exit 1
fi
