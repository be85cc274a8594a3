"""Layers: results of previews, profiles and the like, which stand beside the ordinary result of a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from fullgraph_compiler.facts import Depth

from ..report import faults, profile
from ..report.finding_builder import by_place
from ..report.model import Finding, Layer, Report, Speed
from ..report.recipes import what_helps
from ..report.recompiles import late_compilation_verdict
from ..text import devices
from ..text.messages import counted
from ..workspace.positions import Span

_OF_DEPTH: Final[Mapping[Depth, Layer]] = {
    "recompiles": "recompiles",
    "late-compile": "late-compile",
    "times": "times",
    "speed": "speed",
    "stages": "stages",
    "recipes": "recipes",
}
"""The depths that look for something else than ordinary runs do."""

_LABELS: Final[Mapping[Layer, str]] = {
    "": "ordinary run",
    "inductor": "TorchInductor",
    "preview": "preview",
    "dry-run": "dry run",
    "recompiles": "recompilation profile",
    "late-compile": "late compilations",
    "times": "compile times",
    "speed": "speed",
    "stages": "compiler stages",
    "recipes": "crash workarounds",
    "minify": "minified failure",
}
INDUCTOR: Final = "TorchInductor"
"""The part of the compiler that ordinary runs leave out."""


def _inductor_verdict(report: Report) -> str:
    """Say what TorchInductor made of the graphs."""
    if report.problem is not None:
        return report.problem.message
    graphs = len({code.compile_id for code in report.codes})
    return f"{INDUCTOR} wrote code for {counted(graphs, 'graph')}" if graphs else f"{INDUCTOR} had no graph"


_VERDICTS: Final[Mapping[Layer, Callable[[Report], str | None]]] = {
    "speed": lambda report: report.speed.verdict if report.speed else None,
    "inductor": _inductor_verdict,
    "recompiles": profile.sentence,
    "late-compile": late_compilation_verdict,
    "stages": faults.verdict,
    "recipes": what_helps,
    "minify": lambda report: report.findings[0].hints[0],
}


def layer_of(depth: Depth, switches: Mapping[str, Any]) -> Layer:
    """Return the layer of a run at a depth, with switches that are set for it alone."""
    if depth in _OF_DEPTH:
        return _OF_DEPTH[depth]
    if "device" in switches:
        return "preview"
    return "dry-run" if "dry_run" in switches else ""


def layer_label(report: Report) -> str:
    """Name a layer, as a title."""
    label = devices.brief(report.dry) if report.dry else _LABELS[report.layer]
    return label[:1].upper() + label[1:]


def verdict(report: Report) -> str | None:
    """Say what a layer found; ``None`` if it did not get that far, or numbers say it."""
    if report.status in (None, "cancelled", "not-started"):
        return None
    if report.layer == "times":
        times = ", ".join(f"{item.seconds:.1f} s with {item.cache} caches" for item in report.times)
        return times + _compiled_anew(report) or None
    tell = _VERDICTS.get(report.layer)
    return tell(report) if tell else None


def _compiled_anew(report: Report) -> str:
    """Say how many graphs the warm caches did not have; empty if none."""
    lacking = sum(use.cache == "fx-graph" and use.state != "hit" for use in report.caches.uses)
    return f"; {counted(lacking, 'graph')} compiled anew" if report.caches.warm and lacking else ""


def as_layer(report: Report, layer: Layer) -> Report:
    """Return the report of a layer: that its run failed concerns no line of the program."""
    if not layer:
        return report
    findings = (
        replace(finding, of_run=True) if finding.kind == "target-error" and not finding.stack else finding
        for finding in report.findings
    )
    return replace(report, layer=layer, findings=tuple(findings))


def leaves_out_inductor(report: Report) -> bool:
    """Tell whether a program came to its end without TorchInductor, which it asks for."""
    return report.status == "finished" and INDUCTOR in report.left_out


def is_beside(layer: Report, shown: Report | None) -> bool:
    """Tell whether a layer stands beside the result that is shown, rather than in the place of none."""
    return bool(layer.layer) and shown is not None and (not shown.layer or layer.layer == "minify")


def with_layers(ordinary: Report, layers: Iterable[Report]) -> Report:
    """Return the ordinary result with what layers add to its lines: late compilations, faults, repros, time.

    A failure that a layer says more about is told once.
    """
    findings, files, speed = list(ordinary.findings), dict(ordinary.files), ordinary.speed
    for layer in sorted(layers, key=lambda layer: layer.generation):
        added = [
            item
            for item in layer.findings
            if _is_of_line(layer, item) and _ran_as_in(ordinary, layer, item.span)
        ]
        told = set(map(_failure, added))
        findings = [item for item in findings if _failure(item) not in told] + added
        files.update((name, source) for name, source in layer.files.items() if files.get(name) is None)
        speed = _speed_of_lines(ordinary, layer, layer.speed) if layer.speed else speed
    if findings == list(ordinary.findings) and speed is ordinary.speed:
        return ordinary
    return replace(ordinary, findings=tuple(sorted(findings, key=by_place)), files=files, speed=speed)


def _is_of_line(layer: Report, finding: Finding) -> bool:
    """Tell whether only such a layer finds it, on a line of the program."""
    of_inductor = layer.layer == "inductor" and finding.kind == "compile-error"
    of_layer = finding.fault > 0 or finding.kind == "late-compile" or layer.layer == "minify" or of_inductor
    return of_layer and not finding.of_run


def _speed_of_lines(ordinary: Report, layer: Report, speed: Speed) -> Speed:
    """Return a layer's speed with the causes that are on lines of the ordinary run."""
    causes = (cause for cause in speed.causes if cause.span and _ran_as_in(ordinary, layer, cause.span))
    return replace(speed, causes=tuple(causes))


def _ran_as_in(ordinary: Report, layer: Report, span: Span) -> bool:
    """Tell whether a line of a layer is the same line in the ordinary run."""
    before, after = (report.files.get(span.filename) for report in (ordinary, layer))
    return before is None or after is None or before.lines == after.lines


def _failure(finding: Finding) -> tuple[str, str, int]:
    return finding.kind, finding.span.filename, finding.span.row
