"""What each kind of finding means, in one sentence: those of docs/findings.md."""

from __future__ import annotations

MEANINGS = {
    "graph-break": "Dynamo ended a graph here",
    "capture-error": "Dynamo failed, or a graph break stopped the program (`fullgraph=True`)",
    "compile-error": "the backend failed",
    "export-error": "`torch.export` failed here, or `draft_export` had to assume something",
    "accuracy": "a stage of the compiler gives a wrong result",
    "skipped-frame": "Dynamo gave a function up without a graph break to show for it",
    "nothing-compiled": "the program called no compiled function, or the calls of one captured no graph",
    "recompile": "a guard failed, and the function was compiled again",
    "recompile-limit": "a function was compiled too often, and new calls run eagerly",
    "late-compile": "a compilation after the warm-up",
    "cudagraph-skip": "a graph that was to run as a CUDA graph does not",
    "perf-hint": "something else costs speed",
    "cache-miss": "a cache of the compiler lacked a graph where it had others",
    "cache-bypass": "a cache of the compiler leaves a graph out",
    "rank-difference": "ranks of one job compiled a function differently",
    "unused-ignore": "a comment that ignores findings ignored none",
    "target-error": "the program raised, crashed, ran out of memory, was stopped at its time limit "
    "(information), or could not start",
}
"""By the kind of a finding."""

EXPORT_CODES = {
    "data-dependent": "an export has to know a condition or a number that only data decide",
    "missing-fake-kernel": "nothing says what the result of an operator looks like, so it cannot be exported",
    "mismatched-fake-kernel": "the result of an operator is not what its fake kernel says",
    "assigned-attribute": "a module assigns a tensor to an attribute, which the exported program does not do",
    "size-constraint": "the code restricts a size, or makes a number of it, that may be marked dynamic",
}
"""By the code of a finding of the kind `export-error`."""
