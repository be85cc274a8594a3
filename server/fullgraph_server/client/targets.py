"""The registry of targets: by id or URI, of one file, or of the open folders."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from fullgraph_compiler.facts import Examples, PytestNode, Script

from ..workspace.config import read_config
from ..workspace.examples import NamedDefinition, named_definitions
from ..workspace.launch.configurations import LaunchError, launch_target, launch_targets
from ..workspace.positions import TRACE, Span
from ..workspace.programs import main_guard
from ..workspace.ranges import header_span, line_span, node_span
from ..workspace.source import SourceFile, SourceReader, unreadable
from ..workspace.targets import (
    ARGUMENTS,
    LAUNCH,
    PYTEST,
    Target,
    TorchrunJob,
    Trace,
    configured_targets,
    example_targets,
    file_target,
    file_targets,
    find_targets,
    pytest_target,
    trace_of,
    trace_target,
    with_arguments,
)
from ..workspace.workspace import Workspace
from .compiled_files import CompiledFiles
from .documents import ClientDocuments


@dataclass(frozen=True)
class NoTargetReason:
    """The reason why a name means no target; ``message`` is a sentence for the user."""

    message: str


class TargetRegistry:
    """Registry of the targets in the client's folders."""

    def __init__(self, documents: ClientDocuments, compiled: CompiledFiles) -> None:
        self._documents = documents
        self._compiled = compiled
        self._last_cells: dict[str, str] = {}
        """The URI of the last cell to run, by the notebook's path, once a request has named a cell."""

    def find(self, name: str) -> Target | NoTargetReason:
        """Return the target of an id, a path or a URI.

        A path stands for the file as a whole, a URI for the target that :meth:`meant` returns for the file.

        A notebook is one target, which ends with the cell whose URI was passed last.
        """
        if "://" in name or name.startswith("untitled:"):
            filename = self._documents.filename(name)
            if filename is None:
                return NoTargetReason(f"Only files on disk can be run: save {name} first.")
            self.end_with(filename, name)
            meant = self.meant(filename)
            return meant[0] if meant else self._file(filename)
        roots = [workspace.root for workspace in self._documents.workspaces()]
        named = (target for _, target in (*_configured(roots), *_launched(roots)) if target.id == name)
        if (target := next(named, None)) is not None:
            return target
        if name.startswith(LAUNCH):
            return self._launch(name.removeprefix(LAUNCH), roots)
        if name.startswith(TRACE):
            return self._trace(name)
        if name.startswith(PYTEST):
            return self._pytest(name.removeprefix(PYTEST))
        path, separator, arguments = name.partition(ARGUMENTS)
        if separator and not os.path.exists(name):
            return self._with_arguments(path, arguments)
        path, _, qualname = name.partition("::")
        filename = self._located(path)
        if filename is None:
            return NoTargetReason(f"There is no target {name}.")
        return self._example(filename, qualname) if qualname else self._file(filename)

    def end_with(self, filename: str, uri: str) -> None:
        """Let a notebook's program end with the cell of this URI, or with its last cell."""
        notebook = self._documents.notebook(filename)
        if notebook is not None and notebook.number(uri):
            self._last_cells[filename] = uri
        else:
            self._last_cells.pop(filename, None)

    async def all(self, also: Iterable[str]) -> list[ListedTarget]:
        """List the targets of the open folders, then the targets with the ids ``also``.

        Configured targets come first.
        """
        roots = [workspace.root for workspace in self._documents.workspaces()]
        # In a thread, since it reads every Python file.
        listed = await asyncio.to_thread(_discover, roots)
        names = {item.target.id for item in listed}
        others = (self.find(name) for name in also if name not in names)
        return listed + [self.place(target) for target in others if not isinstance(target, NoTargetReason)]

    def meant(self, filename: str) -> Sequence[Target]:
        """Return the targets that may be meant by a request to run a file.

        There are several if the request is ambiguous, and none if the file only defines things.

        Configured targets come first, then the target that last compiled code of the file (unless it is a
        single test or example of the file), then launch configurations together with the file's own target:
        a program, example calls, or tests.
        """
        roots = [workspace.root for workspace in self._documents.workspaces()]
        configured = [target for _, target in _configured(roots) if target.filename == filename]
        launched = [target for _, target in _launched(roots) if target.filename == filename]
        name = self._compiled.target_of(filename)
        newest = self.find(name) if name else None
        if isinstance(newest, Target):
            is_part = newest.filename == filename and newest.kind in ("example", "pytest")
            if newest in (*configured, *launched) or not (configured or is_part):
                return [newest]
        return configured or [*launched, *self._own(filename)]

    def _own(self, filename: str) -> Sequence[Target]:
        """Return the target that the file's own code makes, if there is one."""
        source = self._documents.source(filename)
        kinds = {target.kind for target in self.of_file(filename)}
        if source is None or not (kinds or source.cells):
            return ()
        name = f"{PYTEST}{filename}" if kinds == {"pytest"} else filename
        own = self.find(name)
        return [own] if isinstance(own, Target) else ()

    def workspace_of(self, target: Target) -> Workspace:
        """Return the workspace folder whose settings apply to a target."""
        is_trace = isinstance(target.program, Trace)
        return self._documents.workspace_of(str(target.cwd) if is_trace else target.filename)

    def place(self, target: Target) -> ListedTarget:
        """Locate a target in the text that the client shows."""
        if isinstance(target.program, Trace):
            return ListedTarget(target, target.cwd, False, None)
        place = target_place(target, self._documents.source(target.filename))
        return ListedTarget(target, self._root(target.filename), False, place)

    def of_file(self, filename: str) -> Sequence[Target]:
        """List the targets in one file as shown, including tests of all kinds."""
        source = self._documents.source(filename)
        return file_targets(source, self._root(filename)) if source else ()

    def _launch(self, name: str, roots: Sequence[Path]) -> Target | NoTargetReason:
        """Return the target of a launch configuration, or the reason why it cannot be one."""
        reasons = []
        for root in roots:
            try:
                return launch_target(root, name)
            except LaunchError as error:
                reasons.append(str(error))
        return NoTargetReason(reasons[0] if reasons else "Open the folder that contains the launch.json.")

    def _trace(self, name: str) -> Target | NoTargetReason:
        trace = trace_of(name)
        roots = [workspace.root for workspace in self._documents.workspaces()]
        if not roots:
            return NoTargetReason("A trace is shown on the files of a folder: open a folder first.")
        if not os.path.exists(trace.path):
            return NoTargetReason(f"There is no trace {trace.path}.")
        around = (root for root in roots if trace.path.is_relative_to(root))
        return trace_target(trace.path, next(around, roots[0]), trace.rank)

    def _pytest(self, node: str) -> Target | NoTargetReason:
        path = node.partition("::")[0]
        filename = self._located(path)
        if filename is None or not os.path.exists(filename):
            return NoTargetReason(f"There is no file {path} for the test {node}.")
        return pytest_target(node, self._root(filename))

    def _located(self, path: str) -> str | None:
        """Return the absolute path for a path that may be relative to an open folder."""
        if os.path.isabs(path):
            return os.path.normpath(path)
        candidates = (os.path.normpath(space.root / path) for space in self._documents.workspaces())
        return next((filename for filename in candidates if os.path.exists(filename)), None)

    def _file(self, filename: str) -> Target | NoTargetReason:
        source = self._source(filename)
        if isinstance(source, NoTargetReason):
            return source
        notebook, last = self._documents.notebook(filename), self._last_cells.get(filename, "")
        cells = notebook.number(last) if notebook else 0
        return file_target(source.until(cells), self._root(filename))

    def _with_arguments(self, path: str, arguments: str) -> Target | NoTargetReason:
        filename = self._located(path)
        source = self._source(filename) if filename else NoTargetReason(f"There is no file {path}.")
        if isinstance(source, NoTargetReason):
            return source
        try:
            args = tuple(shlex.split(arguments))
        except ValueError as error:
            return NoTargetReason(f"The arguments {arguments} cannot be read: {error}.")
        return with_arguments(source.filename, self._root(source.filename), args)

    def _example(self, filename: str, qualname: str) -> Target | NoTargetReason:
        source = self._source(filename)
        if isinstance(source, NoTargetReason):
            return source
        targets = example_targets(source, self._root(filename))
        target = next((target for target in targets if target.id == f"{filename}::{qualname}"), None)
        return target or NoTargetReason(f"{qualname} in {filename} has no example call.")

    def _source(self, filename: str) -> SourceFile | NoTargetReason:
        if os.path.isdir(filename):
            return NoTargetReason(f"{filename} is a folder: run one of its files.")
        if not os.path.exists(filename):
            return NoTargetReason(f"There is no file {filename}.")
        notebook = self._documents.notebook(filename)
        if notebook and notebook.problem:
            return NoTargetReason(f"{filename} cannot be read: {notebook.problem}.")
        source = self._documents.source(filename)
        is_odd = source is None or (source.tree is None and notebook is None)
        if is_odd:  # a line is being typed: the saved text still has the targets
            source = self._documents.workspace_of(filename).source(filename) or source
        return source or NoTargetReason(
            f"{filename} cannot be read: {unreadable(filename) or 'it is not Python'}."
        )

    def _root(self, filename: str) -> Path:
        return self._documents.workspace_of(filename).root


@dataclass(frozen=True)
class ListedTarget:
    """A target, the folder in which it was found, and its place in its file."""

    target: Target
    root: Path
    configured: bool
    place: TargetPlace | None


@dataclass(frozen=True)
class TargetPlace:
    """The span of a target in its file, and the span of its name.

    For a main guard, ``name`` is the first line of the guard.
    """

    whole: Span
    name: Span


def target_place(target: Target, source: SourceFile | None) -> TargetPlace | None:
    """Locate a function, class, test or main guard; ``None`` for a file as a whole."""
    if source is None or source.tree is None:
        return None
    if isinstance(target.program, (Script, TorchrunJob)):
        guard = main_guard(source)
        return TargetPlace(node_span(source, guard), line_span(source, guard.lineno)) if guard else None
    definition = _definitions(source).get(".".join(_definition_path(target)))
    if definition is None:
        return None
    return TargetPlace(node_span(source, definition), header_span(source, definition))


def _discover(roots: Sequence[Path]) -> list[ListedTarget]:
    """List the targets of some folders, each once. Runs in a thread."""
    listed: dict[str, ListedTarget] = {}
    read = SourceReader()

    def add(root: Path, target: Target, configured: bool) -> None:
        place = target_place(target, read(target.filename))
        listed.setdefault(target.id, ListedTarget(target, root, configured, place))

    for root, target in _configured(roots):
        add(root, target, True)
    for root, target in _launched(roots):
        add(root, target, False)
    for root in roots:
        for target in find_targets(root, root):
            add(root, target, False)
    return list(listed.values())


def _configured(roots: Iterable[Path]) -> Iterator[tuple[Path, Target]]:
    """Yield the configured targets of each folder.

    The folder is appended to a name that a target of an earlier folder has.
    """
    return _named(roots, lambda root: configured_targets(read_config(root)))


def _launched(roots: Iterable[Path]) -> Iterator[tuple[Path, Target]]:
    """Yield the targets of each folder's launch.json.

    The folder is appended to a name that a target of an earlier folder has.
    """
    return _named(roots, launch_targets)


def _named(
    roots: Iterable[Path], targets: Callable[[Path], Iterable[Target]]
) -> Iterator[tuple[Path, Target]]:
    names: set[str] = set()
    for root in roots:
        for target in targets(root):
            name = f"{target.id} ({root})" if target.id in names else target.id
            names.add(name)
            yield root, replace(target, id=name)


def _definition_path(target: Target) -> list[str]:
    program = target.program
    if isinstance(program, Examples) and len(program.examples) == 1:
        return program.examples[0].qualname.split(".")
    if isinstance(program, PytestNode):
        return [name.partition("[")[0] for name in program.node.split("::")[1:]]
    return []


@lru_cache(maxsize=64)
def _definitions(source: SourceFile) -> Mapping[str, NamedDefinition]:
    """Map qualified names to functions and classes; of equal names, use the first."""
    found: dict[str, NamedDefinition] = {}
    for name, node in named_definitions(source):
        found.setdefault(name, node)
    return found
