"""The messages in TypeScript are those of Python."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.portable

ROOT = Path(__file__).parents[3]


def test_typescript_messages_are_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "protocol_types.py"))
    written = (ROOT / "extension" / "src" / "protocol.ts").read_text(encoding="utf-8")
    assert written == script["typescript"](), "run `python scripts/protocol_types.py`"
