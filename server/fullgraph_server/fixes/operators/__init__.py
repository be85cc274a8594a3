"""What cannot be traced, made operators of torch: functions as a run has seen them called.

- ``rule``: which function around a finding can be an operator, and the edits
- ``text``: the text of an operator, with its fake implementation and its gradient
- ``sizes``: the sizes of results, as expressions of the arguments
"""
