"""A hash of Python code that stays the same if only comments, docstrings or the layout change."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path


def digest(*parts: object) -> str:
    """Return a hash of the texts of some values."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:20]


def code_hash(files: Iterable[Path], cache: Path) -> str:
    """Return the hash of the code of some files.

    ``cache`` is a file with the hashes of known texts: to parse 45 000 lines takes three seconds.
    """
    known: dict[str, str] = json.loads(cache.read_text()) if cache.is_file() else {}
    texts = {digest(sys.version, text): text for text in (file.read_text("utf-8") for file in files)}
    if texts.keys() - known.keys():
        known = {key: known.get(key) or digest(code_of(text)) for key, text in texts.items()} | known
        cache.parent.mkdir(parents=True, exist_ok=True)
        partial = cache.with_name(f"{cache.name}.{os.getpid()}")
        partial.write_text(json.dumps(known))
        partial.replace(cache)
    return digest(*(known[key] for key in texts))


def code_of(text: str) -> str:
    """Return a program's text without comments, docstrings, and strings that document attributes."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [statement for statement in node.body if not _is_string(statement)]
    return ast.unparse(tree)


def _is_string(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
