"""Edits that remove a finding, each with a verdict from runs of the program.

- ``model``: edits, fixes, verdicts
- ``editing``: edits applied to a text, and the statements that they replace
- ``widening``: edits extended to all code of a function that they affect
- ``changes``: the changes of a report by an edit: findings that are gone, and regressions
- ``patches``: patches of installed packages
- ``experiments``: runs of a program with edits, trials, comparisons
- ``prover``: verdicts, from runs of the unmodified and of the edited program
- ``printed``: a program's printed output without torch's own lines
- ``search``: the candidates of each finding, and the best candidate
- ``plans``: the smallest set of fixes that leaves the fewest graph breaks
- ``sizes``: the smallest set of marked sizes with which a program is compiled once
- ``proofs``: proofs of fixes for the editor, made on request and ahead of time
- ``writing``: proven edits, written into the user's files
- ``explaining``: examples of the fixes for a finding's code, on small programs
- ``samples``: the small programs that the examples use
- ``reach``: code outside the edited lines that can notice an edit
- ``unshown``: behavior changes of an edit that no run of the program shows
- ``words``: the wording of fixes and verdicts
- ``trying/``: runs of a short program with changes that may help, before the user asks for fixes
- ``effects/``: side effects of functions, read from their source
- ``operators/``: functions that torch cannot trace, turned into custom operators
- ``splitting/``: edits at the place where a function is compiled
- ``rules/``: the catalogue of edits for each kind of finding
"""
