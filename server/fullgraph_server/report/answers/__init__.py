"""Answers to breaks and errors, beside torch's words: the cause in the program's text, and what to do.

Nothing is guessed: a cause that the facts and the syntax tree do not show is not told.

- ``answers``: all answers of a run; the entry point
- ``words``: an answer, and how it names lines
- ``marks``: where a source compiles functions, keeps them out of graphs, or registers hooks
- ``breaks``: answers to graph breaks
- ``coded``: answers by the id of a break, where torch has no hint
- ``seen_errors``: an error or a graph break, and the calls of the program that led to it
- ``errors``: answers to errors that do not go with ``torch.compile``
- ``autograd``: answers about gradients that break a graph, and to errors of AOTAutograd
- ``fake_calls``: answers to calls that fail with fake tensors
- ``fake_kernels``: answers to fake kernels that raise, or are missing
- ``operators``: answers about functions of higher-order operators
- ``undecided``: answers to branches that only data decide
- ``calls``: answers to calls that Dynamo cannot trace
- ``uncompiled``: what to do where nothing is compiled
- ``options``: answers to names that ``torch.compile`` does not know
- ``module_names``: lookups by the names of parameters
- ``wrapped``: answers about the ``OptimizedModule`` that ``torch.compile`` returns for a module
- ``causes``: answers to differences between a compiled call and the same call uncompiled

The folder ``recompiling`` has what is behind recompilations and their limit, ``inlined`` what decorators do
that Dynamo traces without.
"""
