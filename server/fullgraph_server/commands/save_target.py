"""The command ``fullgraph.saveTarget``: adds a target to pyproject.toml."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fullgraph_compiler.facts import Examples, PytestNode, Script
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..client.arguments import refusal, target_argument
from ..features.context import ServerContext
from ..protocol.names import SAVE_TARGET
from ..workspace.config import read_config, target_tables
from ..workspace.source import unreadable
from ..workspace.targets import Target, TorchrunJob

_HEADER = "[[tool.fullgraph.targets]]"


def register(context: ServerContext) -> None:
    """Register the command ``fullgraph.saveTarget``."""

    @context.server.command(SAVE_TARGET)
    async def save_target(*args: Any) -> str:
        target = target_argument(context.targets, SAVE_TARGET, args)
        root = context.targets.workspace_of(target).root
        entry = entry_of(target, root)
        if not entry:
            raise refusal("A trace is not a program: it cannot be a target in pyproject.toml.")
        name = str(next(iter(entry.values())))
        if any(name == configured.name for configured in read_config(root).targets):
            raise refusal(f"pyproject.toml has a target {name} already.")
        path = root / "pyproject.toml"
        source = context.documents.source(str(path))
        if source is None and path.exists():
            raise refusal(f"pyproject.toml cannot be read: {unreadable(str(path)) or 'it is not UTF-8'}.")
        before = source.text if source else ""
        added = addition(before, entry)
        if added is None:
            raise refusal(f"pyproject.toml cannot take {_HEADER}: fix it, or write targets as such tables.")
        lines = before.split("\n")
        units = context.server.workspace.position_codec.client_num_units(lines[-1])
        end = types.Position(len(lines) - 1, units)
        uri = context.documents.uri(str(path))
        await apply(uri, types.TextEdit(types.Range(end, end), added), is_new=source is None)
        last = end.line + added.count("\n")
        await show(uri, types.Range(types.Position(last - len(entry) - 1, 0), types.Position(last, 0)))
        return name

    async def apply(uri: str, edit: types.TextEdit, *, is_new: bool) -> None:
        workspace = context.server.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace else None
        change = types.WorkspaceEdit(changes={uri: [edit]})
        if edits and edits.document_changes:
            document = types.OptionalVersionedTextDocumentIdentifier(uri)
            creates = types.ResourceOperationKind.Create in (edits.resource_operations or ())
            created = [types.CreateFile(uri)] if is_new and creates else []
            change = types.WorkspaceEdit(
                document_changes=[*created, types.TextDocumentEdit(document, [edit])]
            )
        if not (workspace and workspace.apply_edit):
            raise refusal(f"This editor cannot apply edits: add this to pyproject.toml:\n{edit.new_text}")
        result = await context.server.workspace_apply_edit_async(
            types.ApplyWorkspaceEditParams(change, "Save the target to pyproject.toml")
        )
        if not result.applied:
            raise refusal(
                f"The editor did not change pyproject.toml: {result.failure_reason or 'no reason given'}."
            )

    async def show(uri: str, place: types.Range) -> None:
        window = context.server.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return
        try:
            await context.server.window_show_document_async(
                types.ShowDocumentParams(uri, take_focus=True, selection=place)
            )
        except JsonRpcException:
            return  # the edit was applied even so


def entry_of(target: Target, root: Path) -> dict[str, Any]:
    """Return a target's entry in the pyproject.toml at ``root``; empty for a trace."""
    program = target.program
    script = program.script if isinstance(program, TorchrunJob) else program
    entry: dict[str, Any] = {}
    if isinstance(script, Script):
        entry = {**_script(script, root, ranks=isinstance(program, TorchrunJob)), "args": list(script.args)}
    elif isinstance(script, PytestNode):
        path, separator, test = script.node.partition("::")
        entry = {"pytest": f"{_relative(path, root)}{separator}{test}"}
    elif isinstance(script, Examples):
        whole = target.id == target.filename
        names = "" if whole else f"::{script.examples[0].qualname}"
        entry = {"example": f"{_relative(script.filename, root)}{names}"}
    else:
        return {}
    if isinstance(program, TorchrunJob):
        entry["ranks"] = program.ranks
    if target.cwd != root:
        entry["cwd"] = _relative(str(target.cwd), root)
    entry |= {"env": dict(target.env), "timeout": target.timeout}
    named = {} if target.label == next(iter(entry.values())) else {"name": target.label}
    return {**named, **{key: value for key, value in entry.items() if value}}


def _script(script: Script, root: Path, *, ranks: bool) -> dict[str, str]:
    if ranks:
        return {"torchrun": _relative(script.filename, root)}
    if script.module:
        return {"module": script.module}
    if script.console_script:
        return {"console-script": script.console_script}
    return {"script": _relative(script.filename, root)}


def addition(before: str, entry: Mapping[str, Any]) -> str | None:
    """Return the text that adds ``entry`` to pyproject.toml when appended.

    Return ``None`` if an entry cannot be added to the content ``before``.
    """
    gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
    text = gap + "\n".join([_HEADER, *_lines(entry)]) + "\n"
    try:
        tables = target_tables(before + text)
    except (ValueError, RecursionError):
        return None
    return text if tables[-1] == entry else None


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    for key, value in entry.items():
        if isinstance(value, Mapping):
            pairs = (f"{_written(name)} = {_written(item)}" for name, item in value.items())
            yield f"{key} = {{ {', '.join(pairs)} }}"
        elif isinstance(value, list):
            yield f"{key} = [{', '.join(map(_written, value))}]"
        else:
            yield f"{key} = {_written(value)}"


def _written(value: str | float) -> str:
    """Write a value as TOML, in which JSON strings are valid strings."""
    return json.dumps(value, ensure_ascii=False)


def _relative(path: str, root: Path) -> str:
    """Return a path as pyproject.toml writes it.

    A path below the project is relative, with slashes; any other path is unchanged.
    """
    return (
        Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else os.path.normpath(path)
    )
