"""Runs of a short program with changes that may remove a finding.

These runs happen before the user asks for fixes.

- ``advising``: runs with advice on recompilations; the entry point
- ``tries``: runs with ways out of errors and graph breaks
- ``ways_out``: edits that may remove an error or a graph break
"""
