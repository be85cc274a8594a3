"""Debugging backends: locate faults, explain compilations, profile recompilations.

- ``registry``: the names under which programs can use them
- ``debugging``: stand-ins for backends of torch that cannot be used by name
- ``faults``: backends that fail on purpose, to test the diagnosis of failures
- ``explain``: counts graphs, breaks, operations and guards with any backend
- ``profiler``: ``CompileProfiler``, which counts recompilations and names the guards that failed
"""
