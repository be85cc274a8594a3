"""Lines of the user's code and of kernels, each with what the compiler made of it.

- ``graph_lines``: the graphs that each statement is in
- ``tensors``: the tensors that names hold
- ``kernel_lines``: the operation that a line of a kernel computes
"""
