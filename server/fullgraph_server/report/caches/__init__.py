"""The compiler's caches: whether each graph was found in a cache, and why not.

- ``model``: the lookups in caches, as a part of a report
- ``keys``: the differences between two cache keys
- ``uses``: lookups from facts, and the findings about lookups
"""
