"""``fullgraph fix --package``: fixes in an installed package become a patch, and nothing is written."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CLI = "from fullgraph_server.cli import main; main()"
LIBRARY = """\
import torch


def scaled(x):
    if x.abs().max() > 1:
        x = x * 2
    return x.sin()
"""
NOISY = """\
import logging

LOG = logging.getLogger("layers")


def scaled(x):
    x = x + x.max().item()
    LOG.warning("done")
    return x.sin()
"""
PROGRAM = """\
import torch
from layers.blocks import scaled


@torch.compile
def f(x):
    return scaled(x) + 1


print(f(torch.ones(3) * 2))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that uses a package that is installed beside it."""
    site = tmp_path / "site-packages"
    (site / "layers").mkdir(parents=True)
    (site / "layers" / "__init__.py").touch()
    (site / "layers" / "blocks.py").write_text(LIBRARY)
    info = site / "layers-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: layers\nVersion: 1.2\n")
    (info / "RECORD").write_text("layers/__init__.py,,\nlayers/blocks.py,,\n")
    path = tmp_path / "project" / "train.py"
    path.parent.mkdir()
    path.write_text(PROGRAM)
    return path


def fix(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    site = path.parents[1] / "site-packages"
    return subprocess.run(
        [sys.executable, "-c", CLI, "fix", path.name, "--python", sys.executable, *options],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(site / "layers.zip")])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_fix_in_a_package_is_a_patch_of_its_version(program: Path) -> None:
    library = program.parents[1] / "site-packages" / "layers" / "blocks.py"
    run = fix(program, "--package", "layers", "--format", "diff")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("layers 1.2: 1 break → 0, ")
    assert "layers/blocks.py:5: GB0170" in run.stdout
    assert "verified: 1 break → 0" in run.stdout
    assert library.read_text() == LIBRARY
    patched = program.parents[1] / "copy"
    (patched / "layers").mkdir(parents=True)
    (patched / "layers" / "blocks.py").write_text(LIBRARY)
    subprocess.run(["git", "apply"], cwd=patched, input=run.stdout, text=True, check=True)
    assert "torch.where(x.abs().max() > 1" in (patched / "layers" / "blocks.py").read_text()
    other = LIBRARY.replace("> 1", "> 2")
    (patched / "layers" / "blocks.py").write_text(other)
    refused = subprocess.run(["git", "apply"], cwd=patched, input=run.stdout, text=True, check=False)
    assert refused.returncode != 0
    assert (patched / "layers" / "blocks.py").read_text() == other


@pytest.mark.slow
def test_a_break_in_a_package_says_where_to_look(program: Path) -> None:
    run = fix(program)
    assert "it is in layers; --package layers looks for edits there" in run.stdout


@pytest.mark.slow
def test_a_break_in_a_package_goes_by_a_setting_in_the_program(program: Path) -> None:
    (program.parents[1] / "site-packages" / "layers" / "blocks.py").write_text(NOISY)
    run = fix(program, "--unsafe", "--apply")
    assert (run.returncode, run.stdout.splitlines()[-1]) == (
        0,
        "2 edits together: 2 breaks → 0, 4 graphs → 1 - nothing is left - written",
    )
    settings = [line for line in program.read_text().splitlines() if "torch._dynamo.config" in line]
    assert sorted(settings) == [
        "torch._dynamo.config.capture_scalar_outputs = True",
        'torch._dynamo.config.ignore_logging_functions.add(logging.getLogger("layers").warning)',
    ]


@pytest.mark.slow
def test_a_package_without_a_finding_says_so(program: Path) -> None:
    assert "nothing to fix: no finding is in the source of numpy" in fix(program, "--package", "numpy").stdout


def _as_zip(site: Path) -> None:
    shutil.make_archive(str(site / "layers"), "zip", site, "layers")
    shutil.rmtree(site / "layers")


def _without_source(site: Path) -> None:
    for path in (site / "layers").glob("*.py"):
        py_compile.compile(str(path), str(path.with_suffix(".pyc")))
        path.unlink()


def _compiled(site: Path) -> None:
    shutil.rmtree(site / "layers")
    (site / "layers.abi3.so").touch()


def _own(site: Path) -> None:
    shutil.move(site / "layers", site.parent / "project")


def _as_it_is(site: Path) -> None:
    assert site.is_dir()


@pytest.mark.parametrize(
    ("arranged", "options", "told"),
    [
        (
            _as_it_is,
            ["layers", "--apply"],
            "--package never changes installed files: --format diff writes a patch",
        ),
        (_as_it_is, ["torch"], "torch is the compiler itself: name a package that it compiles."),
        (_as_it_is, ["torch-layers"], "--package torch-layers is not an importable name"),
        (_as_it_is, ["nothing"], "There is no package nothing in this environment"),
        (_as_it_is, ["train"], "train is the project's own code: run without --package"),
        (_own, ["layers"], "layers is the project's own code: run without --package"),
        (_as_zip, ["layers"], "layers is in the zip file"),
        (_without_source, ["layers"], "layers has no Python source, only compiled code"),
        (_compiled, ["layers"], "layers has no Python source, only compiled code"),
    ],
)
def test_what_cannot_be_done_is_told(
    program: Path, arranged: Callable[[Path], None], options: list[str], told: str
) -> None:
    arranged(program.parents[1] / "site-packages")
    run = fix(program, "--package", *options)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr
    assert "Traceback" not in run.stderr
    assert program.read_text() == PROGRAM
