"""The worker: the process that runs user code; JSON-RPC on private descriptors.

The process at the other end is Fullgraph's server: the language server or a command.

- ``main``: the entry point, started by its path
- ``session``: serve one run, then end
- ``channel``: JSON-RPC over private descriptors
- ``fork_server``: import libraries once, and fork a worker for each run
- ``imported``: the files that a fork server has imported, and whether one of them has changed
- ``imports``: import torch and libraries ahead of a run
- ``alone``: run example calls, without observation, for a debugger
"""
