"""Notebooks as Python: their code cells, joined to one program.

- ``file``: the code cells of a file
- ``program``: the program that cells make together
"""
