"""Notebooks as Python: the code cells of a notebook, joined into one program.

- ``file``: the code cells of a notebook file
- ``program``: the Python program of the code cells
"""
