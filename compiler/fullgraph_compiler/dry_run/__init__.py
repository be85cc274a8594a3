"""Runs without data: tensors and saved files have only sizes, dtypes and devices.

- ``dry``: run a program with tensors that have no data
- ``given``: provide values from example calls instead of missing data
- ``idioms``: skip common code that needs values but compiles nothing
- ``unknown``: stand-ins for unknown numbers and arrays, which a program may log
- ``checkpoints``: load and save only sizes and dtypes
- ``dataless_pickle``: pickle tensors with only size, dtype and device
- ``safetensors_files``: read and write the headers of safetensors files
- ``array_files``: write NumPy and HDF5 files
"""
