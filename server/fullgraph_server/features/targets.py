"""Targets by id or URI, and the request ``fullgraph/targets``."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from fullgraph_compiler.facts import Examples, PytestNode
from pygls.lsp.server import LanguageServer

from ..engine.report import Span
from ..engine.runs import Runs
from ..protocol import TARGETS, TargetItem
from ..workspace.config import read_config
from ..workspace.ranges import definition_span
from ..workspace.source import SourceFile, read_source
from ..workspace.targets import (
    Target,
    configured_targets,
    example_targets,
    file_target,
    find_targets,
    pytest_target,
)
from .documents import Documents

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_PYTEST = "pytest:"


@dataclass(frozen=True)
class NoTarget:
    """Why a name means no target; ``message`` is a sentence for the user."""

    message: str


class Targets:
    """Finds targets in the client's folders."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def find(self, name: str) -> Target | NoTarget:
        """The target of this id, or the file of this URI or path as a whole."""
        if "://" in name or name.startswith("untitled:"):
            filename = self._documents.filename(name)
            if filename is None:
                return NoTarget(f"Only files on disk can be run: save {name} first.")
            return self._file(filename)
        configured = (target for target in self._configured() if target.id == name)
        if (target := next(configured, None)) is not None:
            return target
        if name.startswith(_PYTEST):
            return self._pytest(name.removeprefix(_PYTEST))
        path, _, qualname = name.partition("::")
        filename = self._located(path)
        if filename is None:
            return NoTarget(f"There is no target {name}.")
        return self._example(filename, qualname) if qualname else self._file(filename)

    async def items(self, runs: Runs) -> list[TargetItem]:
        """All targets of the open folders, those of the configuration first."""
        roots = [workspace.root for workspace in self._documents.workspaces()]
        # In a thread of its own: it reads every Python file.
        found = await asyncio.to_thread(_discover, roots)
        return [
            TargetItem(
                id=item.target.id,
                label=item.target.label,
                kind=item.target.kind,
                uri=self._documents.uri(item.target.filename),
                configured=item.configured,
                range=self._documents.range(item.span) if item.span else None,
                last_status=runs.state(item.target.id),
            )
            for item in found
        ]

    def _configured(self) -> Iterator[Target]:
        for workspace in self._documents.workspaces():
            yield from configured_targets(read_config(workspace.root))

    def _pytest(self, node: str) -> Target | NoTarget:
        path = node.partition("::")[0]
        filename = self._located(path)
        if filename is None or not os.path.exists(filename):
            return NoTarget(f"There is no file {path} for the test {node}.")
        return pytest_target(node, self._root(filename))

    def _located(self, path: str) -> str | None:
        """The absolute path of one that may be relative to an open folder."""
        if os.path.isabs(path):
            return os.path.normpath(path)
        candidates = (os.path.normpath(space.root / path) for space in self._documents.workspaces())
        return next((filename for filename in candidates if os.path.exists(filename)), None)

    def _file(self, filename: str) -> Target | NoTarget:
        source = self._source(filename)
        return source if isinstance(source, NoTarget) else file_target(source, self._root(filename))

    def _example(self, filename: str, qualname: str) -> Target | NoTarget:
        source = self._source(filename)
        if isinstance(source, NoTarget):
            return source
        targets = example_targets(source, self._root(filename))
        found = next((target for target in targets if target.id == f"{filename}::{qualname}"), None)
        return found or NoTarget(f"{qualname} in {filename} has no example call.")

    def _source(self, filename: str) -> SourceFile | NoTarget:
        if os.path.isdir(filename):
            return NoTarget(f"{filename} is a folder: run one of its files.")
        if not os.path.exists(filename):
            return NoTarget(f"There is no file {filename}.")
        source = self._documents.workspace_of(filename).source(filename)
        return source or NoTarget(f"{filename} cannot be read as Python.")

    def _root(self, filename: str) -> Path:
        return self._documents.workspace_of(filename).root


@dataclass(frozen=True)
class _Found:
    target: Target
    configured: bool
    span: Span | None
    """The function, class or test that the target is, if it is not a whole file."""


def register(server: LanguageServer, targets: Targets, runs: Runs) -> None:
    """Answer ``fullgraph/targets``."""

    @server.feature(TARGETS)
    async def list_targets(_params: Any) -> list[TargetItem]:
        return await targets.items(runs)


def _discover(roots: Sequence[Path]) -> list[_Found]:
    """The targets of some folders, each once. Runs outside of the event loop."""
    found: dict[str, _Found] = {}
    for root in roots:
        for target in configured_targets(read_config(root)):
            found.setdefault(target.id, _Found(target, True, _span(target)))
    for root in roots:
        for target in find_targets(root):
            found.setdefault(target.id, _Found(target, False, _span(target)))
    return list(found.values())


def _span(target: Target) -> Span | None:
    path = _definition_path(target)
    source = read_source(target.filename) if path else None
    if source is None or source.tree is None:
        return None
    body: Iterable[ast.AST] = source.tree.body
    definition: _Definition | None = None
    for name in path:
        definition = next((node for node in _definitions(body) if node.name == name), None)
        body = definition.body if definition else ()
    return (
        definition_span(source, source.filename, definition.lineno, definition.name) if definition else None
    )


def _definition_path(target: Target) -> list[str]:
    program = target.program
    if isinstance(program, Examples) and len(program.examples) == 1:
        return program.examples[0].qualname.split(".")
    if isinstance(program, PytestNode):
        return [name.partition("[")[0] for name in program.node.split("::")[1:]]
    return []


def _definitions(body: Iterable[ast.AST]) -> Iterator[_Definition]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _definitions(ast.iter_child_nodes(node))
