"""Traces recorded on another machine: logs, ranks, and the matching local files.

- ``trace``: a report of all ranks; the entry point
- ``reading``: one log as a report
- ``ranks``: one rank read on its own, and findings about ranks without a report
- ``spread``: many logs read at once, in processes or on a cluster
- ``logs``: the logs of a job, by rank
- ``places``: logs on disk, in an archive, or at a URL
- ``archives``: tarballs and zip files, unpacked as untrusted input
- ``remote``: files at URLs, with fsspec
- ``paths``: the local file for a path of the other machine
- ``lines``: the text of a file when it ran
- ``relocation``: facts moved to local files
- ``present``: a report moved to the current text of files, for a terminal
- ``timeline``: the compiler's steps on all ranks, on one time axis
- ``seen_calls``: example calls of functions that were compiled in a trace or a run
- ``call_values``: the arguments of example calls
- ``child``: a process that reads logs, so that the language server stays responsive
- ``memory``: a limit on the memory of a process
"""
