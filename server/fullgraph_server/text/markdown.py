"""Markdown in which text from programs and logs is shown unchanged.

Text from programs and logs never becomes a link, an image, HTML or a heading. All text that is not a constant
of Fullgraph is put into Markdown by a function of this module.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from urllib.parse import quote

from .visible import visible

_SPECIAL = re.compile(
    r"([\\`*\[\]<>#|~]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)"
    r"|(?<=/)/|(?<=\bwww)\.|(?<=\w)@(?=\w))"  # editors would turn text with these into links
)
_BLOCK = re.compile(r"[-+=](?=[-+=\s]|$)")
"""The beginning of a line that Markdown would read as a list, a rule or the underline of a heading."""
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")
_BAR = re.compile(r"(?<!\\)\\*\|")
_LINE_END = re.compile(r"\r\n|[\r\n]")
_URL_CHARACTERS = "/:?#=&%@+,;~"


def code_span(text: str) -> str:
    """Write text as code within a line."""
    line = visible(_one_line(text))
    fence = "`" * (_longest_run(line) + 1)
    # Markdown strips one blank from both ends; a backtick must not touch the fence.
    padded = line.startswith(" ") and line.endswith(" ") and not line.isspace()
    pad = " " if not line or padded or line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def filled(template: str, **values: str) -> str:
    """Fill a template; the template's parts in backticks become code.

    These parts remain code even if ``values`` contain backticks.
    """
    parts = (part.format(**values) for part in template.split("`"))
    return "".join(code_span(part) if index % 2 else part for index, part in enumerate(parts))


def escaped(text: str) -> str:
    """Write a sentence on one line, escaped; text in backticks becomes code."""
    line = _one_line(text).strip()
    runs = list(_BACKTICKS.finditer(line))
    # Code begins and ends with the same number of backticks.
    last = {len(run[0]): index for index, run in enumerate(runs)}
    parts, end, index = "", 0, 0
    while index < len(runs):
        first, length = runs[index], len(runs[index][0])
        index += 1
        if last[length] >= index:
            while len(runs[index][0]) != length:
                index += 1
            code = line[first.end() : runs[index].start()]
            parts += _plain(line[end : first.start()]) + code_span(_without_pad(code))
            end, index = runs[index].end(), index + 1
    return _begun(parts + _plain(line[end:]))


def fenced(language: str, text: str) -> str:
    """Write a block of code, with a fence that no line of ``text`` can end."""
    lines = [visible(line) for line in _LINE_END.split(text.rstrip())]
    fence = "`" * max(_longest_run(text) + 1, 3)
    return "\n".join([f"{fence}{language}", *lines, fence])


def paragraphs(text: str) -> str:
    """Write text as paragraphs; paragraphs that torch indented become code blocks."""
    blocks = (block for block in text.split("\n\n") if block.strip())
    return "\n\n".join(
        fenced("text", textwrap.dedent(block))
        if block.startswith(" ")
        else "\n".join(map(escaped, block.splitlines()))
        for block in blocks
    )


def table(rows: Sequence[Sequence[str]], alignment: str) -> str:
    """Write a table in GitHub's Markdown; the first row is the header.

    ``alignment`` has ``<`` or ``>`` for each column. The cells are Markdown; ``|`` in cells is escaped,
    because it ends a cell even within code.
    """
    cells = [[_BAR.sub(_within_cell, cell) for cell in row] for row in rows]
    rule = ["--:" if side == ">" else "---" for side in alignment]
    lines = [cells[0], rule, *cells[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def link(text: str, uri: str) -> str:
    """Write a link to a URI that Fullgraph made or that :func:`torch_page` accepted."""
    address = quote(uri, safe=_URL_CHARACTERS, errors="surrogatepass")
    return f"[{_plain(_one_line(text))}]({address})"


def torch_page(url: str) -> str:
    """Return ``url`` if it is a page of torch's own sites, else an empty string.

    The URL can come from a log, which can contain any URL.
    """
    return url if _TORCH_PAGE.fullmatch(url) else ""


_TORCH_PAGE = re.compile(
    r"https://(?:(?:[a-z0-9-]{1,63}\.){0,4}pytorch\.org|meta-pytorch\.(?:github\.io|org))/[\w./~-]{0,300}"
    r"(?:#[\w./~-]{0,200})?",
    re.ASCII,
)


def _one_line(text: str) -> str:
    return " ".join(_LINE_END.split(text))


def _without_pad(code: str) -> str:
    """Remove the padding blanks from the text between the fences of a code span."""
    padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if padded else code


def _within_cell(bar: re.Match[str]) -> str:
    escaped_already = len(bar[0]) % 2 == 0
    return bar[0] if escaped_already else f"{bar[0][:-1]}\\|"


def _plain(text: str) -> str:
    text = visible(text)
    return _SPECIAL.sub(r"\\\1", text)


def _begun(line: str) -> str:
    """Escape the beginning of a line that Markdown would read as a list or a rule."""
    if _BLOCK.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
