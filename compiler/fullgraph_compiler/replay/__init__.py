"""Replay of one compiled call of a program, without the rest of the program.

- ``record``: record the call of a compiled function
- ``program``: write a recorded call as a Python file
"""
