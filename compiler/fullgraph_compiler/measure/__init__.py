"""Measurements of compiled calls: how fast they are beside uncompiled ones, and what their time is spent for.

- ``speed``: the run that is measured, from start to end
- ``keeping``: the calls of the program, and how long each takes there
- ``repeating``: the same calls made again, compiled and uncompiled
- ``sampling``: the ratio of both, with its interval
- ``profiling``: calls under torch's profiler
- ``timeline``: what the profiler recorded, as parts of the time
- ``memory``: the peak of the memory that calls use
- ``machine``: what the machine can do
- ``variants``: other ways to compile a program, and where they are applied
- ``trying``: the runs of a program with each variant
"""
