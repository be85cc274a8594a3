"""Fixes: edits that remove a finding, each offered with the verdict of running the program with it.

- ``model``: edits, fixes, verdicts
- ``editing``: edits applied to a text, and the statements that they replace
- ``widening``: what edits replace of whole functions, with what they compute elsewhere
- ``changes``: what an edit changed of a report: findings that are gone, and what became worse
- ``patches``: patches of installed packages
- ``experiments``: runs of a program with edits, trials, comparisons
- ``prover``: a program run as it is and with edits, and the results compared
- ``printed``: what a program prints by itself
- ``search``: the candidates of each finding, and the best one
- ``plans``: the fewest fixes that together leave the fewest breaks
- ``sizes``: the fewest marks with which a program is compiled once
- ``proofs``: the proofs of an editor, made when asked and ahead of time
- ``writing``: proven texts, written into files
- ``explaining``: what the rules for a code make of small programs
- ``reach``: who can tell of an edit, beside the lines that it changes
- ``unshown``: what an edit may change that no run of the program shows
- ``samples``: these programs
- ``words``: what is said of fixes and verdicts
- ``trying/``: runs of a short program with changes that may help, before the user asks for fixes
- ``effects/``: what functions do beside their results, read from their source
- ``operators/``: functions that cannot be traced, made operators of torch
- ``rules/``: the catalogue of edits for each kind of finding
"""
