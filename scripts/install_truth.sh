#!/bin/sh
# install_truth.sh PYTHON: the libraries of tests/cases/truth, beside the torch that is there.
set -eu
python=$1
torch=$("$python" -c 'import torch; print(torch.__version__)')

"$python" -m pip install --quiet --group truth "torch==$torch"
# PyPI's torchvision needs CUDA. Beside a CPU build of torch it fails, and so does whatever looks for it.
if ! "$python" -c 'import torchvision' 2>/dev/null; then
    echo "Your package indexes have no torchvision for torch $torch: what needs it is skipped. For the CPU build, set PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu." >&2
    "$python" -m pip uninstall --quiet --yes torchvision
fi
