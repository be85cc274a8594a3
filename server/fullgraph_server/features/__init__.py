"""Standard LSP methods, one module each; they show reports and start no runs.

- ``context``: the state that all features and commands share
- ``diagnostics``: findings as diagnostics
- ``hover``: guards on a name, summary of a function, explanation of a finding
- ``guard_text``: hover texts about guards
- ``code_lens``: run and stop above targets, summaries above functions
- ``code_action``: quick fixes
- ``fix_actions``: fixes with their verdicts, as quick fixes
- ``ignore_comment``: the quick fix that ignores a finding
- ``completion``: completion in ``# fullgraph`` comments
- ``inlay_hint``: dtype and shape after names, and the cost of lines
- ``content``: text of documents that are not files
- ``explanation``: the full explanation of a finding, as a document
- ``profile``: the profile of recompilations, as a document
- ``artifacts``: the compiler's artifacts, such as kernels and graphs, as documents
- ``kernels``: navigation from a source line to its kernels, and back
- ``seen_calls``: calls observed in a run or a trace, as example calls to insert
"""
