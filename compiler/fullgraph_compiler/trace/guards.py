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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..facts import Stack
from .decoding import read_json, read_object
from .messages import parse_user_stack

_SOURCE = "source="
_BUILTINS = re.compile(r"(__builtins_dict__)_\d+")
"""Dynamo numbers its name for the builtins, so that the same guard differs between compilations."""
_LOCAL = re.compile(r"""L\[\s*(?:'([^'\n]*)'|"([^"\n]*)")\s*\]""")
_TENSOR = re.compile(
    r"^check_tensor\((?P<source>.*), (?P<cls>\w+), DispatchKeySet\((?P<keys>[^()]*)\), "
    r"torch\.(?P<dtype>\w+), device=(?P<index>\w+), requires_grad=(?P<grad>\w+), "
    r"size=\[(?P<size>[^\[\]]*)\], stride=\[(?P<stride>[^\[\]]*)\]"
)
_DEVICES = ("CPU", "CUDA", "XPU", "MPS", "Meta", "HPU")
_TYPE = re.compile(r"type=<class '([^']+)'>")
_PLACE = re.compile(r"\s# (?P<file>[^#\s]+):(?P<row>\d+) in (?P<function>[^\s)]+)")
_EQUALS = re.compile(r"^(?P<source>.+?) (?P<operator>==|is not|is) (?P<value>.*)$", re.DOTALL)
_WITHOUT_DATA = "torch._subclasses.fake_tensor.FakeTensor"
"""The class of what has another one in a run with data."""
_LENGTH = re.compile(r"^len\((?P<source>.+)\) == (?P<value>\d{1,18})$")
_REASON = re.compile(r"^\s*(?P<compile_id>!?\d{1,9}(?:/\d{1,9}){0,2}): (?P<text>.*)$", re.DOTALL)
_TENSOR_CHECK = "tensor '"
_INDEX = re.compile(r"(?: at index (?P<dimension>\d+))?\.? expected ")
_REASONS = (
    # TensorCheck::check_verbose in torch/csrc/dynamo/guards.cpp, but for two values (:func:`_compared`).
    # Until 2.14 it does not say which type was expected.
    re.compile(
        r"^tensor '(?P<name>.+?)' (?P<changed>requires_grad) mismatch\. "
        r"expected requires_grad=(?P<expected>[01])"
    ),
    re.compile(
        r"^expected (?P<changed>type) of '(?P<name>.+?)' to be "
        r"(?:a tensor type, '|<class '(?P<expected>[^']+)'>,) but found <class '(?P<actual>[^']+)'>"
    ),
    # GlobalStateGuard::reason, at the same place: the names of flags, a space behind each.
    re.compile(r"^(?P<kind>GLOBAL_STATE) changed: (?P<changed>.*\S)"),
    # get_guard_fail_reason_helper in torch/_dynamo/guards.py.
    re.compile(r"^(?P<kind>BACKEND_MATCH) failure: "),
    re.compile(r"^(?P<kind>Duplicate) tensors? found: (?P<names>\[.*\])"),
    # LENGTH_CHECK (==); a DictGuardManager (!=), which counts before it looks at keys; an empty DICT_LENGTH.
    re.compile(r"^(?P<changed>len)\((?P<name>.+)\) (?:==|!=) (?P<expected>\d+)$"),
    re.compile(r"^not (?P<empty>[^\s()]+)$"),
    # DICT_KEYS_MATCH guards each key of a dict on its own.
    re.compile(r"^list\(dict\.(?P<changed>keys)\((?P<name>.+)\)\)\[\d+\] == (?P<expected>.+)"),
    # SHAPE_ENV: bounds and equalities of sizes.
    re.compile(
        r"^(?:(?P<low>\d+) <= )?(?P<name>\S+)\.(?P<changed>size)\(\)\[(?P<dimension>\d+)\]"
        r"(?: <= (?P<high>\d+))?$"
    ),
    re.compile(
        r"^(?P<name>\S+)\.(?P<changed>size)\(\)\[(?P<dimension>\d+)\] == (?P<expected>[^#\n]+)"
        r"(?:# (?P<duck>duck sizing)?.*)?$"
    ),
    # SET_CONTAINS, DICT_CONTAINS, HASATTR.
    re.compile(
        r"^(?P<missing>not )?(?:set\.__contains__\((?P<name>.+), (?P<member>[^,]+)\)"
        r"|___(?:set|dict)_contains\((?P<key>.+), (?P<holder>[^,]+)\)"
        r"|hasattr\((?P<owner>.+), '(?P<attribute>\w+)'\))$"
    ),
    _EQUALS,
)
"""What torch says of a guard that failed, the expressions in it shortened (:func:`strip_locals`)."""
_AUTOGRAD = re.compile(r", (?:ADInplaceOrView|Autograd\w+)")
_DTYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16",
    "Float": "float32", "Double": "float64", "ComplexHalf": "complex32", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128", "Bool": "bool", "BFloat16": "bfloat16",
}  # fmt: skip
"""``c10/core/ScalarType.h``: the names in C++, and in Python."""
_DTYPE_NUMBERS = {5: "torch.float16", 6: "torch.float32", 7: "torch.float64", 15: "torch.bfloat16"}


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

    ``name`` is the guarded expression without ``L[...]`` around it, as torch shortens it; empty for
    what has none. ``kind`` is set where the words tell what a guard tree does not.
    """

    compile_id: str
    text: str
    kind: str
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
        reasons = [str(item) for item in read_json(text)]
    for item in reasons:
        found = _REASON.match(item)
        if not found:
            continue
        condition, place = split_place(found["text"].split("\nUser stack trace:")[0])
        yield Reason(
            found["compile_id"], condition, *_read(condition), place, parse_user_stack(found["text"])
        )


def strip_locals(expression: str) -> str:
    """``L['a'].size()[0]`` as torch shortens it in a reason: ``a.size()[0]``.

    Source: ``strip_local_scope`` in ``torch/_dynamo/guards.py``.
    """
    return _LOCAL.sub(r"\1\2", expression)


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


def state_change(flags: str, before: str, after: str) -> tuple[str, str]:
    """What the flags of a ``GLOBAL_STATE`` reason were and are, out of the two guards' code.

    Both end with ``GlobalStateGuard::__getstate__``: JSON, under the names that reasons use.
    """
    states = [_state(code) for code in (before, after)]
    if not all(states):
        return "", ""
    old, new = (", ".join(str(_flag(state, flag)) for flag in flags.split()) for state in states)
    return ("", "") if old == new else (old, new)


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


def _read(text: str) -> tuple[str, str, str, str, str, int | None]:
    """Kind, name, what changed, expected and actual value, and dimension that a reason tells of."""
    told = _compared(text)
    if told is None:
        found = next(filter(None, (pattern.match(text) for pattern in _REASONS)), None)
        if found is None:
            return "", "", "", "", "", None
        told = found.groupdict()
    part = {key: (value or "").strip() for key, value in told.items()}
    kind, name, changed = part.get("kind", ""), part.get("name", ""), part.get("changed", "")
    expected, actual = part.get("expected") or part.get("value", ""), part.get("actual", "")
    dimension = int(part["dimension"]) if part.get("dimension") else None
    if "low" in part:
        low, high = part["low"], part["high"]
        expected = (
            f"from {low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        )
    elif "duck" in part:
        kind = "DUCK_SIZE" if part["duck"] else ""
    elif "missing" in part:
        name = name or part["holder"] or part["owner"]
        member = f".{part['attribute']}" if part["attribute"] else part["member"] or part["key"]
        expected, actual = (f"without {member}", f"with {member}")[:: -1 if not part["missing"] else 1]
    elif "names" in part:
        kind, names = "DUPLICATE", read_json(part["names"])
        name, actual = str(names[0]), str(names[-1])
    elif part.get("operator") == "is" and expected not in ("None", "True", "False"):
        kind, name = "OBJECT_ALIASING", part["source"]
    elif part.get("operator"):
        name = part["source"]
    elif "empty" in part:
        name, changed, expected = part["empty"], "length", "0"
    elif changed == "keys":
        changed = "key"
    elif changed == "len":
        changed = "length"
    elif changed == "type":
        expected = expected or "a tensor"
    elif changed == "dtype":
        expected, actual = (f"torch.{_DTYPES[x]}" if x in _DTYPES else x for x in (expected, actual))
    elif changed == "requires_grad":
        expected, actual = str(expected == "1"), actual or str(expected == "0")
    elif changed == "dispatch key set":
        changed, expected, actual = _dispatch(expected, actual)
    return kind, name, changed, expected, actual, dimension


def _compared(text: str) -> dict[str, str | None] | None:
    """``tensor 'x' size mismatch at index 0. expected 3, actual 4``, and perhaps more about a parameter."""
    what, _, values = text.partition(" mismatch")
    index = _INDEX.match(values)
    if not (text.startswith(_TENSOR_CHECK) and index):
        return None
    name, quote, changed = what.removeprefix(_TENSOR_CHECK).rpartition("' ")
    expected, comma, actual = values[index.end() :].partition(", actual ")
    if not (name and quote and comma):
        return None
    actual = actual.partition(". Guard failed on a parameter")[0]
    return {
        "name": name,
        "changed": changed,
        "dimension": index["dimension"],
        "expected": expected,
        "actual": actual,
    }


def _dispatch(expected: str, actual: str) -> tuple[str, str, str]:
    """Keys of a tensor (``c10/core/DispatchKey.h``): its device, and whether autograd sees it."""
    devices = [_device(keys) for keys in (expected, actual)]
    if devices[0] != devices[1]:
        return "device", devices[0], devices[1]
    if _AUTOGRAD.sub("", expected) == _AUTOGRAD.sub("", actual):
        seen = ["on" if "Autograd" in keys else "off" for keys in (expected, actual)]
        return "autograd", seen[0], seen[1]
    return "dispatch keys", expected, actual


def _device(keys: str) -> str:
    names = re.findall(r"\w+", keys)
    return next((name.lower() for name in names if name in _DEVICES), "")


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
        device, index = _device(tensor["keys"]), tensor["index"]
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
    equals = None if code.startswith("___") else _EQUALS.match(code)
    if equals:
        operator = "" if equals["operator"] == "==" else equals["operator"] + " "
        return operator + equals["value"]
    return ""
