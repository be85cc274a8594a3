"""Fullgraph's part in the user's interpreter, which observes torch.compile.

It imports only the standard library and torch.
"""
