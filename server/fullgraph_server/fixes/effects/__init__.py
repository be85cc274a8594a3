"""Side effects of functions, found by reading their source.

All paths through a function are read, also those that did not run.

- ``known``: functions of the standard library, torch and NumPy with known effects
- ``names``: the meaning of names in a file, resolved across the files of the workspace
- ``reading``: the effects of a function
"""
