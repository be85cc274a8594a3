"""Runs of a short program with changes that may help against a finding, before the user asks for fixes.

- ``advising``: runs with advice on recompilations; the entry point
- ``tries``: runs with ways out of errors and breaks
- ``ways_out``: edits that may end an error or remove a break
"""
