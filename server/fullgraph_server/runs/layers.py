"""Layers: reports of previews, profiles and the like, next to ordinary results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..analyses.inductor import INDUCTOR
from ..report.finding_builder import by_place
from ..report.measured.model import MeasuredSpeed
from ..report.model import Finding, Layer, Report
from ..workspace.positions import Span


def as_layer(report: Report, layer: Layer) -> Report:
    """Return a report as a layer; a failure of its run is not shown on a line."""
    if not layer:
        return report
    findings = (
        replace(finding, of_run=True) if finding.kind == "target-error" and not finding.stack else finding
        for finding in report.findings
    )
    return replace(report, layer=layer, findings=tuple(findings))


def leaves_out_inductor(report: Report) -> bool:
    """Tell whether a finished run left out TorchInductor, which its program uses."""
    return report.status == "finished" and INDUCTOR in report.left_out


def is_beside(layer: Report, shown: Report | None) -> bool:
    """Tell whether a layer is shown in addition to an ordinary result."""
    return bool(layer.layer) and shown is not None and (not shown.layer or layer.layer == "minify")


def with_layers(ordinary: Report, layers: Iterable[Report]) -> Report:
    """Return the ordinary result with the findings and times that layers add.

    Layers add late compilations, located faults, repros, and costs of lines. A failure that is in the
    ordinary result and in a layer appears once, as the layer describes it.
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
    """Tell whether a layer adds this finding to a line of the ordinary result."""
    of_inductor = layer.layer == "inductor" and finding.kind == "compile-error"
    of_layer = finding.fault > 0 or finding.kind == "late-compile" or layer.layer == "minify" or of_inductor
    return of_layer and not finding.of_run


def _speed_of_lines(ordinary: Report, layer: Report, speed: MeasuredSpeed) -> MeasuredSpeed:
    """Return a layer's speed with only the causes on lines of the ordinary run."""
    causes = (cause for cause in speed.causes if cause.span and _ran_as_in(ordinary, layer, cause.span))
    return replace(speed, causes=tuple(causes))


def _ran_as_in(ordinary: Report, layer: Report, span: Span) -> bool:
    """Tell whether the ordinary run and a layer ran the same text of the span's file."""
    before, after = (report.files.get(span.filename) for report in (ordinary, layer))
    return before is None or after is None or before.lines == after.lines


def _failure(finding: Finding) -> tuple[str, str, int]:
    return finding.kind, finding.span.filename, finding.span.row
