"""Debugging backends, which locate faults, explain compilations, and profile recompilations.

- ``registry``: what each of torch's backends is for, and the name under which it works here
- ``debugging``: stand-ins for backends of torch that cannot be used by name
- ``faults``: backends that fail on purpose, to try the tools on
- ``explain``: counts graphs, breaks, operations and guards with any backend
- ``profiler``: ``CompileProfiler``, which tells why functions are compiled again
- ``listening``: the base of ``explain`` and ``profiler``
"""
