<<<<<<< HEAD
"""Processes of a worker: forked children, what Linux knows about them, whether a GPU is in use.

- ``children``: forked children that do one thing and answer once
- ``processes``: what Linux knows about processes and their memory
- ``gpu``: whether there is a GPU, without opening it
"""
=======
"""Process management in a worker: forked children, data from Linux's ``/proc``, detection of GPUs."""
>>>>>>> h-words1
