"""Apply the settings of a run that override those of the program."""

from __future__ import annotations

import re
from types import CodeType
from typing import Any, Final

from ..compat import call_compat, settings_compat
from ..facts import Dynamic, Switches
from ..trace.stacks import original_function

_DYNAMIC: Final[dict[Dynamic, dict[str, Any]]] = {
    "on": {"automatic_dynamic_shapes": True, "assume_static_by_default": False},
    "off": {"automatic_dynamic_shapes": False, "assume_static_by_default": True},
    "automatic": {"automatic_dynamic_shapes": True, "assume_static_by_default": True},
}
"""The settings that ``torch.compile(dynamic=...)`` makes.

(``OptimizeContext`` in ``torch/_dynamo/eval_frame.py``)
"""


_ACCUMULATED: Final = 256
"""Torch's default of ``accumulated_recompile_limit``, the limit for a function including its graph breaks."""


def apply(switches: Switches) -> None:
    """Apply the switches of a run to torch.

    The program's own values of these settings no longer have an effect.
    """
    settings: dict[str, Any] = dict(_DYNAMIC[switches.dynamic]) if switches.dynamic else {}
    if switches.recompile_limit is not None:
        settings["recompile_limit"] = switches.recompile_limit
        settings["accumulated_recompile_limit"] = max(switches.recompile_limit, _ACCUMULATED)
    settings_compat.force_dynamo_settings(settings)
    if switches.only:
        pattern = re.compile(switches.only)
        call_compat.compile_only(lambda code: _is_meant(code, pattern))


def _is_meant(code: CodeType, pattern: re.Pattern[str]) -> bool:
    """Return whether a function's name matches, with or without the name of its class.

    A resume function matches by the name of the function that it continues.
    """
    qualname = getattr(code, "co_qualname", code.co_name)  # since Python 3.11
    names = (original_function(code.co_name), qualname)
    return any(pattern.fullmatch(name) for name in names)
