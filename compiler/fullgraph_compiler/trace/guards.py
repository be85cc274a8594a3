"""Guards as torch writes them: the guard tree of a frame, and the reasons for a recompilation.

The tree is ``RootGuardManager`` printed by ``torch/_dynamo/guards.py``
(``GuardManagerWrapper.__str__``), one line a node, depth shown by ``| ``. A manager names the
expression (``source=L['a']``); the leaves under it are its guards::

    | +- GuardManager: source=L['a'], accessed_by=..., type=<class 'torch.Tensor'>, ...
    | | +- TENSOR_MATCH: check_tensor(L['a'], Tensor, ...)  # x = a + 1  # toy.py:5 in toy

The file of the trailing comment is shortened (``torch/utils/_traceback.py``, ``shorten_filename``):
it is the end of the real path, and can lack the first characters of its first folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts import Stack
from .messages import parse_user_stack

_SOURCE = "source="
_BUILTINS = re.compile(r"(__builtins_dict__)_\d+")
"""Dynamo numbers its name for the builtins, so that the same guard differs between compilations."""
_LOCAL = re.compile(r"""L\[\s*(['"])(.*?)\1\s*\]""")
_TENSOR = re.compile(
    r"^check_tensor\((?P<source>.*), (?P<cls>\w+), DispatchKeySet\((?P<keys>[^)]*)\), torch\.(?P<dtype>\w+), "
    r"device=(?P<index>\w+), requires_grad=(?P<grad>\w+), "
    r"size=\[(?P<size>[^\]]*)\], stride=\[(?P<stride>[^\]]*)\]"
)
_DEVICES = ("CPU", "CUDA", "XPU", "MPS", "Meta", "HPU")
_TYPE = re.compile(r"type=<class '([^']+)'>")
_PLACE = re.compile(r"\s# (?P<file>[^#\s]+):(?P<row>\d+) in (?P<function>[^\s)]+)")
_EQUALS = re.compile(r"^(?P<source>.+?) (?P<operator>==|is not|is) (?P<value>.*)$", re.DOTALL)
_LENGTH = re.compile(r"^len\((?P<source>.+)\) == (?P<value>\d+)$")
_REASON = re.compile(r"^\s*(?P<compile_id>!?[\d/]+): (?P<text>.*)$", re.DOTALL)
_TENSOR_REASON = re.compile(
    r"^tensor '(?P<name>.+?)' (?P<what>.+?) mismatch(?: at index (?P<dimension>\d+))?\.?"
    r" expected (?P<expected>.+?), actual (?P<actual>.+)$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where torch says that a guard came from. ``file`` is shortened."""

    file: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a guard tree. ``source`` is empty for ambient state and relations."""

    source: str
    kind: str
    code: str
    expected: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the compilation ``compile_id`` could not be used: ``text`` with its place cut off.

    ``name`` is the guarded expression without ``L[...]`` around it, as torch shortens it, and is
    empty where the reason is a condition rather than a sentence about a tensor.
    """

    compile_id: str
    text: str
    name: str
    changed: str
    expected: str
    actual: str
    dimension: int | None
    place: Place | None
    stack: Stack


def parse_tree(text: str) -> Iterator[Leaf]:
    """The leaves of a guard tree, in its order."""
    sources: list[str] = []
    for line in _nodes(_BUILTINS.sub(r"\1", text)):
        indent, _, node = line.partition("+- ")
        depth = len(indent) // 2
        kind, _, detail = node.partition(": ")
        if kind.partition(" ")[0].endswith("Manager"):
            del sources[depth:]
            # A key-value manager of a dict has no source of its own: its leaves are the dict's.
            inherited = sources[-1] if sources else ""
            sources.extend([inherited] * (depth - len(sources)))
            _, marker, after = detail.partition(_SOURCE)
            sources.append(_end_of_source(after) if marker else inherited)
            continue
        code, place = split_place(detail)
        source = sources[depth - 1] if 0 < depth <= len(sources) else ""
        yield Leaf(source, kind, code, _expected(code), place)


def parse_reasons(text: str) -> Iterator[Reason]:
    """The reasons of one ``recompile_reasons`` record: bare text for one, a JSON list for several."""
    text = _BUILTINS.sub(r"\1", text)
    reasons: list[str] = [text]
    if text.lstrip().startswith("["):
        try:
            decoded = json.loads(text)
        except ValueError:
            decoded = None
        if isinstance(decoded, list):
            reasons = [str(item) for item in decoded]
    for item in reasons:
        found = _REASON.match(item)
        if not found:
            continue
        condition, place = split_place(found["text"].split("\nUser stack trace:")[0])
        tensor = _TENSOR_REASON.match(condition)
        equals = None if tensor else _EQUALS.match(condition)
        yield Reason(
            compile_id=found["compile_id"],
            text=condition,
            name=tensor["name"] if tensor else "",
            changed=tensor["what"] if tensor else "",
            expected=tensor["expected"] if tensor else equals["value"] if equals else "",
            actual=tensor["actual"] if tensor else "",
            dimension=int(tensor["dimension"]) if tensor and tensor["dimension"] else None,
            place=place,
            stack=parse_user_stack(found["text"]),
        )


def strip_locals(expression: str) -> str:
    """``L['a'].size()[0]`` as torch shortens it in a reason: ``a.size()[0]``.

    Source: ``strip_local_scope`` in ``torch/_dynamo/guards.py``.
    """
    return _LOCAL.sub(r"\2", expression)


def split_place(text: str) -> tuple[str, Place | None]:
    """Cut the trailing comment off a guard: its code, and where it came from."""
    code, marker, comment = text.partition(" # ")
    if not marker:
        return text.strip(), None
    # The comment is the source line, which can hold "#" itself, then the place.
    found = None
    for found in _PLACE.finditer(f" # {comment}"):  # noqa: B007 - the last one is the place
        pass
    if found is None:
        return text.strip(), None
    return code.strip(), Place(found["file"], int(found["row"]), found["function"])


def _nodes(text: str) -> Iterator[str]:
    # A guarded string can hold a line break: what does not begin a node belongs to the last one.
    node = ""
    for line in text.partition("\nGuard latency")[0].split("\n"):
        if line.startswith(("+- ", "| ")):
            if node:
                yield node
            node = line
        elif node:
            node = f"{node}\n{line}"
    if node:
        yield node.rstrip()


def _end_of_source(text: str) -> str:
    return text.partition(", accessed_by=")[0].partition(", type=<")[0]


def _expected(code: str) -> str:
    tensor = _TENSOR.match(code) if code.startswith("check_tensor(") else None
    if tensor:
        keys, index = tensor["keys"].split(", "), tensor["index"]
        device = next((key.lower() for key in keys if key in _DEVICES), "")
        device += "" if index == "None" else f":{index}"
        shape = tensor["size"].replace("None", "dynamic")
        words = [f"torch.{tensor['dtype']}", f"shape [{shape}]", f"device {device}" if device else ""]
        words += [
            f"requires_grad={tensor['grad']}",
            f"stride [{tensor['stride'].replace('None', 'dynamic')}]",
        ]
        return ", ".join(word for word in words if word)
    length = _LENGTH.match(code) if code.startswith("len(") else None
    if length:
        return f"length {length['value']}"
    if code.startswith(("___check_obj_id(", "___check_type_id(")):
        cls = _TYPE.search(code)
        if code.startswith("___check_type_id("):
            return f"type {cls.group(1)}" if cls else "the same type"
        return f"the same object ({cls.group(1)})" if cls else "the same object"
    equals = None if code.startswith("___") else _EQUALS.match(code)
    if equals:
        operator = "" if equals["operator"] == "==" else equals["operator"] + " "
        return operator + equals["value"]
    return ""
