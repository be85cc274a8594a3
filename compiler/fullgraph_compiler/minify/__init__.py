"""Minification of a failure of the compiler to a few lines that anybody can run.

- ``minifier``: one minification from start to end
- ``reduction``: delta debugging: which smaller cases to ask about
- ``reduction_graph``: fewer outputs and inputs
- ``reduction_operations``: fewer operations
- ``reduction_values``: simpler types, data and settings
- ``reduction_sizes``: smaller tensors
- ``reduction_everywhere``: changes through a case and its subgraphs
- ``cold_rerun``: run the repro once more in a fresh interpreter
"""
