"""Cases: graphs and inputs as plain data, to find and report failures.

Cases are read from torch, written as repros, and run to find failures.

- ``case``: a graph with its inputs, as plain data
- ``reading``: convert an fx graph to a case
- ``aot``: convert the forward and backward graphs of AOTAutograd to cases
- ``collect``: save each captured graph of a run as a case
- ``definitions``: extract the definitions that a graph needs from the user's files
- ``statements``: find the names that the top-level statements of a file define and need
- ``writing``: write the values and operations of a case as Python code
- ``layout``: assemble the text of a repro: imports, definitions, parts
- ``repro``: write a case as a Python file that needs only torch
- ``checking``: find out whether a compiled program raises or computes wrong numbers
- ``self_check``: write the part of a repro that checks whether the repro still fails
- ``oracle``: run a case in a forked child to see whether it fails
- ``places``: map a line of a repro to the user's line
"""
