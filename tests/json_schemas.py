"""What commands write as JSON, held against the published schema of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def check_schema(name: str, told: Any) -> None:
    """Fail with each place where an object is not as its schema says."""
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(told)] == []
