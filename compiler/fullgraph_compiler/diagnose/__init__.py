"""Diagnosis of failures: stages, causes, bisection.

- ``stages``: run a program through the stages of the compiler, and name the first that fails
- ``programs``: run a program in a child: uncompiled, with Dynamo alone, or with its own backend
- ``results``: record the results of compiled functions, for a comparison
- ``causes``: find why the whole program differs, from further runs of it
- ``paths``: record the path of each call through uncompiled code
- ``followed``: decide which code is followed in a call; find cached functions
- ``divergence``: find the first point at which the paths of two calls differ
- ``hooks``: record where the program registers hooks
- ``translated``: compare calls of NumPy with torch's translation of its functions
- ``wrappers``: record where ``torch.compile`` wraps modules; compare the program without these wrappers
- ``printed``: record the lines that a program prints, for a comparison
- ``bisection``: find the pass or lowering at fault with torch's bisector
- ``operators``: find operators in a failing graph that do not do what they declare
- ``draws``: find operations in graphs that draw random numbers
- ``chosen``: find settings of the program without which a failing graph passes
- ``noise``: find results of graphs that rounding decides
"""
