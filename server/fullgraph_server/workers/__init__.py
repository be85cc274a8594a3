"""Python processes that run user code: interpreters, fork servers, warm workers.

- ``pool``: the pool that hands out workers; the entry point
- ``warm_pool``: workers of one kind, started ahead
- ``fork_server``: handles of fork servers
- ``handover``: fork servers that stay for the next command
- ``inherited``: the attributes that a process inherits from its parent
- ``process``: a worker's process: channel, output, end
- ``channel``: JSON-RPC with a worker
- ``worker``: a process that serves one run, in JSON-RPC
- ``interpreter``: the choice of the Python that runs a target
- ``probe``: the versions of an interpreter and its torch, without importing torch
- ``registry``: torch's own description of a graph break, without importing torch
- ``settings``: the interpreter, folder, environment and limits of a run
- ``environment``: torch's environment report
- ``crash``: the stack and exit status of a process that died
- ``program_output``: the output of a repro
"""
