"""Parsers of guards as torch prints them: the guard tree of a frame.

The tree is a ``RootGuardManager`` printed by ``torch/_dynamo/guards.py``
(``GuardManagerWrapper.__str__``): one line for each node, with its depth shown by ``| ``. A manager names
an expression (``source=L['a']``); the leaves under a manager are the guards on its expression::

    | +- GuardManager: source=L['a'], accessed_by=..., type=<class 'torch.Tensor'>, ...
    | | +- TENSOR_MATCH: check_tensor(L['a'], Tensor, ...)  # x = a + 1  # toy.py:5 in toy

The file in the trailing comment is shortened (``torch/utils/_traceback.py``, ``shorten_filename``): it is the
end of the real path, whose first folder may lack its first characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .decoding import read_object

METADATA = "TENSOR_SUBCLASS_METADATA_MATCH"
"""The kind of a guard on the metadata that ``__tensor_flatten__`` of a tensor subclass returns."""
METADATA_OF = f"{{}} {METADATA}"
"""The key of an expression's expected metadata; the expression alone is the key of the object."""
_NO_COMMENT = "(unknown var "
"""The beginning of a comment on two numbers that torch treats as one (``symbolic_shapes.py``); no place
follows."""
_METADATA_CHECK = "___check_metadata_"
_SOURCE = "source="
BUILTINS = re.compile(r"(__builtins_dict__)_\d+")
"""Dynamo's name for the builtins, which ends in a number that differs between compilations of the same
guard."""
_LOCAL = re.compile(r"""L\[\s*(?:'([^'\n]*)'|"([^"\n]*)")\s*\]""")
_TENSOR = re.compile(
    r"^check_tensor\((?P<source>.*), (?P<cls>\w+), DispatchKeySet\((?P<keys>[^()]*)\), "
    r"torch\.(?P<dtype>\w+), device=(?P<index>\w+), requires_grad=(?P<grad>\w+), "
    r"size=\[(?P<size>[^\[\]]*)\], stride=\[(?P<stride>[^\[\]]*)\]"
)
_LAYOUTS = re.compile(r"^(?:Sparse(?:Csr)?|Quantized|NestedTensor)")
_DEVICES = ("CPU", "CUDA", "XPU", "MPS", "Meta", "HPU")
_CELL = re.compile(r"(\.__closure__\[\d+\])\.\w+")
_HINT = re.compile(r'\(HINT: guard on "(?P<name>\w+)"(?P<part>[^()]*)\)$')
"""The name of a closure's variable, which torch appends to a guard on the variable's cell since 2.13."""
_TYPE = re.compile(r"type=<class '([^']+)'>")
_PLACE = re.compile(r"\s# (?P<file>[^#\n]+?):(?P<row>\d+) in (?P<function>[^\s)]+)")
EQUALS = re.compile(r"^(?P<source>.+?) (?P<operator>==|is not|is) (?P<value>.*)$", re.DOTALL)
_WITHOUT_DATA = "torch._subclasses.fake_tensor.FakeTensor"
"""The class of tensors without data."""
_LENGTH = re.compile(r"^len\((?P<source>.+)\) == (?P<value>\d{1,18})$")
_DTYPE_NUMBERS = {5: "torch.float16", 6: "torch.float32", 7: "torch.float64", 15: "torch.bfloat16"}


@dataclass(frozen=True, slots=True)
class GuardPlace:
    """The source line that torch reports for a guard; ``file`` is a shortened path."""

    file: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class GuardLeaf:
    """One leaf of a guard tree. ``source`` is empty for global state and relations.

    For a closure's variable, ``source`` ends in the variable's name instead of ``cell_contents``, if torch
    writes the name.
    """

    source: str
    kind: str
    code: str
    expected: str
    place: GuardPlace | None


def parse_tree(text: str) -> Iterator[GuardLeaf]:
    """Yield the leaves of a guard tree, in the order of the tree."""
    sources: list[str] = []
    for line in _nodes(BUILTINS.sub(r"\1", text)):
        indent, _, node = line.partition("+- ")
        depth = len(indent) // 2
        kind, _, detail = node.partition(": ")
        if kind.partition(" ")[0].endswith("Manager"):
            del sources[depth:]
            # A key-value manager of a dict has no source of its own: its leaves belong to the dict.
            inherited = sources[-1] if sources else ""
            sources.extend([inherited] * (depth - len(sources)))
            _, marker, after = detail.partition(_SOURCE)
            after = after.partition(", accessed_by=")[0].partition(", type=<")[0]
            sources.append(after if marker else inherited)
            continue
        code, place = split_place(detail)
        source = sources[depth - 1] if 0 < depth <= len(sources) else ""
        if code.startswith(_METADATA_CHECK):
            kind = METADATA  # torch prints it as a LAMBDA_GUARD
        yield GuardLeaf(_with_variable(source, detail), kind, code, _expected(code), place)


def with_value(leaf: GuardLeaf, values: Mapping[str, str]) -> GuardLeaf:
    """Return a guard on identity or metadata, completed with its expected value.

    ``values`` come from the observed process; the text of the tree does not show them.
    """
    if leaf.kind == METADATA:
        return replace(leaf, expected=values.get(METADATA_OF.format(leaf.source), ""))
    value = values.get(leaf.source) if leaf.kind == "ID_MATCH" else None
    return replace(leaf, expected=value) if value else leaf


def strip_locals(expression: str) -> str:
    """Shorten ``L['a'].size()[0]`` to ``a.size()[0]``, as torch does in a reason.

    Source: ``strip_local_scope`` in ``torch/_dynamo/guards.py``. A closure's variable becomes its cell, as in
    a reason.
    """
    return _CELL.sub(r"\1.cell_contents", _LOCAL.sub(r"\1\2", expression))


def split_place(text: str) -> tuple[str, GuardPlace | None]:
    """Split the text of a guard into its code and the place in its trailing comment."""
    code, marker, comment = text.partition(" # ")
    if not marker:
        return text.strip(), None
    # The comment is the source line, which can contain "#", then the place.
    place = None
    for place in _PLACE.finditer(f" # {comment}"):  # noqa: B007 - the last one is the place
        pass
    if place is None:
        return (code if comment.startswith(_NO_COMMENT) else text).strip(), None
    return code.strip(), GuardPlace(place["file"], int(place["row"]), place["function"])


def state_change(flags: str, before: str, after: str) -> tuple[str, str]:
    """Return the old and new values of the flags in a ``GLOBAL_STATE`` reason.

    ``before`` and ``after`` are the code of two guards. Each ends with ``GlobalStateGuard::__getstate__``:
    JSON with the names that reasons use. Both results are empty if no difference is known.
    """
    states = [_state(code) for code in (before, after)]
    if not all(states):
        return "", ""
    old, new = (", ".join(str(_flag(state, flag)) for flag in flags.split()) for state in states)
    return ("", "") if old == new else (old, new)


def device_of(keys: str) -> str:
    """Return the device type that dispatch keys imply; empty if they imply none."""
    names = (_LAYOUTS.sub("", name) for name in re.findall(r"\w+", keys))
    return next((name.lower() for name in names if name in _DEVICES), "")


def _state(code: str) -> Mapping[str, Any]:
    try:
        return read_object(code[code.index("{") :])
    except ValueError:
        return {}


def _described_state(state: Mapping[str, Any]) -> str:
    switches = {
        "grad mode": state.get("grad_mode"),
        "autocast": _flag(state, "autocast("),
        "deterministic algorithms": state.get("deterministic_algorithms"),
    }
    words = [f"{name} {'on' if value else 'off'}" for name, value in switches.items()]
    words.append(f"default dtype {_flag(state, 'default_dtype')}")
    threads = state.get("num_threads")
    return ", ".join([*words, f"{threads} {'thread' if threads == 1 else 'threads'}"])


def _flag(state: Mapping[str, Any], flag: str) -> object:
    if flag.startswith("autocast("):
        return any(state.get("autocast_state", {}).get("enabled", ()))
    value: object = state.get(flag)
    return _DTYPE_NUMBERS.get(value, value) if flag == "default_dtype" and isinstance(value, int) else value


def _nodes(text: str) -> Iterator[str]:
    # A guarded string can contain a line break: a line that does not begin a node continues the last one.
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


def _with_variable(source: str, guard: str) -> str:
    """Replace a cell in a source by its variable's name, if torch writes the name."""
    closure, cell, part = source.rpartition(".cell_contents")
    hint = _HINT.search(guard.rstrip()) if cell else None
    return f"{closure}.{hint['name']}{part}" if hint and hint["part"].startswith(part) else source


def _expected(code: str) -> str:
    tensor = _TENSOR.match(code) if code.startswith("check_tensor(") else None
    if tensor:
        device, index = device_of(tensor["keys"]), tensor["index"]
        device += "" if index == "None" else f":{index}"
        shape = tensor["size"].replace("None", "dynamic")
        words = [f"torch.{tensor['dtype']}", f"shape [{shape}]", f"device {device}" if device else ""]
        words += [
            f"requires_grad={tensor['grad']}",
            f"stride [{tensor['stride'].replace('None', 'dynamic')}]",
        ]
        return ", ".join(word for word in words if word)
    if code.startswith("___check_global_state") and (state := _state(code)):
        return _described_state(state)
    if "saved_tensors_hooks" in code:
        return "no hooks on saved tensors" if code.endswith("None") else "the same hooks on saved tensors"
    length = _LENGTH.match(code) if code.startswith("len(") else None
    if length:
        return f"length {length['value']}"
    if code.startswith(("___check_obj_id(", "___check_type_id(")):
        cls = _TYPE.search(code)
        if cls and cls.group(1) == "code":
            return "the same function"
        if code.startswith("___check_type_id("):
            return f"type {cls.group(1).replace(_WITHOUT_DATA, 'torch.Tensor')}" if cls else "the same type"
        return f"the same object ({cls.group(1)})" if cls else "the same object"
    equals = None if code.startswith("___") else EQUALS.match(code)
    if equals:
        operator = "" if equals["operator"] == "==" else equals["operator"] + " "
        return operator + equals["value"]
    return ""
