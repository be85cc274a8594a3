"""Python processes that run user code: interpreters, environments, fork servers, pools of warm workers.

- ``pool``: hand out workers; the entry point
- ``warm_pool``: workers of one kind, started ahead
- ``fork_server``: the server's side of a fork server
- ``handover``: fork servers that stay for the next command
- ``inherited``: the attributes that processes get from the one that starts them
- ``process``: a worker's process: channel, output, end
- ``channel``: JSON-RPC with a worker
- ``worker``: a process that serves one run, in JSON-RPC
- ``interpreter``: which Python runs a target
- ``probe``: what an interpreter is, without importing torch
- ``registry``: what torch itself says of a graph break, without importing torch
- ``settings``: where a program runs, and its limits
- ``environment``: torch's environment report
- ``crash``: what a dead process left: its stack and exit status
- ``program_output``: run a repro for what it prints
"""
