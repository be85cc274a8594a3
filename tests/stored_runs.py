"""Stored runs of the programs under ``tests/cases``, and the choice of those that run.

A test with the marker ``corpus`` has a program as its parameter. When it passes, its runs are stored in
``.cache/corpora``, under a hash of the program, torch, Python and ``compiler/``, for a proof also ``fixes/``.
The next test with the same hash reads its runs there. With ``--corpora=drawn``, the default, a test without
stored runs is left out unless the day's draw, a tenth, contains it. ``all`` runs every test, ``anew`` every
test without stored runs. Each time, some tests run although their runs are stored, and compare both.
"""

from __future__ import annotations

import datetime
import functools
import gzip
import hashlib
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

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".cache" / "corpora"
COMPARED = {"facts": 20, "verdicts": 10}
"""The number of stored tests whose runs are compared with new ones, by kind."""
SHARE = 10
"""One test in so many is in the draw of a day."""
_CODE = {"facts": ("compiler",), "verdicts": ("compiler", "server/fullgraph_server/fixes")}
_COMPARED_FACTS = frozenset({
    "CompileFailure", "ExportFailed", "FrameSkipped", "GraphBreak", "ProgramRaised", "Recompile",
    "RecompileLimit", "ResultsCompared", "RunFinished", "SizeTried", "StatementsTried", "TargetProblem",
})  # fmt: skip
"""The facts that findings and verdicts depend on. Others say what was in a cache, or in another order."""
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+\.\d+(?:e-?\d+)?|\d{6,}")
"""Addresses, seconds, and the ids of objects."""


@dataclass
class Store:
    """The runs of one test, by their requests."""

    file: Path
    """The file to store them in once the test has passed."""
    stored: dict[str, Any] = field(default_factory=dict)
    compares: bool = False
    """Whether the test makes its runs although they are stored."""
    made: dict[str, Any] = field(default_factory=dict)
    """The runs that the test made itself."""

    def get(self, key: str) -> Any:
        """Return a stored run; ``None`` if there is none, or if the test makes its runs itself."""
        return None if self.compares else self.stored.get(key)

    def finish(self) -> None:
        """Store the runs, or compare them with the stored ones.

        Raises ``AssertionError`` if the stored ones differ.
        """
        if self.compares:
            stored = {key: self.stored.get(key, {"facts": []}) for key in self.made}
            assert steady(self.made) == steady(stored), f"other runs are stored in {self.file}: remove it"
        elif self.made:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            for old in self.file.parent.glob(f"{self.file.name.rpartition('-')[0]}-*"):
                old.unlink()
            self.file.write_bytes(gzip.compress(json.dumps({**self.stored, **self.made}).encode(), 1))


def steady(runs: Mapping[str, Any]) -> Any:
    """Return the facts of runs that are equal each time."""
    facts = {
        key: [fact for fact in run["facts"] if fact["type"] in _COMPARED_FACTS] for key, run in runs.items()
    }
    return json.loads(_VARYING.sub("0", json.dumps(facts)))


def without_paths(value: Any, **paths: Path) -> Any:
    """Return a JSON value with names instead of paths that differ in each test run or checkout."""
    text = json.dumps(value)
    for name, path in {**paths, "root": ROOT}.items():
        text = text.replace(str(path), f"{{{name}}}")
    return json.loads(text)


def with_paths(value: Any, **paths: Path) -> Any:
    """Return a JSON value with the paths of this test run: the reverse of :func:`without_paths`."""
    text = json.dumps(value)
    for name, path in {**paths, "root": ROOT}.items():
        text = text.replace(f"{{{name}}}", str(path))
    return json.loads(text)


def digest(*parts: object) -> str:
    """Return a hash of the texts of some values."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:20]


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
        "--corpora", choices=("drawn", "all", "anew"), default="drawn", help="see stored_runs.py"
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


@pytest.hookimpl(trylast=True)  # after tests are deselected by their markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests without stored runs that are not in the day's draw."""
    draw = config.stash[_DRAW]
    files = {item: _file(item) for item in items if item.get_closest_marker("corpus")}
    stored = [item for item in files if files[item].name in draw.stored]
    missing = [item for item in files if files[item].name not in draw.stored]
    compared: set[pytest.Item] = set()
    for kind, number in COMPARED.items():
        ranked = sorted(
            (item for item in stored if _kind(item) == kind), key=lambda item: digest(item.nodeid, draw.seed)
        )
        compared.update(ranked[:number])
    for item in stored:
        runs = json.loads(gzip.decompress(files[item].read_bytes()))
        item.stash[_STORE] = Store(files[item], runs, item in compared)
    left_out = set()
    for item in missing:
        item.stash[_STORE] = Store(files[item])
        if config.getoption("corpora") == "drawn" and int(digest(item.nodeid, draw.day), 16) % SHARE:
            left_out.add(item)
    items[:] = [item for item in items if item not in left_out]
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
    config.stash[_CHOICE] = _Choice(len(stored), len(compared), len(missing) - len(left_out), len(left_out))


def _kind(item: pytest.Item) -> str:
    return "verdicts" if "proving" in getattr(item, "fixturenames", ()) else "facts"


def _file(item: pytest.Item) -> Path:
    """Return the file for the runs of a test, named by everything that they depend on."""
    parameters = item.callspec.params.values()  # type: ignore[attr-defined]
    texts = [value.read_text() if isinstance(value, Path) else repr(value) for value in parameters]
    kind, torch = _kind(item), version("torch")
    return FOLDER / f"{kind}-{torch}-{digest(item.nodeid)}-{digest(*texts, sys.version, _code(kind))}"


@functools.cache
def _code(kind: str) -> str:
    files = [ROOT / "tests" / name for name in ("forked.py", "in_child.py", "proving.py", "stored_runs.py")]
    for folder in _CODE[kind]:
        files += sorted((ROOT / folder).rglob("*.py"))
    return digest(*(file.read_text() for file in files))


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
    if choice != _Choice():
        terminalreporter.write_line(
            f"programs of the corpora: {choice.stored} with stored runs ({choice.compared} of them compared "
            f"with new runs), {choice.new} new, {choice.left_out} left out (drawn for "
            f"{config.stash[_DRAW].day}; all of them: --corpora=all)"
        )
