"""Which tests ``make`` runs: every one is in ``make test-all``, but for those that need a GPU."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def selects(target: str, marks: Collection[str], known: Collection[str]) -> bool:
    """Whether a test with some of the known marks is run by a target of the Makefile."""
    # As by hand: the tests may run under make.
    env = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    command = ["make", "--dry-run", "--always-make", target]
    commands = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    expressions = re.findall(r'-m pytest .* -m "([^"]+)"', commands)
    assert len(expressions) == 2
    return any(eval(expression, {name: name in marks for name in known}) for expression in expressions)


def test_every_test_is_run_by_make_test_all(pytestconfig: pytest.Config) -> None:
    own = (ROOT / "pyproject.toml").read_text()
    known = [line.partition(":")[0] for line in pytestconfig.getini("markers") if f'"{line}"' in own]
    assert set(known) == {"gpu", "preview", "slow"}
    others = [name for name in known if name != "gpu"]
    for number in range(len(others) + 1):
        for marks in itertools.combinations(others, number):
            assert selects("test-all", marks, known), marks
            assert selects("test", marks, known) is ("slow" not in marks), marks
