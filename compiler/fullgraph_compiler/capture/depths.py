"""Depths of runs: at each depth, the compiler stops after a different step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Final

from ..compat import backend_compat, dynamo_compat, inductor_compat, kernel_compat
from ..facts import Depth, RunRequest

WITHOUT_DATA: Final[frozenset[Depth]] = frozenset(("graph", "recompiles", "late-compile", "kernels"))
"""The depths at which no compiled code runs."""


def go_as_deep(request: RunRequest) -> list[ModuleType]:
    """Make the compiler stop at the depth of the request, and report.

    Returns a list to which the compiler will add the modules that it loads.
    """
    prepare = DEPTHS.get(request.depth) or _OF_CHILDREN.get(request.depth)
    return (prepare(request) if prepare else None) or []


def _stop_after_graphs(request: RunRequest) -> None:
    if request.switches.without_data:
        backend_compat.stop_after_dynamo()
    else:
        backend_compat.stop_after_aot()


def _keep_one_compilation(request: RunRequest) -> None:
    _stop_after_graphs(request)
    dynamo_compat.keep_one_entry()


def _write_code(request: RunRequest) -> None:
    _report_kernels(request)
    inductor_compat.write_code_only()


def _build(request: RunRequest) -> list[ModuleType]:
    _report_kernels(request)
    return kernel_compat.keep_loaded()


def _compile_alone(request: RunRequest) -> None:
    if request.cache:
        inductor_compat.keep_kernels_in(request.cache)
    inductor_compat.import_inductor()
    if request.cache:
        inductor_compat.keep_headers_in(request.cache)
    if request.exact:
        inductor_compat.compute_as_uncompiled()


def _report_kernels(request: RunRequest) -> None:
    inductor_compat.prepare(request.cache)
    inductor_compat.track_provenance()
    kernel_compat.note_launches()
    kernel_compat.trace_fusion()
    kernel_compat.trace_hints()


def _report_hints(_: RunRequest) -> None:
    kernel_compat.trace_hints()


_Prepare = Callable[[RunRequest], list[ModuleType] | None]

DEPTHS: Final[Mapping[Depth, _Prepare]] = {
    "graph": _stop_after_graphs,
    "recompiles": _keep_one_compilation,
    "late-compile": _stop_after_graphs,
    "kernels": _write_code,
    "build": _build,
    "alone": _compile_alone,
}
"""How to prepare the compiler, for each depth that is a single run of the program."""

_OF_CHILDREN: Final[Mapping[Depth, _Prepare]] = {"speed": _report_kernels, "times": _report_hints}
"""How to prepare the compiler for the runs in child processes of an analysis; other analyses need nothing."""
