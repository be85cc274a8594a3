"""Readers of AOTAutograd's and TorchInductor's records.

The records contain the forms of a graph, code, kernels, and cache lookups.

- ``code``: the forms of a graph in TorchInductor, and its code
- ``kernels``: the kernels that generated code defines and launches
- ``functions``: the functions of generated code, and how often each is called
- ``caches``: hits, misses and bypasses of the compiler's caches, and their keys
"""
