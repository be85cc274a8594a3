"""Cases: graphs and inputs as plain data, to find and report failures.

Cases are read from torch, written as repros, and run to find failures.

- ``case``: a graph with its inputs, as plain data
- ``reading``: a case from an fx graph
- ``aot``: the forward and backward graphs of AOTAutograd as cases
- ``collect``: save each captured graph of a run as a case
- ``definitions``: extract the definitions that a graph needs from the user's files
- ``statements``: the names that the top-level statements of a file define and need
- ``writing``: values and operations of a case as Python text
- ``layout``: the text of a whole repro: imports, definitions, parts
- ``repro``: a case as a Python file that needs only torch
- ``checking``: find out whether a compiled program raises or computes wrong numbers
- ``self_check``: the part of ``checking`` that a repro carries
- ``oracle``: run a case in a forked child to see whether it fails
- ``places``: map a line of a repro to the user's line
"""
