"""Find settings that the program changed and whose defaults let a graph pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ..cases.case import FailureCase
from ..cases.oracle import FailureOracle
from ..compat import settings_compat
from ..facts import FaultLocated, SettingFault

_ASSIGNED: Final = re.compile(r"(torch\._(?:functorch|inductor)\.config\.[\w.]+) = (.+)")
_INDUCTOR: Final = "torch._inductor."
_EAGER_RANDOM: Final = f"{_INDUCTOR}config.fallback_random = True"
_AOT: Final = "aot_eager"
_MOST: Final = 6
"""The maximum number of settings to try."""


def settings_at_fault(
    case: FailureCase, fault: FaultLocated, oracle: FailureOracle, own: str
) -> tuple[SettingFault, ...]:
    """Return each changed setting whose default value makes a case pass.

    The case must pass both the failing stage and its ``own`` backend. Settings of TorchInductor are not tried
    if the fault is at the first stage of AOTAutograd, which does not read them.
    """
    tried = [item for item in _chosen(case) if fault.stage != _AOT or not item.name.startswith(_INDUCTOR)]
    tried = tried[:_MOST] if fault.failure.kind != "hang" else []
    stages = dict.fromkeys((fault.stage, own))
    asked = [
        replace(
            _with_default(case, item), backend=stage, backend_is_code=stage == own and case.backend_is_code
        )
        for item in tried
        for stage in stages
    ]
    passes = [answer.failure is None and answer.seconds > 0 for answer in oracle.ask(asked)] if asked else []
    number = len(stages)
    return tuple(
        item for index, item in enumerate(tried) if all(passes[index * number : (index + 1) * number])
    )


def _chosen(case: FailureCase) -> Iterator[SettingFault]:
    seen = set()
    for line in (*case.settings, *case.preamble):
        found = _ASSIGNED.fullmatch(line)
        if found is None or found[1] in seen:
            continue
        seen.add(found[1])
        default = settings_compat.default_of(found[1])
        if default and default != found[2]:
            yield SettingFault(found[1], found[2], default)


def _with_default(case: FailureCase, setting: SettingFault) -> FailureCase:
    """Return a case with the default of a setting, and with eager random numbers."""
    line = f"{setting.name} = {setting.default}"
    settings = (*case.settings, _EAGER_RANDOM, line)
    return replace(case, settings=settings, preamble=(*case.preamble, line))
