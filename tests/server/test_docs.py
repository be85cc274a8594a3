"""The pages for users name everything that the code has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from fullgraph_server.report.model import FindingKind
from fullgraph_server.text.messages import KIND_NAMES

DOCS = Path(__file__).parents[2] / "docs"


def test_every_kind_of_finding_is_described() -> None:
    text = (DOCS / "findings.md").read_text()
    kinds = set(get_args(FindingKind))
    assert set(re.findall(r"^### `([\w-]+)`$", text, re.MULTILINE)) == kinds
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == kinds
    assert set(KIND_NAMES) == kinds
