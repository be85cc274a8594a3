#!/bin/sh
# bundle_libs.sh PYTHON: the server's libraries in bundled/libs, for the VSIX.
set -eu
rm -rf bundled/libs
"$1" -m pip install --quiet --target bundled/libs --no-deps --require-hashes --no-compile \
    --only-binary :all: --python-version 3.10 --implementation py --abi none --platform any \
    -r server/requirements.txt
