"""The command line: ``fullgraph check``, ``stages``, ``minify`` and ``lsp``."""

from .app import main

__all__ = ["main"]
