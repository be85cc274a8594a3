"""Custom operators around functions that torch cannot trace.

The operators are derived from observed calls of the functions.

- ``callees``: the functions called around a finding, and their calls
- ``reads``: variables that a function reads in addition to its arguments, and whether they may change
- ``source``: effects of a function, found in its source and in its observed calls
- ``rule``: the choice of functions that can be operators, and the edits
- ``text``: the text of an operator, with its fake implementation
- ``gradient``: the text of an operator's gradient
- ``result_sizes``: the sizes of results, as expressions in terms of the arguments
"""
