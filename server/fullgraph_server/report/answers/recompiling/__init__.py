"""Causes of recompilations and recompile limits in the program's source.

- ``compiling``: functions that share their code, or are compiled with ``dynamic=False``; limits of threads
- ``lookups``: keys that compiled code looks up in a dict or a set
- ``recurrent``: recurrent layers that torch unrolls
- ``resumed``: values that are passed over a graph break
"""
