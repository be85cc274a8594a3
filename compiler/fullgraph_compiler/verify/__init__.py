"""Proofs of edits: compare what a program computes with and without an edit.

Recorded runs:

- ``snapshots``: values as data that can be compared later: numbers, structure, and shared memory
- ``differences``: the first difference between two snapshots, as text
- ``calls``: the outermost calls of compiled functions, in order
- ``recording``: the results and side effects of a run's calls, in a file
- ``running``: a recorded run
- ``again``: the calls of a run, repeated with gradients and with other values
- ``surroundings``: the variables, torch settings and files that a program leaves behind
- ``unseen``: the calls of a run, repeated with sizes that the program did not use
- ``resizing``: arguments of calls with other sizes
- ``state``: torch's settings and module state at a call, restored before the call is repeated
- ``comparing``: the comparison of two runs' recordings

Trials of statements alone:

- ``trials``: old and new statements, run at the point where the program reaches them
- ``statements``: the statements in their function, and as a function of local variables
- ``branches``: the branches of the statements, the branches that a run takes, and whether errors are caught
- ``values``: the values to try the statements on
- ``environment``: the values that the statements, and the functions they call, read
- ``executing``: one run of the statements, and its results

Observed calls:

- ``observing``: the arguments, results and side effects of functions that a program calls
- ``variations``: other values for arguments and variables, derived from the values of a run, and what a
  program never changes
"""
