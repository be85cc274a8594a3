"""The server's protocol: LSP with Fullgraph's messages, and their JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from typing import Any, TypeAlias, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from pygls.protocol import LanguageServerProtocol, default_converter

from . import environment, lines, names, report, runs, targets


def _request(method: str, params: type[Any]) -> type[Any]:
    """Make the class of a request, in which pygls looks up the class of parameters."""
    return attrs.make_class(
        params.__name__.removesuffix("Params") + "Request",
        {
            "id": attrs.field(type=Any),
            "params": attrs.field(type=params),
            "method": attrs.field(type=str, default=method),
            "jsonrpc": attrs.field(type=str, default="2.0"),
        },
    )


_PARAMS: dict[str, type[Any]] = {
    names.TARGETS: targets.TargetsParams,
    names.SUGGESTED_TARGETS: targets.SuggestedTargetsParams,
    names.REPORT: report.ReportParams,
    names.LAYERS: targets.TargetParams,
    names.PERFORMANCE: report.ReportParams,
    names.COUNTERPARTS: lines.CounterpartsParams,
    names.GRAPH_LINES: lines.GraphLinesParams,
    names.AT_LINE: lines.AtLineParams,
    names.GUARDS: report.GuardsParams,
    names.INTERPRETER: environment.InterpreterParams,
    names.INTERPRETERS: environment.InterpretersParams,
    names.ENVIRONMENT: environment.InterpreterParams,
    names.BUG_REPORT: targets.TargetParams,
    names.DEBUG_CONFIGURATION: environment.DebugParams,
    names.TOOL: environment.ToolParams,
}
_REQUESTS = {method: _request(method, params) for method, params in _PARAMS.items()}

MESSAGES: tuple[type[Any], ...] = tuple(
    cls
    for module in (targets, runs, report, lines, environment)
    for cls in vars(module).values()
    if attrs.has(cls) and cls.__module__ == module.__name__
)
"""The classes of all messages; a class comes after the classes that it contains."""


class FullgraphProtocol(LanguageServerProtocol):
    """The LSP protocol with the requests of this package."""

    @lru_cache  # noqa: B019 - one protocol lives as long as the process
    def get_message_type(self, method: str) -> type[Any] | None:
        """Return the class of a request or notification."""
        return _REQUESTS.get(method) or super().get_message_type(method)


Unstructure: TypeAlias = Callable[[Any], Mapping[str, Any]]
"""A function that makes the JSON object of a message."""


def create_converter(wrapped: Callable[[type[Any], Unstructure], Unstructure] | None = None) -> Converter:
    """Create pygls's converter with hooks for Fullgraph's messages.

    Keys are in camel case, and absent values are left out. ``wrapped`` wraps the function that makes the JSON
    object of a message class. A value of the wrong type is an error: cattrs alone would turn a number into a
    text.
    """
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exact)

    @converter.register_structure_hook_factory(_is_list)
    def exact_list(kind: Any) -> Callable[[Any, Any], list[Any]]:
        (item,) = get_args(kind)
        structure = converter.get_structure_hook(item)

        def hook(value: Any, _: Any) -> list[Any]:
            return [structure(each, item) for each in _exact(value, list)]

        return hook

    for cls in MESSAGES:
        attrs.resolve_types(cls)
        renamed = {
            field.name: override(rename=camel_case(field.name), omit_if_default=field.default is None)
            for field in attrs.fields(cls)
        }
        # mypy cannot match the keywords of a mapping of overrides.
        hook = make_dict_unstructure_fn(cls, converter, **renamed)  # type: ignore[arg-type]
        converter.register_unstructure_hook(cls, wrapped(cls, hook) if wrapped else hook)
        if cls in _PARAMS.values():
            converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **renamed))  # type: ignore[arg-type]
    return converter


def _is_list(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin in (list, Sequence)


def _exact(value: Any, kind: type[Any]) -> Any:
    if issubclass(kind, Enum):
        return kind(value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


@cache
def camel_case(name: str) -> str:
    """Return the name that a field has in JSON."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
