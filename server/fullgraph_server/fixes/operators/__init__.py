"""What cannot be traced, made operators of torch: functions as a run has seen them called.

- ``callees``: the functions around a finding, and the calls of them
- ``reads``: what a function reads beside its arguments, and what of it may change
- ``source``: what the source of a function says beyond the calls that were seen
- ``rule``: which of them can be an operator, and the edits
- ``text``: the text of an operator, with its fake implementation
- ``gradient``: the text of its gradient
- ``result_sizes``: the sizes of results, as expressions of the arguments
"""
