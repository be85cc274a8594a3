"""The process that runs user code: JSON-RPC on private descriptors.

- ``main``: the entry point, started by path
- ``session``: serve one run, then end
- ``channel``: JSON-RPC over private descriptors
- ``fork_server``: import once, fork a worker for each run
- ``imported``: the files that a fork server has imported, and whether one has changed
- ``imports``: import torch and libraries ahead of a run
- ``alone``: run example calls, without observation, for a debugger
"""
