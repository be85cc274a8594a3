"""Traces that were made on another machine: their logs and ranks, and the local files for theirs.

- ``trace``: a report of all ranks; the entry point
- ``reading``: one log as a report
- ``ranks``: one rank read on its own, and what ranks lack
- ``spread``: many logs read at once, in processes or on a cluster
- ``logs``: the logs of a job, by rank
- ``places``: where they lie: on disk, in an archive, at a URL
- ``archives``: tarballs and zip files, unpacked without trust
- ``remote``: files of URLs, with fsspec
- ``paths``: the local file for a path of the other machine
- ``lines``: the text of a file when it ran
- ``relocation``: move facts to local files
- ``present``: a report on the files as they are, for a terminal
- ``timeline``: the steps of all ranks on one axis of time
- ``seen_calls``: example calls of the functions that a trace or a run saw compiled
- ``call_values``: the arguments of these calls
- ``child``: a process that reads logs, so that the server stays responsive
- ``memory``: a limit on its memory
"""
