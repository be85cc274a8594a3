"""Proofs of edits: what a program computes with an edit is compared with what it computes without.

- ``snapshots``: values as data that can be compared later: numbers, structure, and which memory is shared
- ``differences``: the first difference between two snapshots, in words
- ``calls``: the outermost calls of compiled functions, in order
- ``recording``: what the calls of a run gave back and changed, in a file
- ``running``: a run that is recorded so
- ``again``: its calls, made again with gradients and with other values
- ``surroundings``: what it leaves behind beside: variables, settings of torch, files
- ``unseen``: its calls, made again with sizes that it does not have
- ``resizing``: their arguments with other sizes
- ``state``: the state in which they were made
- ``comparing``: the files of two runs, compared
- ``trials``: statements of a program, old against new, where the program comes to them
- ``statements``: these statements in their function, and as a function of local variables
- ``branches``: their branches, which a run takes, and whether their errors are caught
- ``values``: the values to try them on
- ``environment``: the values that they work with, and those that functions read which they call
- ``observing``: calls of a program, observed: what functions get, give back and change
- ``variations``: other values: changes of one value, arguments of calls made others of
- ``executing``: one run of them, and what it computes
"""
