"""The targets of a file, of a folder and of pyproject.toml: programs that can run."""

from __future__ import annotations

import ast
import logging
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from fullgraph_compiler.facts import (
    Example,
    Examples,
    Program,
    PytestNode,
    Script,
    StackFrame,
    Switches,
    TargetProblem,
)

from ..text.urls import without_secrets
from .config import ProjectConfig, TargetConfig, TargetKind
from .examples import FileExamples, find_examples
from .positions import TRACE, Span, TextProblem
from .programs import is_program, module_file
from .source import SourceFile, SourceReader, read_bytes, read_source
from .workspace import is_library_folder

_log = logging.getLogger(__name__)

_RANK = "#rank="
ARGUMENTS = " -- "
"""The separator between a script and its arguments in a target's id, as on the command line."""
MODULE = "-m "
CONSOLE_SCRIPT = "--console-script "
PYTEST = "pytest:"
LAUNCH = "launch:"
"""The prefix of the ids of the targets from launch.json."""
_MENTIONS = re.compile(r"torch\.compile\b|#\s*fullgraph:")
_MENTIONS_IN_BYTES = re.compile(_MENTIONS.pattern.encode())
_TEST_FILE = re.compile(r"^(?:test_.*|.*_test)\.py$")
_SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist"})


@dataclass(frozen=True)
class TorchrunJob:
    """A script in ``ranks`` processes of one distributed program on this machine."""

    script: Script
    ranks: int


@dataclass(frozen=True)
class Trace:
    """The logs of a program that ran elsewhere: a file, or a folder of files by rank.

    ``rank`` selects a single rank. ``folders`` maps folders of the other machine to folders of this machine.
    """

    path: Path
    rank: int | None = None
    folders: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Target:
    """A program that can run, with its folder and environment."""

    id: str
    """The id of the target: a script's path or ``path -- arguments``, ``-m module``, ``--console-script
    name``, ``path::qualname`` of an example, ``path::3`` of a notebook up to its third code cell,
    ``pytest:node``, ``trace:path``, ``launch:name`` of a launch configuration, or the name of a target in
    pyproject.toml."""
    label: str
    kind: TargetKind
    filename: str
    program: Program | TorchrunJob | Trace
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to add for the run."""
    timeout: float | None = None
    """The time limit in seconds; ``None`` to use the general setting."""
    problems: tuple[TextProblem, ...] = ()
    """Problems of example calls that cannot run."""
    switches: Switches | None = None
    """Settings that override those that the program makes; ``None`` to use the general settings."""
    python: str | None = None
    """The interpreter that the target names; ``None`` to use the project's."""
    cells: int = 0
    """The number of a notebook's code cells that run."""


def problem_facts(target: Target) -> tuple[TargetProblem, ...]:
    """Return the target's own problems as facts for the report of its run."""
    return tuple(
        TargetProblem(
            "error",
            problem.message,
            stack=(StackFrame(problem.span.filename, problem.span.row, "<module>"),),
        )
        for problem in target.problems
    )


def script_target(filename: str, cwd: Path, args: tuple[str, ...] = ()) -> Target:
    """Return the target that runs a file as ``__main__``."""
    return Target(filename, _relative(filename, cwd), "script", filename, Script(filename, args), cwd)


def cell_target(source: SourceFile, cell: int, cwd: Path) -> Target:
    """Return the target that runs a notebook up to a code cell.

    This target is separate from that of the whole notebook.
    """
    target = file_target(source.until(cell), cwd)
    return replace(target, id=f"{target.id}::{cell}", label=f"{target.label}::{cell}")


def module_target(module: str, cwd: Path, args: tuple[str, ...] = ()) -> Target:
    """Return the target that runs a module as ``__main__``, found from ``cwd``."""
    filename, name = module_file(module, cwd), f"{MODULE}{module}"
    return Target(name, name, "module", filename, Script(filename, args, module), cwd)


def console_script_target(name: str, config: ProjectConfig, cwd: Path) -> Target:
    """Return the target for a console script of the interpreter's environment."""
    program = _console_script(name, config)
    return Target(f"{CONSOLE_SCRIPT}{name}", name, "console-script", program.filename, program, cwd)


def with_arguments(filename: str, cwd: Path, args: tuple[str, ...]) -> Target:
    """Return the target of a script with arguments.

    This target is separate from that of the script without arguments.
    """
    target = script_target(filename, cwd, args)
    words = shlex.join(args)
    label = f"{target.label} {without_secrets(words)}"
    return replace(target, id=f"{target.id}{ARGUMENTS}{words}", label=label)


def trace_target(place: Path | str, root: Path, rank: int | None = None) -> Target:
    """Return the target of a trace at a path, or at a URL without secrets.

    ``root`` is the folder with the sources of the program.
    """
    path = Path(place)
    name = f"{place}{_RANK}{rank}" if rank is not None else str(place)
    label = without_secrets(path.name if rank is None else f"{path.name}, rank {rank}")
    return Target(f"{TRACE}{name}", label, "trace", str(place), Trace(path, rank), root)


def trace_of(target: str) -> Trace:
    """Return the trace, or the single rank of a trace, that a target's id names."""
    path, _, rank = target.removeprefix(TRACE).partition(_RANK)
    return Trace(Path(path), int(rank) if rank.isdecimal() and len(rank) < 10 else None)


def pytest_target(node: str, cwd: Path) -> Target:
    """Return the target of a pytest node, whose path can be relative to ``cwd``."""
    path, separator, test = node.partition("::")
    filename = os.path.normpath(cwd / path)
    node = f"{filename}{separator}{test}"
    return Target(f"{PYTEST}{node}", _relative(node, cwd), "pytest", filename, PytestNode(node), cwd)


def example_targets(source: SourceFile, cwd: Path) -> tuple[Target, ...]:
    """Return one target for each function or class with example calls in a file."""
    label = _relative(source.filename, cwd)
    file_examples = find_examples(source)
    return tuple(
        Target(
            id=f"{source.filename}::{example.qualname}",
            label=f"{label}::{example.qualname}",
            kind="example",
            filename=source.filename,
            program=Examples(source.filename, (example,)),
            cwd=_folder(source, cwd),
            problems=file_examples.problems,
            cells=max((source.cell(call.row)[0] for call in example.calls), default=0),
        )
        for example in file_examples.examples
    )


def file_target(source: SourceFile, cwd: Path) -> Target:
    """Return the target of a whole file: its example calls, or the file as a script.

    The file runs as a script if it is a program or has no example calls.
    """
    file_examples = FileExamples() if is_program(source) else find_examples(source)
    if file_examples == FileExamples():
        script = script_target(source.filename, cwd)
        return replace(script, cwd=_folder(source, cwd), cells=len(source.cells))
    return Target(
        id=source.filename,
        label=_relative(source.filename, cwd),
        kind="example",
        filename=source.filename,
        program=Examples(source.filename, file_examples.examples),
        cwd=_folder(source, cwd),
        problems=file_examples.problems,
        cells=len(source.cells),
    )


def configured_targets(config: ProjectConfig) -> tuple[Target, ...]:
    """Return the targets that pyproject.toml defines."""
    read = SourceReader()
    return tuple(_configured(target, config, read) for target in config.targets)


def folder_targets(folder: Path, config: ProjectConfig, cwd: Path) -> list[Target]:
    """Return the targets below a folder: first those of pyproject.toml, then of files.

    A script that pyproject.toml names appears only with the arguments given there.
    """
    configured = [target for target in configured_targets(config) if _inside(target.filename, folder)]
    named = set(map(_what_runs, configured))
    found = (target for target in find_targets(folder, cwd) if _what_runs(target) not in named)
    return [*configured, *found]


def find_targets(folder: Path, cwd: Path) -> tuple[Target, ...]:
    """Return the targets of all files below a folder.

    Files that contain neither ``torch.compile`` nor an example call are skipped.
    """
    targets: list[Target] = []
    for filename in python_files(str(folder)):
        if _mentions(filename):
            try:
                source = read_source(filename)
                targets += file_targets(source, cwd) if source is not None else ()
            except Exception:  # one odd file must not hide the targets of all other files
                _log.exception("the targets of %s cannot be found", filename)
    return tuple(targets)


def file_targets(source: SourceFile, cwd: Path) -> tuple[Target, ...]:
    """Return the targets of one file: the script, its tests, and its example calls."""
    targets = [script_target(source.filename, cwd)] if is_program(source) else []
    if is_test_file(source.filename):
        targets += [pytest_target(f"{source.filename}::{test}", cwd) for test in _tests(source)]
    return (*targets, *example_targets(source, cwd))


def is_test_file(filename: str) -> bool:
    """Return whether pytest collects a file by its name."""
    return _TEST_FILE.match(os.path.basename(filename)) is not None


def mentions_compile(text: str) -> bool:
    """Return whether a text contains ``torch.compile`` or an example call."""
    return _MENTIONS.search(text) is not None


def _tests(source: SourceFile) -> Iterator[str]:
    for node in source.tree.body if source.tree else ():
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.name.startswith("test"):
                    yield f"{node.name}::{child.name}"


def _console_script(name: str, config: ProjectConfig) -> Script:
    """Return the program of a console script, with the file of its module if known."""
    module = config.console_scripts.get(name)
    filename = module_file(module, config.root) if module else str(config.root / "pyproject.toml")
    return Script(filename, console_script=name)


def _what_runs(target: Target) -> object:
    """Return a key that is equal for targets that run one program with any arguments."""
    return target.filename if isinstance(target.program, (Script, TorchrunJob)) else target.program


def _configured(target: TargetConfig, config: ProjectConfig, read: SourceReader) -> Target:
    root = config.root
    cwd = Path(os.path.normpath(root / target.cwd))
    path, _, qualname = target.program.partition("::")
    filename = os.path.normpath(root / path)
    program: Program | TorchrunJob
    problems: tuple[TextProblem, ...] = ()
    if target.kind == "script":
        program = Script(filename, target.args)
    elif target.kind == "module":
        program = Script(module_file(target.program, cwd), target.args, target.program)
        filename = program.filename
    elif target.kind == "console-script":
        program = replace(_console_script(target.program, config), args=target.args)
        filename = program.filename
    elif target.kind == "torchrun":
        program = TorchrunJob(Script(filename, target.args), target.ranks)
    elif target.kind == "pytest":
        program = PytestNode(os.path.join(root, target.program))
    else:
        source = read(filename)
        examples = _examples_by_name(source).get(qualname, ()) if source else ()
        program, problems = Examples(filename, examples), find_examples(source).problems if source else ()
        if not examples:
            message = f"no example calls of {qualname or 'anything'} in {path}"
            problems = (*problems, TextProblem(message, Span(filename, 1, 1, 1, 1)))
    name, env = target.name, dict(target.env)
    return Target(
        name,
        name,
        target.kind,
        filename,
        program,
        cwd,
        env,
        target.timeout,
        problems,
        target.switches,
    )


@lru_cache(maxsize=64)
def _examples_by_name(source: SourceFile) -> Mapping[str, tuple[Example, ...]]:
    """Return a file's examples by qualified name; "" maps to all of them."""
    examples = find_examples(source).examples
    by_name: dict[str, tuple[Example, ...]] = {"": examples}
    for example in examples:
        by_name[example.qualname] = (*by_name.get(example.qualname, ()), example)
    return by_name


# -- files -------------------------------------------------------------------------------------


def python_files(folder: str) -> Iterator[str]:
    """Yield the Python files below a folder, sorted by name, without environments."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED_FOLDERS
            and not is_library_folder(os.path.join(path, name))
        )
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(path, name)


def _mentions(filename: str) -> bool:
    try:
        return _MENTIONS_IN_BYTES.search(read_bytes(filename)) is not None
    except OSError as error:
        _log.warning("%r is left out of the targets: %s", filename, error.strerror)
        return False


def _inside(filename: str, folder: Path) -> bool:
    return filename.startswith(os.path.join(folder, ""))


def _folder(source: SourceFile, cwd: Path) -> Path:
    """Return the folder in which a file runs.

    A notebook runs in its own folder, as in Jupyter.
    """
    return Path(source.filename).parent if source.cells else cwd


def _relative(filename: str, folder: Path) -> str:
    return os.path.relpath(filename, folder) if _inside(filename, folder) else filename
