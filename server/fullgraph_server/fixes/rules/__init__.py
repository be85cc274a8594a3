"""Rules that make edits of findings: pure functions of a finding, the syntax around it, and the report.

- ``catalogue``: which rules are tried for a finding

Families:

- ``printing``: printing and logging
- ``branches``: branches, loops and assertions on data
- ``skipping``: layers that are skipped at random
- ``values``: numbers made of tensors
- ``selections``: masks as indices, and other sizes that depend on data
- ``tensors``: tensors made or changed in ways that are not traced
- ``rewrites``: calls that are traced when written otherwise
- ``python``: settings, decorators, imports and classes
- ``contexts``: context managers
- ``hoisting``: what is computed before the call, or once
- ``recompilations``: what the advice of recompilations says
- ``arguments``: arguments that are alike in every call
- ``state``: what is set, registered or made before a call

Shared:

- ``syntax``: the syntax around a finding, and edits of it
- ``expressions``: what expressions may do, and how they are written as tensors
- ``arms``: the arms of a branch
- ``calls``: the calls that made a function compile
- ``offering``: rules that look at one node
"""
