"""Names of values in the user's code, from torch's names for the values."""

from __future__ import annotations

import re
from functools import lru_cache

from .markdown import code_span

_BUILTIN = re.compile(r"G\['__builtins_dict__'\]\['(\w+)'\]")
_IMPORT = re.compile(r"G\['__import_(\w+)'\]")
_SCOPE = re.compile(r"""\b[LG]\[\s*(?:'([^'\n]*)'|"([^"\n]*)")\s*\]""")
_MEMBER = re.compile(r"""\.(?:_modules|_parameters|_buffers|__dict__)\[(['"])(\w+)\1\]""")
_WRAPPED = re.compile(
    r"^(?:___from_numpy\((.+)\)|list\(dict\.keys\((.+)\)\)\[\d+\]|(.+)\.(?:__code__|_modules))$"
)
"""Sources derived from a value with a name: a NumPy array, a key of a dict, code, submodules."""
_CLOSURE = re.compile(r"^.*\.__closure__\[\d+\]\.(?!cell_contents\b)")
"""The text before the name of a variable in a closure."""
_STACK_VALUE = re.compile(r"^_*stack\d+\b")


@lru_cache(maxsize=16384)
def written_name(source: str) -> str:
    """Write a guarded expression as in the user's code.

    Example: ``self.scale`` for ``L['self'].scale``. The result is empty for a value without a name in the
    user's code, such as a value on the interpreter's stack.
    """
    wrapped = _WRAPPED.match(source)
    name = _BUILTIN.sub(r"\1", wrapped[wrapped.lastindex or 0] if wrapped else source)
    name = _IMPORT.sub(lambda found: found.group(1).replace("_dot_", "."), name)
    name = _CLOSURE.sub("", _SCOPE.sub(r"\1\2", name))
    name = _MEMBER.sub(_member, name)
    return "" if _STACK_VALUE.match(name) else name


def freed_object(expected: str) -> str:
    """Return a noun for the object that a guard expects.

    Example: ``SGD`` for ``the same object (torch.optim.sgd.SGD)``.
    """
    if expected == "the same function":
        return "function"
    name = expected.partition("(")[2].rstrip(")").rpartition(".")[2]
    return code_span(name) if name else "object"


def compile_number(compile_id: str) -> tuple[int, ...]:
    """Return a sort key for compile ids: ``0/2`` comes before ``0/10``."""
    return tuple(int(part) for part in re.findall(r"\d{1,9}", compile_id))


def _member(found: re.Match[str]) -> str:
    key = found.group(2)
    return f"[{key}]" if key.isdigit() else f".{key}"
