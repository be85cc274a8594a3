"""Text from programs and logs in Markdown, so that none of it becomes a link, an image, HTML or a heading.

Whatever is not written here by hand goes into Markdown through one of these functions.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from urllib.parse import quote

from .visible import visible

_SPECIAL = re.compile(
    r"([\\`*\[\]<>#|~]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)"
    r"|(?<=/)/|(?<=\bwww)\.|(?<=\w)@(?=\w))"  # of which editors would make links
)
_BLOCK = re.compile(r"[-+=](?=[-+=\s]|$)")
"""What makes a list, a line or a heading where a line begins with it."""
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")
_BAR = re.compile(r"(?<!\\)\\*\|")
_LINE_END = re.compile(r"\r\n|[\r\n]")
_URL_CHARACTERS = "/:?#=&%@+,;~"


def code_span(text: str) -> str:
    """Text as code within a line."""
    line = visible(_one_line(text))
    fence = "`" * (_longest_run(line) + 1)
    # Markdown takes one blank from both ends; a backtick may not touch the fence.
    padded = line.startswith(" ") and line.endswith(" ") and not line.isspace()
    pad = " " if not line or padded or line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def filled(template: str, **values: str) -> str:
    """A sentence with values in it: what the template has in backticks is code, whatever the values are."""
    parts = (part.format(**values) for part in template.split("`"))
    return "".join(code_span(part) if index % 2 else part for index, part in enumerate(parts))


def escaped(text: str) -> str:
    """A sentence on one line: what stands in backticks is code, all else is plain text."""
    line = _one_line(text).strip()
    runs = list(_BACKTICKS.finditer(line))
    # Code begins and ends as Markdown has it: with as many backticks.
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
    """A block of code, whatever backticks are in it."""
    lines = [visible(line) for line in _LINE_END.split(text.rstrip())]
    fence = "`" * max(_longest_run(text) + 1, 3)
    return "\n".join([f"{fence}{language}", *lines, fence])


def paragraphs(text: str) -> str:
    """Text as paragraphs: what torch has indented is code of its own."""
    blocks = (block for block in text.split("\n\n") if block.strip())
    return "\n\n".join(
        fenced("text", textwrap.dedent(block))
        if block.startswith(" ")
        else "\n".join(map(escaped, block.splitlines()))
        for block in blocks
    )


def table(rows: Sequence[Sequence[str]], alignment: str) -> str:
    """A table of GitHub's Markdown, its head first; ``alignment`` has ``<`` or ``>`` for each column.

    The cells are Markdown, in which a bar would end a cell also within code.
    """
    cells = [[_BAR.sub(_within_cell, cell) for cell in row] for row in rows]
    rule = ["--:" if side == ">" else "---" for side in alignment]
    lines = [cells[0], rule, *cells[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def link(text: str, uri: str) -> str:
    """A link to a URI that the server has made, or to one that :func:`torch_page` has let through."""
    address = quote(uri, safe=_URL_CHARACTERS, errors="surrogatepass")
    return f"[{_plain(_one_line(text))}]({address})"


def torch_page(url: str) -> str:
    """The address of one of torch's own pages; empty for any other, which a log may name as well."""
    return url if _TORCH_PAGE.fullmatch(url) else ""


_TORCH_PAGE = re.compile(
    r"https://(?:(?:[a-z0-9-]{1,63}\.){0,4}pytorch\.org|meta-pytorch\.(?:github\.io|org))/[\w./~-]{0,300}"
    r"(?:#[\w./~-]{0,200})?",
    re.ASCII,
)


def _one_line(text: str) -> str:
    return " ".join(_LINE_END.split(text))


def _without_pad(code: str) -> str:
    """What is between the fences of a code span, without the blanks that belong to them."""
    padded = code.startswith(" ") and code.endswith(" ") and not code.isspace()
    return code[1:-1] if padded else code


def _within_cell(bar: re.Match[str]) -> str:
    escaped_already = len(bar[0]) % 2 == 0
    return bar[0] if escaped_already else f"{bar[0][:-1]}\\|"


def _plain(text: str) -> str:
    text = visible(text)
    return _SPECIAL.sub(r"\\\1", text)


def _begun(line: str) -> str:
    """A line that begins no list, no heading and no rule."""
    if _BLOCK.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
