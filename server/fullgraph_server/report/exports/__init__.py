"""Findings about ``torch.export``.

- ``findings``: facts of exports to findings
- ``fixed_sizes``: calls that pass a size as a number
- ``marked_sizes``: sizes marked as dynamic that the code restricts, also for ``torch.compile``
- ``refused``: errors with which ``torch.export`` rejects ``dynamic_shapes``
- ``programs``: exported programs, and the sizes that they accept
- ``conditions``: the code of a condition, and the variables for its symbols
"""
