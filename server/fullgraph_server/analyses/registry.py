"""All analyses, and the analysis of a run or a report."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, get_args

from fullgraph_compiler.facts import Depth

from ..report.model import Layer, Report
from ..text import devices
from .analysis import Analysis, Group


@lru_cache(maxsize=1)
def analyses() -> Mapping[str, Analysis]:
    """Return all analyses by id, in the order of "Analyze…".

    Analyses that no editor offers come first.
    """
    package = import_module(__package__)
    modules = (
        import_module(f"{__package__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    )
    found = (module.ANALYSIS for module in modules if hasattr(module, "ANALYSIS"))
    return {analysis.id: analysis for analysis in sorted(found, key=_order)}


def _order(analysis: Analysis) -> tuple[int, int]:
    if analysis.in_editor is None:
        return -1, 0
    return get_args(Group).index(analysis.in_editor.group), analysis.in_editor.order


def of_depth(depth: Depth) -> Analysis | None:
    """Return the analysis of a depth; ``None`` for the depth of proofs."""
    return analyses().get(depth)


def of_layer(layer: Layer) -> Analysis:
    """Return the analysis that makes a layer; the ordinary run for an empty name."""
    return analyses()[layer or "graph"]


def command_of(name: str) -> str:
    """Return the language server's command of an analysis.

    Raises ``KeyError`` if the analysis has no editor command.
    """
    if (in_editor := analyses()[name].in_editor) is None:
        raise KeyError(name)
    return in_editor.command


def layer_of(depth: Depth, switches: Mapping[str, Any]) -> Layer:
    """Return a run's layer from its depth and switches; empty for an ordinary run."""
    analysis = of_depth(depth)
    if analysis is not None and analysis.layer:
        return analysis.layer
    of_switches = [item.layer for item in analyses().values() if item.switch and item.switch in switches]
    return of_switches[-1] if of_switches else ""  # a preview is a dry run, too


def layer_label(report: Report) -> str:
    """Return the name of a report's layer, as a title."""
    label = devices.brief(report.dry) if report.dry else of_layer(report.layer).label
    return label[:1].upper() + label[1:]


def verdict(report: Report) -> str | None:
    """Return the conclusion of a layer.

    ``None`` if there is no result, or if the numbers say enough.
    """
    if report.status in (None, "cancelled", "not-started"):
        return None
    return of_layer(report.layer).verdict(report)
