"""The command line: ``fullgraph check``, ``fix``, ``stages``, ``minify``, ``lsp``, ``mcp`` and more.

- ``app``: the commands
- ``analyses``: the commands of analyses
- ``options``: the options that commands share
- ``session``: workers, settings and signals of a command
- ``resolve``: from names on the command line to targets
- ``fail_on``: which findings make a command fail
- ``switches``: options that change what a run does
- ``check``: run targets, and write their reports in a format
- ``trace``: read traces
- ``speed``: measure compiled calls
- ``minify``: write a repro
- ``fix``: search for fixes, prove them, and write them if asked
- ``sizes``: search for marks of sizes, and try sizes that a program has not seen
- ``mcp``: the server for coding agents
- ``explain``: what a code means, and the fixes for it by examples
- ``known``: the baseline of a call
- ``output``: printing
"""

from .app import main

__all__ = ["main"]
