"""Processes of a worker: forked children, data from ``/proc``, and GPUs.

- ``children``: forked children, each of which does one thing and returns one answer
- ``processes``: what Linux knows about processes and their memory
- ``gpu``: find out whether there is a GPU, without opening it
"""
