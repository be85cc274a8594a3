"""What may help against a finding of a short program, tried before it is told.

- ``advising``: advice on recompilations, applied; the entry point
- ``tries``: ways out of errors and breaks, applied
- ``ways_out``: what to try against errors and breaks, as edits
"""
