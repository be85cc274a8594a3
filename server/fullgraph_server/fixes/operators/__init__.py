"""Custom operators around functions that torch cannot trace.

They are derived from the observed calls.

- ``callees``: the functions around a finding, and the calls of them
- ``reads``: the variables that a function reads in addition to its arguments, and whether they may change
- ``source``: effects of a function that its source shows, in addition to the observed calls
- ``rule``: the functions that can be an operator, and the edits
- ``text``: the text of an operator, with its fake implementation
- ``gradient``: the text of its gradient
- ``result_sizes``: the sizes of results, as expressions of the arguments
"""
