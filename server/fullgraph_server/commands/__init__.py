"""Commands (``fullgraph.*``) and requests (``fullgraph/*``) of Fullgraph's own, a module each.

- ``run``: run, stop and clear targets
- ``rerun_on_edit``: run targets again that depend on a file that was saved or edited
- ``save_target``: add a target to pyproject.toml
- ``list_targets``: ``fullgraph/targets``: the targets in a file or in the open folders
- ``fix``: try fixes for findings
- ``baseline``: accept a finding
- ``minify``: shrink a failure to a repro
- ``tool``: calls of tools for agents
- ``traces``: open, re-read and compare traces
- ``client_edge``: how the parts of a report leave to the client
- ``report``: ``fullgraph/report`` and ``fullgraph/guards``, for views
- ``performance``: ``fullgraph/performance``: compile time and kernels
- ``graph_lines``: ``fullgraph/graphLines``: which graph each line is in
- ``at_line``: ``fullgraph/atLine``: everything that is known of a line
- ``interpreter``: ``fullgraph/interpreter`` and ``fullgraph/environment``
- ``devices``: ``fullgraph/devices``: GPUs for previews
- ``debug``: ``fullgraph/debugConfiguration``: how debugpy starts a target
- ``bug_report``: ``fullgraph/bugReport``: a failure in the form of PyTorch's issues
"""
