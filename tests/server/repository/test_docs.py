"""The pages for users name everything that the code has."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

from fullgraph_server.cli.formats import json as json_format
from fullgraph_server.kinds import KINDS, FindingKind

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
IMAGE = re.compile(r"""!\[[^\]]*\]\(([^)]+)\)|\b(?:src|srcset)="([^"]+)\"""")


def test_every_kind_of_finding_is_described() -> None:
    text = (DOCS / "findings.md").read_text()
    kinds = set(KINDS)
    assert set(re.findall(r"^### `([\w-]+)`$", text, re.MULTILINE)) == kinds
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == kinds
    assert get_args(FindingKind) == tuple(KINDS)


def test_every_picture_is_shown_and_every_one_that_is_shown_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "extension" / "README.md", *DOCS.glob("*.md")]
    shown = {
        (page.parent / (markdown or html)).resolve()
        for page in pages
        for markdown, html in IMAGE.findall(page.read_text())
    }
    assert shown == set((DOCS / "images").iterdir())


def test_every_key_of_the_json_is_described_with_its_object() -> None:
    text = (DOCS / "ci.md").read_text().partition("### JSON")[2].partition("\n#")[0]
    described = [{*re.findall(r"`([a-z_]+)`", line)} for line in text.splitlines()]
    tree = ast.parse(Path(json_format.__file__).read_text())
    for node in (item for item in ast.walk(tree) if isinstance(item, ast.Dict)):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        assert any(keys <= line for line in described), keys
