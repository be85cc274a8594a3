"""When and how a target runs: the schedule of generations, and every kind of execution.

``schedule`` is the entry point; ``plan`` is what it is given, and ``execution`` makes the report of one
generation.

- ``engine``: runs of worker requests, within the limits of a plan
- ``schedule``: the targets of an editor, and their results; the entry point
- ``target``: the runs of one target
- ``slot``: its state, and the phases that it goes through
- ``observers``: who is told of runs
- ``saves``: which targets run again when a file is saved
- ``layers``: what stands beside a target's ordinary result: previews, profiles and the like
- ``choice``: the target whose results are shown where several ran a file
- ``plan``: what is to be done for a target, with which settings and text
- ``effective_settings``: resolve settings from editor, project, target and command line
- ``execution``: make the report of one generation, whatever the target is
- ``program_run``: one run of a worker, and every end that it can have
- ``torchrun``: one run for each rank
- ``rank_failures``: which rank is at fault
- ``trace_execution``: reading a trace, in place of a run
- ``previews``: kernels from captured graphs, by another interpreter
- ``progress``: what a run is doing, in a few words
- ``partial_reports``: reports of a run that is still on
- ``minification``: shrink a failure beside all runs
"""
