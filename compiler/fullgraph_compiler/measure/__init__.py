"""Measurements of compiled calls: speed, memory, and parts of the time.

- ``speed``: make one measurement of a program, from start to end
- ``keeping``: record the calls of a program, and time them while the program runs
- ``repeating``: repeat the recorded calls, compiled and uncompiled
- ``sampling``: measure the ratio of two times, with its confidence interval
- ``profiling``: repeat calls under torch's profiler
- ``timeline``: divide the profiled time into parts
- ``memory``: measure the peak of the memory that calls use
- ``machine``: measure the machine's bandwidth and arithmetic speed
- ``variants``: compile a program in other ways, by a replacement of ``torch.compile``
- ``trying``: run a program with each variant
"""
