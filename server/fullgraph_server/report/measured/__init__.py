"""The time and memory of measured calls of compiled functions, by cause.

- ``model``: dataclasses of the measured speed: parts of the time, causes
- ``speed``: the parts of the time, and the verdict in one sentence
- ``causes``: the causes of the time, by line
- ``memory``: the lines that hold memory at the peak
- ``best_variant``: the best of several ways to compile a program
"""
