"""Fullgraph in the user's interpreter: observes torch.compile.

It imports only the standard library and torch.
"""
