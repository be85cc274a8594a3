"""Processes of a worker: forked children, what Linux knows about them, whether a GPU is in use."""
