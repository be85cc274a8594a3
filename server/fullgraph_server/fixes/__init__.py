"""Fixes: edits that remove a finding, each offered with the verdict of running the program with it.

- ``model``: edits, fixes, verdicts
- ``editing``: edits applied to a text, and the statements that they replace
- ``rules/``: the catalogue of edits for each kind of finding
"""
