"""Notebooks as Python: their code cells, joined into one program.

- ``file``: the code cells of a notebook file
- ``program``: the Python program of the code cells
"""
