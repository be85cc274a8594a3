"""The compiler's caches: whether each graph was found in them, and why not.

- ``model``: the lookups in caches, as a part of a report
- ``keys``: the differences between two keys
- ``uses``: lookups from facts, and the findings about them
"""
