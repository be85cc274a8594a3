"""Minification: reduce a failure to a short program."""

from __future__ import annotations

from typing import Final

from ..minify.minifier import minify
from .entry import WorkerEntry

ENTRY: Final = WorkerEntry(run=minify)
