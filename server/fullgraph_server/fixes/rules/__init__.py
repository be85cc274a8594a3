"""Rules that offer edits for findings.

A rule is a pure function of a finding, the syntax around it, and the report.

- ``catalogue``: the rules that are tried for a finding

Families:

- ``printing``: printing and logging
- ``branches``: branches, loops and assertions that depend on tensor data
- ``skipping``: layers that are skipped at random
- ``values``: tensors that are converted to Python numbers
- ``selections``: masks as indices, and other sizes that depend on data
- ``slices``: slices whose bounds come from tensor data
- ``tensors``: tensors made or changed in ways that torch does not trace
- ``rewrites``: calls that torch traces after they are rewritten
- ``python``: settings, decorators, imports, classes and context managers
- ``hoisting``: code that is moved before the compiled call, or runs once
- ``recompilations``: edits that follow the advice on recompilations
- ``arguments``: arguments that are made alike in every call
- ``state``: settings, registrations and objects that are moved before a call

Shared:

- ``syntax``: the syntax around a finding, and edits of it
- ``expressions``: side effects of expressions, and conditions written as tensors
- ``arms``: the statements of a branch's arms, as expressions
- ``calls``: the calls that caused the compilations of a function
- ``offering``: helpers for rules that inspect one node
"""
