"""Output of the command line, escaped so that untrusted text has no side effects.

Untrusted text comes from programs, logs and file names. A terminal obeys escape codes. GitHub executes a line
that begins with ``::`` as a command; GitHub and Azure Pipelines execute a line that contains ``##[`` or
``##vso[``.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import click
from rich.console import Console, ConsoleRenderable, RenderHook
from rich.text import Text

from ..text.urls import LogFormatter, Url, urls_in, without_secrets
from ..text.visible import visible

_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_COMMAND = re.compile(r"(?P<start>^\s*):(?=:)|##(?=\[|vso\[)")


def clean(text: str) -> str:
    """Escape a text into one line without commands for a terminal or a CI system."""
    return _COMMAND.sub(_harmless, visible(text))


def write_line(out: TextIO, text: str) -> None:
    """Write an escaped line."""
    out.write(clean(text) + "\n")


def tell(text: str) -> None:
    """Write a line to stderr, without secrets in URLs; stdout is for results."""
    write_line(sys.stderr, without_secrets(text))


def write_object(out: TextIO, value: Any, indent: int | None = None) -> None:
    """Write a JSON value on separate lines, in ASCII, with valid Unicode strings."""
    text = json.dumps(_encodable(value), indent=indent)
    # DEL and ## occur in strings only.
    out.write(text.replace("\x7f", "\\u007f").replace("##", "#\\u0023") + "\n")


def write_list(out: TextIO, key: str, items: Iterable[Any], rest: Callable[[], dict[str, Any]]) -> None:
    """Write a JSON object: a long list, item by item, then the items of ``rest``.

    ``rest`` is called after the list has been written.
    """
    out.write(f"{{{json.dumps(key)}: [\n")
    for number, item in enumerate(items):
        out.write("," if number else "")
        write_object(out, item)
    out.write("]")
    for name, value in rest().items():
        out.write(f", {json.dumps(name)}: ")
        write_object(out, value)
    out.write("}\n")


def clean_console(out: TextIO) -> Console:
    """Return a console that prints each text as one escaped line."""
    console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
    console.push_render_hook(_EscapingHook(console))
    return console


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show progress on one line of the terminal; do nothing without a terminal."""
    with Console(stderr=True, highlight=False, markup=False).status("") as status:
        yield lambda message: status.update(clean(message))


def print_diff(console: Console, lines: Iterable[str]) -> None:
    """Print the lines of a unified diff in colour."""
    for line in lines:
        console.print(Text(visible(line), _DIFF_COLOURS.get(line[:1], "")))


class EscapingCommand(click.Command):
    """A command whose options end at ``--``; what follows are the program's arguments."""

    @property
    def _takes_arguments(self) -> bool:
        return any(parameter.name == "args" for parameter in self.params)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the usage line, with the program's arguments if accepted."""
        pieces = super().collect_usage_pieces(ctx)
        return [*pieces, "[-- ARGUMENTS]"] if self._takes_arguments else pieces

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options."""
        if self._takes_arguments and "--" in args:
            end = args.index("--")
            args = [*args[:end], "--args", shlex.join(args[end + 1 :])]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not self._takes_arguments:
                raise
            hint = f"Options of your program follow --: {ctx.command_path} TARGET -- {error.option_name}"
            raise click.UsageError(f"{error.format_message()}\n\n{hint}", ctx) from error


class EscapingGroup(click.Group):
    """A group of commands whose output can be encoded and whose errors are escaped."""

    command_class = EscapingCommand

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if logging.lastResort is not None:  # it writes the warnings of libraries
            logging.lastResort.setFormatter(LogFormatter())
        return super().main(*args, **options)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the options."""
        urls = urls_in(args)
        with _clean_errors(urls):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[__name__] = urls
        return context

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the first word names."""
        name = args[0]
        if self.get_command(ctx, name) is None and os.path.isfile(name):
            raise click.UsageError(f"{name} is not a command: fullgraph check {shlex.quote(name)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the options select."""
        with _clean_errors(ctx.meta[__name__]):
            return super().invoke(ctx)


class _EscapingHook(RenderHook):
    def __init__(self, console: Console) -> None:
        self._console = console

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [self._clean(item) if isinstance(item, Text) else item for item in renderables]

    def _clean(self, text: Text) -> Text:
        line = clean(text.plain)
        if line == text.plain:
            return text
        parts = text.render(self._console)
        cleaned = Text.assemble(*((visible(part.text), part.style or "") for part in parts), end=text.end)
        return cleaned if cleaned.plain == line else Text(line, end=text.end)


@contextmanager
def _clean_errors(urls: Sequence[Url]) -> Iterator[None]:
    """Escape a command's errors, and remove secrets of the command's URLs from them."""
    try:
        yield
    except click.ClickException as error:
        lines = map(clean, without_secrets(error.message, urls).split("\n"))
        error.message = "\n".join(lines)  # type: ignore[misc]  # it is final, but nothing else assigns it
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        sys.stdout = io.StringIO()  # flushing the rest of the output at exit would fail again
        place = clean(without_secrets(str(error.filename or "The output")))
        raise click.ClickException(f"{place} cannot be written: {error.strerror}") from error


def _harmless(found: re.Match[str]) -> str:
    return "#\\x23" if found["start"] is None else f"{found['start']}\\x3a"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(item) for item in value]
    return value
