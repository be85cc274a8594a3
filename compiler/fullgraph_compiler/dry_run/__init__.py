"""Runs without data: tensors and saved files have sizes, dtypes and devices only.

- ``dry``: run a program with tensors that have no data
- ``given``: values that example calls provide instead of missing data
- ``idioms``: skip common code that needs values but compiles nothing
- ``unknown``: stand-ins for unknown numbers and arrays, which a program may log
- ``checkpoints``: load and save sizes and dtypes only
- ``dataless_pickle``: pickles of tensors with size, dtype and device only
- ``safetensors_files``: the headers of safetensors files
- ``array_files``: NumPy and HDF5 files
"""
