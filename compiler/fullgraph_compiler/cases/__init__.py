"""Cases: graphs and inputs as plain data, read from torch, written as repros, and run to find failures.

- ``case``: a graph with its inputs, as plain data
- ``reading``: a case from an fx graph
- ``aot``: the forward and backward graphs of AOTAutograd as cases
- ``collect``: keep each captured graph of a run as a case
- ``definitions``: the user's definitions that a graph needs, cut out of their files
- ``statements``: what the top-level statements of a file define and need
- ``writing``: values and operations of a case as Python text
- ``layout``: the text of a whole repro: imports, definitions, parts
- ``repro``: a case as a Python file that needs only torch
- ``checking``: how a compiled program fails: it raises, or its numbers are wrong
- ``self_check``: the part of ``checking`` that a repro carries
- ``oracle``: ask in a forked child whether a repro fails
- ``places``: from a line of a repro to the user's line
"""
