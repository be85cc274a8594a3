"""Fullgraph's commands (``fullgraph.*``) and requests (``fullgraph/*``).

Each module has one command or request, or a group that belongs together.

- ``run``: run, stop and clear targets
- ``rerun_on_edit``: rerun targets when a file on which they depend is saved or edited
- ``save_target``: add a target to pyproject.toml
- ``list_targets``: ``fullgraph/targets``: the targets of a file or of the open folders
- ``fix``: try fixes for findings
- ``baseline``: accept a finding
- ``minify``: shrink a failure to a repro
- ``tool``: ``fullgraph/tool``: call a tool for agents
- ``traces``: open, reread and compare traces
- ``client_edge``: converts parts of a report for the client
- ``report``: ``fullgraph/report`` and ``fullgraph/guards``, for views
- ``performance``: ``fullgraph/performance``: compile time and kernels
- ``graph_lines``: ``fullgraph/graphLines``: which graph each line is in
- ``at_line``: ``fullgraph/atLine``: everything known about a line
- ``interpreter``: ``fullgraph/interpreter`` and ``fullgraph/environment``
- ``devices``: ``fullgraph/devices``: GPUs for previews
- ``debug``: ``fullgraph/debugConfiguration``: how debugpy starts a target
- ``bug_report``: ``fullgraph/bugReport``: a failure in the form of PyTorch's issue template
"""
