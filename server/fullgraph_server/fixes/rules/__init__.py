"""Rules that offer edits for findings.

A rule is a pure function of a finding, the syntax around it, and the report.

- ``catalogue``: the rules that are tried for a finding

Families:

- ``printing``: printing and logging
- ``branches``: branches, loops and assertions on data
- ``skipping``: layers that are skipped at random
- ``values``: tensors that become Python numbers
- ``selections``: masks as indices, and other sizes that depend on data
- ``tensors``: tensors made or changed in ways that torch does not trace
- ``rewrites``: calls that torch traces in another form
- ``python``: settings, decorators, imports and classes
- ``contexts``: context managers
- ``hoisting``: code that moves before the call, or runs once
- ``recompilations``: the advice on recompilations, as edits
- ``arguments``: arguments that become alike in every call
- ``state``: state, registrations and objects that move before a call

Shared:

- ``syntax``: the syntax around a finding, and edits of it
- ``expressions``: side effects of expressions, and conditions written as tensors
- ``arms``: the arms of a branch
- ``calls``: the calls that caused the compilations of a function
- ``offering``: helpers for rules that look at one node
"""
