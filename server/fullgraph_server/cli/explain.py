"""The command that explains a code: its meaning, and each fix on an example."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeAlias

import click
from rich.text import Text

from ..fixes.explaining import FixExample, examples
from ..fixes.samples import BREAKS
from ..fixes.words import safety_words
from ..kinds import EXPORT_CODES, KINDS
from ..runs.effective_settings import SettingOverrides, choose_interpreter
from ..shapes.shape import JsonKey, shape
from ..workers.registry import KnownBreak, NoRegistryError, known_break
from ..workspace.config import read_config
from ..workspace.workspace import project_root
from .output import clean_console, tell, write_object

_GRAPH_BREAK: Final = re.compile(r"GB\d{4}")
_MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (kind.meaning, kind.url) for name, kind in KINDS.items()},
    **{code: (meaning, KINDS["export-error"].url) for code, meaning in EXPORT_CODES.items()},
}
"""The meaning and PyTorch's page of each kind of finding and each code of ``torch.export``."""
_UNKNOWN: Final = KnownBreak("", "", (), "")


@dataclass(frozen=True)
class CodeExplanation:
    """A code with its meaning, torch's page about it, and the known fixes."""

    code: str
    meaning: KnownBreak
    examples: tuple[FixExample, ...]


ExplainFormat: TypeAlias = Callable[[CodeExplanation, TextIO], None]


def explained(code: str, python: str | None) -> CodeExplanation:
    """Look up a code, ignoring case. Raises ``click.UsageError`` for an unknown code."""
    if found := _MEANINGS.get(code.lower()):
        meaning, url = found
        meaning = f"{meaning[0].upper()}{meaning[1:]}."
        return CodeExplanation(code.lower(), KnownBreak("", meaning, (), url), tuple(examples(code.lower())))
    code = code.upper()
    if not _GRAPH_BREAK.fullmatch(code):
        raise click.UsageError(
            f"{code} is not a code: those of graph breaks are like GB0170, others are {', '.join(_MEANINGS)}"
        )
    return CodeExplanation(code, _of_torch(code, python), tuple(examples(code)))


def _of_torch(code: str, python: str | None) -> KnownBreak:
    """Return torch's explanation of a graph break; empty if there is no torch."""
    folder = Path.cwd()
    config = read_config(project_root(folder))
    chosen = choose_interpreter(config, SettingOverrides(folder, python)).path
    try:
        known = known_break(chosen, code)
    except NoRegistryError as error:
        tell(f"Torch's explanation is missing: {error}")
        return _UNKNOWN
    if known is None and code not in BREAKS:
        raise click.UsageError(f"the torch in {chosen} has no graph break {code}")
    return known or _UNKNOWN


def write(told: CodeExplanation, out: TextIO) -> None:
    """Write the meaning as text, then each fix with a diff of a small example."""
    console = clean_console(out)
    meaning = told.meaning
    console.print(Text.assemble((told.code, "yellow"), (f" {meaning.title}".rstrip(), "bold")))
    for text in filter(
        None, (meaning.explanation, *(f"hint: {hint}" for hint in meaning.hints), meaning.url)
    ):
        console.print(Text(f"  {text}"))
    if not told.examples:
        console.print()
        console.print(Text("no edit is known for this"))
    for example in told.examples:
        fix = example.fix
        console.print()
        console.print(Text.assemble("fix: ", (fix.title, "bold"), f" ({safety_words(fix)}; rule {fix.rule})"))
        for text in filter(None, (example.cause and f"{example.cause}.", fix.change)):
            console.print(Text(f"  {text}"))
        for line in _difference(example):
            console.print(Text(f"  {line}", {"+": "green", "-": "red"}.get(line[:1], "")))


def write_json(told: CodeExplanation, out: TextIO) -> None:
    """Write the explanation as one JSON object."""
    write_object(out, SHAPE.object(told))


EXPLAIN_FORMATS: Final[Mapping[str, ExplainFormat]] = {"text": write, "json": write_json}


_EXAMPLE: Final = shape(
    FixExample,
    "rule=fix.rule",
    "title=fix.title",
    "change=fix.change",
    "safety=fix.safety",
    "source=fix.source",
    "cause",
    "before",
    "after",
)
SHAPE: Final = shape(
    CodeExplanation,
    "code",
    "title=meaning.title",
    "explanation=meaning.explanation",
    "hints=meaning.hints",
    "url=meaning.url",
    JsonKey("fixes", "examples", _EXAMPLE),
)


def _difference(example: FixExample) -> list[str]:
    """Return the lines of an example's diff without headers, with ``…`` between hunks."""
    before, after = example.before.splitlines(), example.after.splitlines()
    lines = [line.rstrip() for line in difflib.unified_diff(before, after, lineterm="")][3:]
    while not lines[-1]:
        lines.pop()
    return ["…" if line.startswith("@@") else line for line in lines[not lines[0] :]]
