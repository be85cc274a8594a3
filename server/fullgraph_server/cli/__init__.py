"""The commands of ``fullgraph``: ``check``, ``fix``, ``stages``, ``mcp`` and more.

- ``app``: the commands
- ``analyses``: a generated command for each analysis without a command in ``app``
- ``options``: the options that commands share
- ``session``: workers, settings and signals of a command
- ``resolve``: resolves names on the command line to targets
- ``fail_on``: which findings make a command fail
- ``switches``: options that change what a run does
- ``check``: run targets, and write their reports in a format
- ``trace``: read and compare traces
- ``speed``: measure compiled calls
- ``minify``: write a repro
- ``fix``: search for fixes, prove them, and write them if asked
- ``sizes``: search for calls of ``mark_dynamic``, and try sizes that a program has not used
- ``mcp``: the server for coding agents
- ``explain``: the meaning of a code, and each fix for it on an example
- ``known``: the baseline that a command compares with or writes
- ``output``: printing, with untrusted text escaped
"""

from .app import main

__all__ = ["main"]
