"""What functions do beside their results, read from their source: on every path, not only those that ran.

- ``known``: functions of the standard library, torch and NumPy whose effects are known
- ``names``: what the names of a file stand for, also in other files of the workspace
- ``reading``: the effects of a function
"""
