"""Traces that were made elsewhere, read here: their logs and ranks, and the files of theirs that are here.

- ``trace``: a report of all ranks; the entry point
- ``reading``: one log as a report
- ``logs``: the logs of a job, by rank
- ``paths``: the file here for a path of the other machine
- ``lines``: a file as it was when it ran
- ``relocation``: move facts to local files
- ``present``: a report on the files as they are, for a terminal
- ``seen_calls``: example calls of what a trace saw
- ``call_values``: the arguments of these calls
- ``child``: a process that reads, so that no log holds up the server
- ``memory``: a limit on its memory
"""
