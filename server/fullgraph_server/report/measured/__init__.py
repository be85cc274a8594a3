"""Where measured calls of compiled functions spend time and memory.

- ``model``: the measured speed, its parts and causes, as dataclasses
- ``speed``: the parts of the time, and the verdict in one sentence
- ``causes``: the causes of the time, by line
- ``memory``: the lines that hold memory at the peak
- ``best_variant``: the best of several ways to compile a program
"""
