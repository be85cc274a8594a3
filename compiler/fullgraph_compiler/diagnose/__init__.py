"""Diagnosis of failures: stages, causes, bisection.

- ``stages``: run a program through the stages of the compiler, and name the first that fails
- ``programs``: run a program in a child: uncompiled, with Dynamo alone, or with its own backend
- ``results``: what compiled functions returned, for a comparison
- ``causes``: why the whole program differs, from further runs of it
- ``paths``: the way that each call takes uncompiled
- ``followed``: the code that is followed in a call, and cached functions
- ``divergence``: the first point at which two calls part
- ``hooks``: where the program registers hooks
- ``translated``: NumPy's functions, computed by torch's translation, too
- ``wrappers``: modules that ``torch.compile`` wraps, and what the program does without these wrappers
- ``printed``: the lines that a program printed, for a comparison
- ``bisection``: torch's bisector, for the pass or lowering at fault
- ``operators``: operators in a failing graph that do not do what they declare
- ``draws``: operations in graphs that draw random numbers
- ``chosen``: settings of the program without which a failing graph passes
- ``noise``: results of graphs that rounding decides
"""
