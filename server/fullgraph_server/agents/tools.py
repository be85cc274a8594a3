"""All tools by name."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any, Final

from .editing import list_fixes, try_edit
from .reading import check_target, compare_runs, explain_finding, find_recompiles, show_kernels

TOOLS: Final[Mapping[str, Callable[..., Coroutine[Any, Any, Any]]]] = MappingProxyType(
    {
        tool.__name__: tool
        for tool in (
            check_target,
            explain_finding,
            list_fixes,
            try_edit,
            find_recompiles,
            show_kernels,
            compare_runs,
        )
    }
)
