"""What in the program's text is behind recompilations and their limit.

- ``compiling``: functions that share their code, or are compiled with ``dynamic=False``; limits of threads
- ``lookups``: keys that compiled code looks for in a dict or a set
- ``recurrent``: recurrent layers that torch unrolls
- ``resumed``: values that are handed over a graph break
"""
