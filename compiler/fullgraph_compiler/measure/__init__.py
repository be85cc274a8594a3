"""Measurements of compiled calls: speed, memory, and parts of the time.

- ``speed``: one measurement of a program, from start to end
- ``keeping``: record the calls of a program, and time them there
- ``repeating``: repeat the recorded calls, compiled and uncompiled
- ``sampling``: the ratio of two times, with its interval
- ``profiling``: repeat calls under torch's profiler
- ``timeline``: divide the profiled time into parts
- ``memory``: the peak of the memory that calls use
- ``machine``: measure the machine's bandwidth and arithmetic
- ``variants``: other ways to compile a program, applied at its calls of ``torch.compile``
- ``trying``: run a program with each variant
"""
