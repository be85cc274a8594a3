"""Side effects of functions, read from their source on every path.

Paths that did not run are included.

- ``known``: functions of the standard library, torch and NumPy with known effects
- ``names``: the meaning of names in a file, also from other files of the workspace
- ``reading``: the effects of a function
"""
