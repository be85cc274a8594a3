"""Stored runs of the programs under ``tests/cases``, and the choice of the tests that run.

A test with the marker ``corpus`` has a program as its parameter. If the test passes, its runs are stored in
``.cache/corpora``, under a hash of the program, torch, Python and ``compiler/``; for a proof of a fix, also
``fixes/``. The next test with the same hash reads these runs, and folds and judges them anew. With
``--corpora=drawn``, the default, a proof without stored runs is left out unless it is in the day's draw, one
in forty, or few tests are without stored runs. ``all`` runs these tests, too; ``anew`` makes all runs again.
Each time, some tests make their runs again, and compare them with the stored ones.
"""

from __future__ import annotations

import datetime
import functools
import gzip
import json
import random
import re
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from code_hash import code_hash, digest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".cache" / "corpora"
COMPARED = {"facts": 20, "verdicts": 10}
"""The number of stored tests whose runs are compared with new ones, by kind."""
SHARE = {"facts": 1, "verdicts": 40}
"""One test in so many is in the draw of a day, by kind: a proof takes a hundred times as long."""
FEW = 20
"""Up to so many tests without stored runs all run, such as those that are selected by name."""
_CODE = {"facts": ("compiler",), "verdicts": ("compiler", "server/fullgraph_server/fixes")}
_HELPERS = ("forked.py", "in_child.py", "proving.py", "stored_runs.py")
COMPARED_FACTS = frozenset({
    "CompileFailure", "ExportFailed", "FrameSkipped", "GraphBreak", "ProgramRaised", "Recompile",
    "RecompileLimit", "ResultsCompared", "RunFinished", "SizeTried", "StatementsTried", "TargetProblem",
})  # fmt: skip
"""The facts that findings and verdicts depend on. Others say what was in a cache, or in another order."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+\.\d+(?:e-?\d+)?|\d{6,}")
"""Addresses, seconds, and the ids of objects."""
_FRAME = re.compile(r'("compile_id": ")(\d+)/')


@dataclass
class Store:
    """The runs of one test, by their requests."""

    file: Path
    """The file to store the runs in once the test has passed."""
    is_stored: bool = False
    compares: bool = False
    """Whether the test makes its runs although they are stored."""
    made: dict[str, Any] = field(default_factory=dict)
    """The runs that the test made itself."""

    @functools.cached_property
    def stored(self) -> dict[str, Any]:
        """The runs in the file."""
        if not self.is_stored or not self.file.is_file():
            return {}
        runs: dict[str, Any] = json.loads(gzip.decompress(self.file.read_bytes()))
        return runs

    def get(self, key: str) -> Any:
        """Return a stored run; ``None`` if there is none, or if the test makes its runs itself."""
        return None if self.compares else self.stored.get(key)

    def finish(self) -> None:
        """Store the runs, or compare them with the stored ones.

        Raises ``AssertionError`` if the stored ones differ.
        """
        if self.compares:
            stored = {key: self.stored.get(key, {"facts": []}) for key in self.made}
            assert steady(self.made) == steady(stored), f"other runs are stored: remove {self.file}"
        elif self.made:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            partial = self.file.with_name(f"{self.file.name}.part")
            partial.write_bytes(gzip.compress(json.dumps({**self.stored, **self.made}).encode(), 1))
            for old in self.file.parent.glob(f"{self.file.name.rpartition('-')[0]}-*"):
                if old != partial:
                    old.unlink()
            partial.replace(self.file)


def steady(runs: Mapping[str, Any]) -> Any:
    """Return the facts of runs that are equal each time."""
    return {key: _renumbered([_steady(fact) for fact in run["facts"] if fact["type"] in COMPARED_FACTS])
            for key, run in runs.items()}  # fmt: skip


def _renumbered(facts: list[Any]) -> Any:
    """Count the frames from 0: a process that compiled before counts on."""
    text = json.dumps(facts)
    first = min((int(match[2]) for match in _FRAME.finditer(text)), default=0)
    return json.loads(_FRAME.sub(lambda match: f"{match[1]}{int(match[2]) - first}/", text))


def _steady(fact: Any) -> Any:
    return json.loads(_VARYING.sub("0", json.dumps(fact)), object_hook=_without_places_in_torch)


def _without_places_in_torch(value: dict[str, Any]) -> dict[str, Any]:
    """Leave out the place of a guard if it is in torch, whose path in the guard's comment is relative.

    It is another place when torch's cache has the graph of an earlier run.
    """
    if value.get("type") == "GuardFailure":
        own = ("/", "<path ")
        value["stack"] = [frame for frame in value["stack"] if frame["filename"].startswith(own)]
    return value


def without_paths(value: Any, **paths: Path) -> Any:
    """Return a JSON value with names instead of paths that differ in each test run or checkout."""
    text = json.dumps(value)
    for path, name in _names(paths):
        text = text.replace(path, name)
    return json.loads(text)


def with_paths(value: Any, **paths: Path) -> Any:
    """Return a JSON value with the paths of this test run: the reverse of :func:`without_paths`."""
    text = json.dumps(value)
    for path, name in _names(paths):
        text = text.replace(name, path)
    return json.loads(text)


def _names(paths: Mapping[str, Path]) -> list[tuple[str, str]]:
    """Return paths and their names, the longest path first.

    A relative path such as ``.`` has none: its text can be part of any other text.
    """
    names = [(str(path), f"<path {name}>") for name, path in {**paths, "root": ROOT}.items()
             if path.is_absolute() and path != path.parent]  # fmt: skip
    return sorted(names, key=lambda item: len(item[0]), reverse=True)


_current: Store | None = None


def current_store() -> Store | None:
    """Return the store of the running test; ``None`` for a test without the marker ``corpus``."""
    return _current


@dataclass(frozen=True)
class _Draw:
    """The values that decide which tests run. They are equal in all processes of a test run."""

    day: str
    seed: int
    stored: frozenset[str]
    """The names of the stored files when the test run began."""


@dataclass(frozen=True)
class _Choice:
    """The numbers of tests with the marker ``corpus``, by what becomes of them."""

    stored: int = 0
    compared: int = 0
    new: int = 0
    left_out: int = 0


_DRAW = pytest.StashKey[_Draw]()
_CHOICE = pytest.StashKey[_Choice]()
_STORE = pytest.StashKey[Store]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--corpora",
        choices=("drawn", "all", "anew"),
        default="drawn",
        help="programs of the corpora to run: all but proofs without stored runs that are not in the draw of "
        "the day (drawn), all, or all without stored runs (anew)",
    )


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get("draw")
    if given is None:
        is_read = FOLDER.is_dir() and config.getoption("corpora") != "anew"
        names = sorted(item.name for item in FOLDER.iterdir()) if is_read else []
        given = str(datetime.date.today()), random.randrange(1 << 32), names
    day, seed, names = given
    config.stash[_DRAW] = _Draw(day, seed, frozenset(names))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the draw to a process of pytest-xdist: each process must choose the same tests."""
    draw = node.config.stash[_DRAW]
    node.workerinput["draw"] = (draw.day, draw.seed, sorted(draw.stored))


@pytest.hookimpl(trylast=True)  # after tests are deselected by their names and markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests without stored runs that are not in the day's draw."""
    draw = config.stash[_DRAW]
    stored, missing = [], []
    for item in items:
        if item.get_closest_marker("corpus"):
            file = _file(item)
            item.stash[_STORE] = Store(file, file.name in draw.stored)
            (stored if item.stash[_STORE].is_stored else missing).append(item)
    compared = []
    for kind, number in COMPARED.items():
        of_kind = [item for item in stored if _kind(item) == kind]
        compared += sorted(of_kind, key=lambda item: digest(_name(item), draw.seed))[:number]
    for item in compared:
        item.stash[_STORE].compares = True
    left_out: list[pytest.Item] = []
    if config.getoption("corpora") == "drawn" and len(missing) > FEW:
        left_out = [item for item in missing if int(digest(_name(item), draw.day), 16) % SHARE[_kind(item)]]
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)
    config.stash[_CHOICE] = _Choice(len(stored), len(compared), len(missing) - len(left_out), len(left_out))


def _kind(item: pytest.Item) -> str:
    return "verdicts" if "proving" in getattr(item, "fixturenames", ()) else "facts"


def _name(item: pytest.Item) -> str:
    """Return the name of a test with that of its module: pytest-xdist adds the group to ``nodeid``."""
    return f"{item.path.stem}::{item.name}"


def _file(item: pytest.Item) -> Path:
    """Return the file for the runs of a test, named by everything that they depend on."""
    parameters = item.callspec.params.values()  # type: ignore[attr-defined]
    texts = [value.read_text() if isinstance(value, Path) else repr(value) for value in parameters]
    kind, torch = _kind(item), version("torch")
    return FOLDER / f"{kind}-{torch}-{digest(_name(item))}-{digest(*texts, sys.version, _code(kind))}"


@functools.cache
def _code(kind: str) -> str:
    files = [ROOT / "tests" / name for name in _HELPERS]
    for folder in _CODE[kind]:
        files += sorted((ROOT / folder).rglob("*.py"))
    return code_hash(files, FOLDER / "code.json")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    global _current
    _current = item.stash.get(_STORE, None)
    try:
        yield
        if _current is not None:
            _current.finish()
    finally:
        _current = None


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["choice"] = vars(session.config.stash.get(_CHOICE, _Choice()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_CHOICE] = _Choice(**getattr(node, "workeroutput", {}).get("choice", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    choice = config.stash.get(_CHOICE, _Choice())
    if choice == _Choice():
        return
    terminalreporter.write_line(
        f"programs of the corpora: {choice.stored} with stored runs ({choice.compared} of them compared with "
        f"new runs), {choice.new} without, {choice.left_out} left out"
    )
    if choice.left_out:
        terminalreporter.write_line(
            f"left out are those without stored runs that are not drawn for {config.stash[_DRAW].day}; "
            "--corpora=all runs them, too"
        )
