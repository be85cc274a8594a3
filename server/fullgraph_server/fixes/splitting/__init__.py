"""Edits at the place where a function is compiled: only a part of it, or with a setting of torch.

A split function has a compiled part, and statements that run uncompiled before and after it.

- ``dependencies``: what statements read, bind and change
- ``values``: values that the compiled part computes for statements after it
- ``partition``: the statements that run before, inside and after the compiled part
- ``drawing``: random numbers that are drawn before the statements that use them
- ``sites``: the place where a function is compiled, and the edits that compile its part instead
- ``scoping``: settings of torch for one compiled function
- ``source``: the source text of the two functions
- ``rule``: the rule that offers the split for a graph break
- ``watching``: texts with which a run records the calls of a split function
"""
