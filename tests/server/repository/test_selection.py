"""Which tests ``make`` runs: every one is in ``make test-all``, but for those that need a GPU."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

ABSENT = ("distributed", "fsspec", "jsonschema", "mcp", "moto", "numpy", "s3fs", "tlparse", "torch")
"""What other modules of tests import, and is not installed where the portable tests run alone."""
COLLECT = """
import sys
import pytest
names = sys.argv.pop(1).split(",")
sys.modules.update(dict.fromkeys(names))
sys.exit(pytest.main(sys.argv[1:]))
"""

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
    assert set(known) == {"corpus", "gpu", "portable", "preview", "slow"}
    others = [name for name in known if name != "gpu"]
    for number in range(len(others) + 1):
        for marks in itertools.combinations(others, number):
            assert selects("test-all", marks, known), marks
            assert selects("test", marks, known) is ("slow" not in marks), marks


def test_portable_tests_are_collected_without_torch() -> None:
    workflow = (ROOT / ".github/workflows/pull-request.yml").read_text()
    (arguments,) = re.findall(r"run: python -m pytest (-m portable .+)", workflow)
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["--collect-only", "-q", "-p", "pytest_asyncio", *arguments.split()]
    command = [sys.executable, "-c", COLLECT, ",".join(ABSENT), *options]
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    # Another module would be imported to find out that its tests have no marker.
    assert re.search(r"^\d+ tests collected in", ended.stdout, re.MULTILINE), ended.stdout
