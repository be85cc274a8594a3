"""Processes of a worker: forked children, data from ``/proc``, and GPUs.

- ``children``: forked children that do one thing and answer once
- ``processes``: what Linux knows about processes and their memory
- ``gpu``: whether there is a GPU, without opening it
"""
