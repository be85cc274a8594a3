"""Analyses: everything that can be asked about a target, one module each.

The registry contains the ``ANALYSIS`` of each module that has one. Limits, suitability, progress, layers, the
command line, the language server, "Analyze…" and the table of the README read the registry. The worker's
part of an analysis is the module of the same name in ``fullgraph_compiler.analyses``.
These modules are shared:

- ``analysis``: the data of an analysis
- ``registry``: all analyses, and the analysis of a run or a report
- ``suitability``: why a target does not suit an analysis
- ``progress``: what a run is doing now, from its facts
- ``shown``: lines of a report for a terminal
"""
