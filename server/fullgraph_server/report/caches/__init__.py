"""The compiler's caches: what came of each graph in them, and why.

- ``model``: the uses of caches, a part of a report
- ``keys``: how a key differs from another one
- ``uses``: uses made of facts, and findings
"""
