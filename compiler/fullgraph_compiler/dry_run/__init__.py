"""Runs without data: tensors and saved files have sizes, dtypes and devices only.

- ``dry``: run a program with tensors that have no data
- ``given``: values that example calls give in place of missing data
- ``idioms``: leave out what needs values and compiles nothing
- ``unknown``: numbers and arrays that a program may log, and nobody knows
- ``checkpoints``: load and save sizes and types only
- ``dataless_pickle``: pickles of which tensors keep size, type and device
- ``safetensors_files``: the headers of safetensors files
- ``array_files``: NumPy and HDF5 files
"""
