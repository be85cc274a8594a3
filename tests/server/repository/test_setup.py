"""The set-up takes a CPU build of torch, or the plain wheel of the same version where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "install_torch.sh"
CPU, PLAIN, OTHER = "2.13.0+cpu", "2.13.0", "2.12.0"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


def _write_wheel(index: Path, version: str) -> None:
    """Write a wheel of torch with nothing but its metadata."""
    info = f"torch-{version}.dist-info"
    with zipfile.ZipFile(index / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.parametrize(
    ("system", "offered", "asked", "installed", "warns"),
    [
        pytest.param("Linux", (CPU, PLAIN), CPU, CPU, False, id="cpu-build"),
        pytest.param("Linux", (PLAIN, OTHER), CPU, PLAIN, True, id="fallback"),
        pytest.param("Darwin", (PLAIN, OTHER), CPU, PLAIN, False, id="fallback-on-macos"),
        pytest.param("Linux", (PLAIN, OTHER), PLAIN, PLAIN, False, id="plain-asked-for"),
        pytest.param("Linux", (OTHER,), CPU, None, True, id="neither"),
    ],
)
def test_the_build_of_torch(
    tmp_path: Path, system: str, offered: tuple[str, ...], asked: str, installed: str | None, warns: bool
) -> None:
    index, site, tools = (tmp_path / name for name in ("index", "site", "bin"))
    for folder in (index, tools):
        folder.mkdir()
    for version in offered:
        _write_wheel(index, version)
    (tools / "uname").write_text(f"#!/bin/sh\necho {system}\n")
    (tools / "uname").chmod(0o755)

    done = subprocess.run(
        [SCRIPT, sys.executable, f"torch=={asked}"],
        env={
            "PATH": f"{tools}{os.pathsep}{os.defpath}",
            "HOME": str(tmp_path),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INDEX": "1",
            # Not of what the interpreter of the tests has. pip reads this as "warn: no".
            "PIP_NO_WARN_CONFLICTS": "0",
            "PIP_FIND_LINKS": str(index),
            "PIP_TARGET": str(site),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    found = [path.name for path in site.glob("torch-*.dist-info")] if site.exists() else []
    assert found == ([f"torch-{installed}.dist-info"] if installed else []), done.stderr
    assert (done.returncode == 0) is bool(installed)
    # The line stands alone, before the download.
    size, where = "about 2.7 GB", "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
    first = done.stderr.partition("\n")[0]
    assert (size in first and where in first) is warns
    assert ("Could not install torch==2.13.0." in done.stderr) is (installed is None)
    assert done.stderr == "" or warns
