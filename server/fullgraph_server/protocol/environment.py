"""Messages about a project's Python, debugging, bug reports and agent tools."""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class InterpreterParams:
    """A request about the Python that runs the targets of a file or folder."""

    uri: str


@attrs.frozen
class InterpretersParams:
    """A request for available interpreters; the first of the answer is in use."""

    uri: str
    known: list[str] | None = None
    """The paths of interpreters that the client knows."""


@attrs.frozen
class InterpreterItem:
    """A Python, and whether targets can run with it."""

    path: str
    origin: str
    """Where the interpreter comes from: ``the setting fullgraph.interpreter``, ``.venv``."""
    python: str | None = None
    """The version of Python."""
    torch: str | None = None
    """The version of its torch."""
    problem: str | None = None
    """Sentences that say why targets cannot run with this Python, and what to do."""


@attrs.frozen
class ToolParams:
    """A call of an agent tool, with the arguments that `fullgraph mcp` describes."""

    name: str
    arguments: dict[str, Any]


@attrs.frozen
class BugReportItem:
    """A bug report, or the problem that prevents it."""

    text: str | None = None
    """Markdown in the form of PyTorch's issue template."""
    holds: str | None = None
    """A sentence about the user's data in the text, to show before copying it."""
    problem: str | None = None


@attrs.frozen
class DebugParams:
    """A request for a target's launch configuration, with or without torch.compile."""

    target: str
    uncompiled: bool = False


@attrs.frozen
class DebugConfiguration:
    """A launch configuration of debugpy."""

    name: str
    type: str
    request: str
    args: list[str]
    cwd: str
    env: dict[str, str]
    python: str
    just_my_code: bool
    sub_process: bool
    console: str
    program: str | None = None
    module: str | None = None


@attrs.frozen
class DebugItem:
    """The launch configuration of a program, or the problem that prevents it."""

    configuration: DebugConfiguration | None = None
    problem: str | None = None
