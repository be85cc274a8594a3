"""When and how a target runs: the schedule of runs, and their execution.

``schedule`` is the entry point; a ``plan`` describes a run, and an ``execution`` makes the run's report.
Runs are numbered in the order in which they begin; the number of a run is its generation.

- ``engine``: runs of worker requests, within the limits of a plan
- ``schedule``: the targets of an editor, and their results; the entry point
- ``target``: the runs of one target
- ``slot``: the state of a target, and the transitions between its phases
- ``observers``: observers of runs
- ``saves``: which targets are rerun when a file is saved
- ``layers``: reports in addition to a target's ordinary result: previews, profiles and the like
- ``choice``: the target whose results are shown in a file that several targets ran
- ``plan``: everything that a run needs: target, settings, texts
- ``effective_settings``: settings resolved from editor, project, target and command line
- ``execution``: makes the report of one generation, for any kind of target
- ``program_run``: one request to a worker, and every way in which it can end
- ``torchrun``: one run for each rank
- ``rank_failures``: the rank at fault, and failures that follow from it
- ``trace_execution``: reads a trace instead of running a program
- ``previews``: kernels generated from captured graphs by another interpreter
- ``progress``: the current step of a run in a few words
- ``partial_reports``: reports of a run in progress
- ``minification``: shrinks a failure, outside of the schedule
"""
