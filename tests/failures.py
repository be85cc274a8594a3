"""Parser of the expectations of a program whose compilation fails.

They are in the comments after its docstring. ::

    # stage: inductor
    # failure: error LoweringFault forward
    # nodes: 1

    x = torch.relu(x)  # fault

``stage(<2.15): ...`` holds for these versions of torch only. ``tests/cases/README.md`` says what each means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from expectations import holds

_LINE = re.compile(
    r"# (?P<key>stage|failure|nodes)(?:\((?P<compare><=|>=|==|!=|<|>)(?P<version>\d+\.\d+)\))?: (?P<value>.+)"
)
_KINDS = ("error", "accuracy", "crash", "hang")
_PHASES = ("forward", "backward")


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """The stage at fault and how it fails there.

    ``stage`` is ``none`` where nothing fails, ``unchecked`` where a graph cannot be checked; then the rest
    is empty. ``nodes`` is how many operations its repro has at most, 0 where there is no graph to shrink.
    ``row``, 1-based, is the user's line at fault.
    """

    stage: str
    kind: str = ""
    error: str = ""
    phase: str = ""
    nodes: int = 0
    row: int = 0


def parse_failure(path: Path | str, torch_version: str) -> ExpectedFailure:
    """What is expected of the program at ``path`` with ``torch_version``.

    Raises ``ValueError``, naming the file, for comments that are not written as the module says.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    found = dict[str, str]()
    for match in filter(None, map(_LINE.fullmatch, lines)):
        if holds(match["compare"], match["version"], torch_version):
            if match["key"] in found:
                raise ValueError(f"{path}: two lines say {match['key']}")
            found[match["key"]] = match["value"]
    if found in ({"stage": "none"}, {"stage": "unchecked"}):
        return ExpectedFailure(found["stage"])
    rows = [row for row, line in enumerate(lines, 1) if line.endswith("  # fault")]
    try:
        kind, error, phase = found["failure"].split()
        (row,) = rows
        expected = ExpectedFailure(found["stage"], kind, error, phase, int(found["nodes"]), row)
    except (KeyError, ValueError):
        message = f"{path}: needs a stage, a failure (kind, error, phase), nodes, and one line with # fault"
        raise ValueError(message) from None
    if kind not in _KINDS or phase not in _PHASES:
        raise ValueError(f"{path}: not a kind and a phase of failure: {kind} {phase}")
    return expected
