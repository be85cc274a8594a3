"""Findings about ``torch.export``.

- ``findings``: findings from facts of exports
- ``fixed_sizes``: calls with a constant for a size that should be dynamic
- ``marked_sizes``: sizes marked as dynamic that the code restricts, also for ``torch.compile``
- ``refused``: errors with which ``torch.export`` rejects ``dynamic_shapes``
- ``programs``: exported programs, and the sizes that they accept
- ``conditions``: the code of a condition, and the variables for torch's symbols in the condition
"""
