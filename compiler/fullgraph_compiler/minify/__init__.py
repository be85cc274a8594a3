"""Minification: reduce a compiler failure to a few lines that anybody can run.

- ``minifier``: minify one failure, from start to end
- ``reduction``: delta debugging, which chooses the smaller cases to test
- ``reduction_graph``: fewer outputs and inputs
- ``reduction_operations``: fewer operations
- ``reduction_values``: simpler types, data and settings
- ``reduction_sizes``: smaller tensors
- ``reduction_everywhere``: changes to a whole case and its subgraphs
- ``cold_rerun``: run the repro once more in a fresh interpreter
"""
