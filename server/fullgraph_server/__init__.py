"""The Fullgraph language server and command line.

They never import torch and never run user code.
"""

__version__ = "0.1.0"
