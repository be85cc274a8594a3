"""Lines of user code and of kernels, mapped to graphs, tensors and operations.

- ``graph_lines``: the graphs of each statement
- ``tensors``: the tensors that variables hold
- ``kernel_lines``: the operations that a line of a kernel computes
"""
