"""Measured calls of compiled functions: what their time and memory are spent for.

- ``model``: the measured speed, its parts and causes, as dataclasses
- ``speed``: the parts of the time, and the verdict in one sentence
- ``causes``: the causes of the time, by line
- ``memory``: what holds the memory at its peak, by line
- ``best_variant``: the best of the ways to compile a program
"""
