"""Minification of a failure of the compiler to a few lines that anybody can run.

- ``minifier``: one minification from start to end
- ``reduction``: delta debugging, which chooses the smaller cases to test
- ``reduction_graph``: fewer outputs and inputs
- ``reduction_operations``: fewer operations
- ``reduction_values``: simpler types, data and settings
- ``reduction_sizes``: smaller tensors
- ``reduction_everywhere``: changes to a whole case and its subgraphs
- ``cold_rerun``: run the repro once more in a fresh interpreter
"""
