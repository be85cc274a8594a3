"""The command line: ``fullgraph check``, ``stages``, ``minify``, ``recipes`` and ``lsp``."""

from .app import main

__all__ = ["main"]
