"""Diagnosis of failures: stages, causes, bisection.

- ``stages``: run a program through the stages of the compiler, and name the first stage that fails
- ``programs``: run a program in a child process: uncompiled, with Dynamo alone, or with its own backend
- ``results``: record the results of compiled functions, to compare two runs
- ``causes``: find why the results of the whole program differ, from further runs of the program
- ``paths``: record the path of each call through uncompiled code
- ``followed``: decide which code a recorded path includes; list the functions that ``functools`` caches
- ``divergence``: find the first point at which the paths of two calls differ
- ``hooks``: record where the program registers and removes hooks
- ``translated``: compare calls of NumPy functions with torch's translations of these functions
- ``wrappers``: record where ``torch.compile`` wraps modules; run the program without these wrappers
- ``printed``: record the lines that a program prints, to compare two runs
- ``bisection``: find the pass or lowering at fault with torch's bisector
- ``operators``: find operators in a failing graph that do not do what they declare
- ``draws``: find operations in graphs that draw random numbers
- ``chosen``: find settings of the program whose default values let a failing graph pass
- ``noise``: find results of graphs that only rounding decides
"""
