"""Debugging backends: locate faults, explain compilations, profile recompilations.

- ``registry``: the names by which programs can select these backends
- ``debugging``: replacements for backends of torch that cannot be selected by name
- ``faults``: backends that fail on purpose, to test the diagnosis of failures
- ``explain``: count graphs, breaks, operations and guards with any backend
- ``profiler``: ``CompileProfiler``, which counts recompilations and names the guards that failed
"""
