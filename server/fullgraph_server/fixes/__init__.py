"""Edits that remove a finding, each with a verdict from runs of the program.

- ``model``: edits, fixes, verdicts
- ``editing``: edits applied to a text, and the statements that they replace
- ``widening``: the parts of whole functions that edits replace, with values that the edits compute elsewhere
- ``changes``: the changes of a report by an edit: findings that are gone, and regressions
- ``patches``: patches of installed packages
- ``experiments``: runs of a program with edits, trials, comparisons
- ``prover``: verdicts, from runs of the unmodified program and runs with edits
- ``printed``: the output of a program, without the parts that torch prints
- ``search``: the candidates of each finding, and the best candidate
- ``plans``: the fewest fixes that together leave the fewest breaks
- ``sizes``: the fewest marks with which a program is compiled once
- ``proofs``: the proofs for an editor, made on request and ahead of time
- ``writing``: proven texts, written into files
- ``explaining``: examples of the fixes for a code, on small programs
- ``samples``: the small programs of the examples
- ``reach``: code outside the edited lines that can notice an edit
- ``unshown``: changes by an edit that no run of the program shows
- ``words``: the words for fixes and verdicts
- ``trying/``: runs of a short program with changes that may help, before the user asks for fixes
- ``effects/``: side effects of functions, read from their source
- ``operators/``: functions that torch cannot trace, as custom operators
- ``rules/``: the catalogue of edits for each kind of finding
"""
