"""Answers to graph breaks and errors: the cause in the source, and what to do.

Answers complete or replace torch's own message. An answer names a cause only if the facts and the syntax tree
show this cause.

- ``answers``: all answers of a run; the entry point
- ``words``: the class of an answer, and phrases for lines
- ``marks``: uses of ``torch.compile``, ``torch.compiler.disable`` and the like, and registrations of hooks
- ``breaks``: answers to graph breaks
- ``coded``: answers chosen by the id of a graph break, for breaks without a hint of torch
- ``seen_errors``: errors and graph breaks, with the calls of the program that led to them
- ``errors``: answers to errors of programs that ``torch.compile`` does not support
- ``autograd``: answers about gradients that break a graph, and to errors of AOTAutograd
- ``fake_calls``: answers to calls that fail with fake tensors
- ``fake_kernels``: answers to fake kernels that raise, or are missing
- ``operators``: answers about functions passed to higher-order operators
- ``undecided``: answers to branches that depend on tensor data
- ``calls``: answers to calls that Dynamo cannot trace
- ``uncompiled``: advice for programs in which nothing is compiled
- ``options``: answers to options and backends that ``torch.compile`` does not know
- ``module_names``: lookups by parameter name that fail for a compiled module
- ``wrapped``: answers about the ``OptimizedModule`` that ``torch.compile`` returns for a module
- ``causes``: answers to differences between a compiled call and the same call uncompiled

The folder ``recompiling`` explains recompilations and recompile limits. ``inlined`` is about decorators that
Dynamo ignores when it inlines a function.
"""
