"""What ``torch.export`` met, as findings.

- ``findings``: facts of exports to findings
- ``fixed_sizes``: calls that give a size as a number
- ``marked_sizes``: sizes that are marked as dynamic, and that the code restricts, also for ``torch.compile``
- ``refused``: errors with which ``torch.export`` refuses ``dynamic_shapes``
- ``programs``: exported programs, and the sizes that they accept
- ``conditions``: the code behind a condition, and the variables behind its symbols
"""
