"""Standard LSP methods, a module each: they show finished reports in documents, and start no run.

- ``context``: what all features and commands share
- ``diagnostics``: findings as diagnostics
- ``hover``: guards of a name, sum of a function, explanation of a finding
- ``guard_text``: what a hover says of guards
- ``code_lens``: run and stop above targets, sums above functions
- ``code_action``: quick fixes
- ``fix_actions``: fixes with their verdicts, as quick fixes
- ``ignore_comment``: the quick fix that ignores a finding
- ``completion``: what can stand in ``# fullgraph`` comments
- ``inlay_hint``: dtype and shape behind names
- ``content``: documents that are no files
- ``explanation``: the full explanation of a finding, as a document
- ``profile``: the profile of recompilations, as a document
- ``artifacts``: what the compiler made of graphs, as documents
- ``kernels``: from a source line to its kernels, and back
- ``seen_calls``: example calls of what a run or a trace saw, to insert
"""
