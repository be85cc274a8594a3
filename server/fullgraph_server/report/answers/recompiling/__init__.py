"""Causes of recompilations and recompile limits in the program's source.

- ``compiling``: functions that share a code object or have ``dynamic=False``; limits set in another thread
- ``lookups``: keys that compiled code looks up in a dict or a set
- ``recurrent``: recurrent layers that torch unrolls
- ``resumed``: values that are passed over a graph break
"""
