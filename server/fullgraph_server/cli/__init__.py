"""The command line: ``fullgraph check`` and ``fullgraph lsp``."""

from .app import main

__all__ = ["main"]
