"""Parsers of torch's reasons for a recompilation: failed guards, compared values.

A reason has one sentence for each earlier compilation of the frame. The sentences come from
``TensorCheck::check_verbose`` and ``GlobalStateGuard::reason`` (``torch/csrc/dynamo/guards.cpp``) or
``get_guard_fail_reason_helper`` (``torch/_dynamo/guards.py``). Their expressions are shortened
(:func:`~.guards.strip_locals`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..facts import Stack
from .decoding import is_formula, parse_expression, read_json
from .guards import BUILTINS, EQUALS, METADATA, GuardPlace, device_of, split_place, strip_locals
from .messages import parse_user_stack

_REASON = re.compile(r"^\s*(?P<compile_id>!?\d{1,9}(?:/\d{1,9}){0,2}): (?P<text>.*)$", re.DOTALL)
_TENSOR_CHECK = "tensor '"
_INDEX = re.compile(r"(?: at index (?P<dimension>\d+))?\.? expected ")
_AUTOGRAD = re.compile(r", (?:ADInplaceOrView|Autograd\w+)")
FREED: Final = "FREED"
"""The kind of a guard on an object that was deleted; torch then discards the guard's compilation."""
_DTYPES = {
    "Byte": "torch.uint8", "Char": "torch.int8", "Short": "torch.int16", "Int": "torch.int32",
    "Long": "torch.int64", "Half": "torch.float16", "Float": "torch.float32", "Double": "torch.float64",
    "ComplexHalf": "torch.complex32", "ComplexFloat": "torch.complex64", "ComplexDouble": "torch.complex128",
    "Bool": "torch.bool", "BFloat16": "torch.bfloat16",
}  # fmt: skip
"""Dtypes in Python, by their names in C++ (``c10/core/ScalarType.h``)."""


@dataclass(frozen=True, slots=True)
class GuardedChange:
    """The change of a guarded value that a sentence describes.

    Fields that the sentence does not mention are empty. ``name`` is the guarded expression without ``L[...]``
    around it, as torch shortens it. ``changed`` is the property that was compared. ``kind`` is set only if
    the sentence shows the kind of the guard and the guard tree does not.
    """

    name: str = ""
    changed: str = ""
    expected: str = ""
    actual: str = ""
    dimension: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class RecompileReason:
    """The reason why the compilation ``compile_id`` could not be used.

    ``text`` does not include the source location, which is in ``place``.
    """

    compile_id: str
    text: str
    change: GuardedChange
    place: GuardPlace | None
    stack: Stack


def parse_reasons(text: str) -> Iterator[RecompileReason]:
    """Read the reasons in one ``recompile_reasons`` record.

    The record is plain text if there is one reason, otherwise a JSON list.
    """
    text = BUILTINS.sub(r"\1", text)
    items = [str(item) for item in read_json(text)] if text.lstrip().startswith("[") else [text]
    for item in items:
        reason = _REASON.match(item)
        if reason:
            condition, place = split_place(reason["text"].split("\nUser stack trace:")[0])
            stack = parse_user_stack(reason["text"])
            yield RecompileReason(reason["compile_id"], condition, _read_change(condition), place, stack)


def _read_change(text: str) -> GuardedChange:
    compared = _compared_tensor(text)
    if compared is not None:
        return compared
    for pattern, read in _SENTENCES:
        if match := re.match(pattern, text):
            return read(match)
    return GuardedChange()


# -- tensors whose two values are both written ----------------------------------------------------


def _compared_tensor(text: str) -> GuardedChange | None:
    """Read ``tensor 'x' size mismatch at index 0. expected 3, actual 4``.

    The text is longer for a parameter. Return ``None`` for any other text. A regular expression is
    unsuitable: it would take quadratic time for a name with quotes.
    """
    subject, _, values = text.partition(" mismatch")
    index = _INDEX.match(values)
    if not (text.startswith(_TENSOR_CHECK) and index):
        return None
    name, quote, changed = subject.removeprefix(_TENSOR_CHECK).rpartition("' ")
    expected, comma, actual = values[index.end() :].partition(", actual ")
    if not (name and quote and comma):
        return None
    actual = actual.partition(". Guard failed on a parameter")[0].strip()
    changed, expected = changed.strip(), expected.strip()
    if changed == "dtype":
        expected, actual = _DTYPES.get(expected, expected), _DTYPES.get(actual, actual)
    elif changed == "dispatch key set":
        changed, expected, actual = _compared_keys(expected, actual)
    dimension = int(index["dimension"]) if index["dimension"] else None
    return GuardedChange(name.strip(), changed, expected, actual, dimension)


def _compared_keys(expected: str, actual: str) -> tuple[str, str, str]:
    """Return the property in which two dispatch key sets differ, and its two values.

    The property is the device, autograd, or the keys. It is empty if one of the tensors is, for example,
    inside a transform such as ``torch.func.vmap``. The keys are those of ``c10/core/DispatchKey.h``.
    """
    devices = [device_of(keys) for keys in (expected, actual)]
    if devices[0] != devices[1]:
        return "device", devices[0], devices[1]
    inside = ["FuncTorch" in keys for keys in (expected, actual)]
    if inside[0] != inside[1]:
        before, after = ("inside of `torch.func`" if each else "outside of `torch.func`" for each in inside)
        return "", before, after
    if _AUTOGRAD.sub("", expected) == _AUTOGRAD.sub("", actual):
        switches = ["on" if "Autograd" in keys else "off" for keys in (expected, actual)]
        if switches[0] == switches[1]:  # the tensor is an inference tensor in both calls
            modes = ["outside" if "ADInplaceOrView" in keys else "inside" for keys in (expected, actual)]
            before, after = (f"{mode} of `torch.inference_mode()`" for mode in modes)
            return "", before, after
        return "autograd", switches[0], switches[1]
    old, new = (re.findall(r"\w+", keys) for keys in (expected, actual))
    gone, come = [key for key in old if key not in new], [key for key in new if key not in old]
    if gone and come:
        return "dispatch keys", ", ".join(gone), ", ".join(come)
    having, lacking = (f"{word} {', '.join(gone or come)}" for word in ("with", "without"))
    return ("dispatch keys", having, lacking) if gone else ("dispatch keys", lacking, having)


# -- all others -----------------------------------------------------------------------------------


def _requires_grad(match: re.Match[str]) -> GuardedChange:
    required = match["expected"] == "1"
    return GuardedChange(match["name"].strip(), "requires_grad", str(required), str(not required))


def _missing_key(match: re.Match[str]) -> GuardedChange:
    name, key = _item(match["item"])
    if key.startswith("list("):  # the key is an object, which torch identifies by its index
        return GuardedChange(name, expected="with all earlier keys", actual="without one of them")
    return GuardedChange(name, expected=f"with {key}", actual=f"without {key}", kind="DICT_CONTAINS")


def _missing_index(match: re.Match[str]) -> GuardedChange:
    name, index = _item(match["item"])
    least = f"at least {int(index) + 1}" if index.isdecimal() else "more"
    return GuardedChange(name, "length", least, kind="LENGTH_CHECK")


def _missing_attribute(match: re.Match[str]) -> GuardedChange:
    attribute = f".{match['attribute']}"
    return GuardedChange(
        match["name"], expected=f"with {attribute}", actual=f"without {attribute}", kind="HASATTR"
    )


def _item(text: str) -> tuple[str, str]:
    """Split ``d['a']`` into the container and the key."""
    tree = parse_expression(text)
    if not isinstance(tree, ast.Subscript) or not text.isascii():
        holder, _, key = text.removesuffix("]").partition("[")
        return holder, key
    end = tree.value.end_col_offset or 0
    return text[:end], text[end + 1 : -1]


def _duplicate(match: re.Match[str]) -> GuardedChange:
    names = read_json(match["names"])
    return GuardedChange(str(names[0]), actual=str(names[-1]), kind="DUPLICATE")


def _bounds(match: re.Match[str]) -> GuardedChange:
    low, high = match["low"], match["high"]
    if low and high:
        expected = f"from {low} to {high}"
    else:
        expected = f"at least {low}" if low else f"at most {high or ''}"
    return GuardedChange(match["name"], "size", expected, dimension=int(match["dimension"]))


def _equal_sizes(match: re.Match[str]) -> GuardedChange:
    kind = "DUCK_SIZE" if match["duck"] else ""
    expected = match["expected"].strip()
    return GuardedChange(match["name"], "size", expected, dimension=int(match["dimension"]), kind=kind)


def _member(match: re.Match[str]) -> GuardedChange:
    name = match["set"] or match["holder"] or match["owner"]
    member = f".{match['attribute']}" if match["attribute"] else (match["member"] or match["key"]).strip()
    expected, actual = f"with {member}", f"without {member}"
    if match["missing"]:
        expected, actual = actual, expected
    return GuardedChange(name.strip(), expected=expected, actual=actual)


def _equal(match: re.Match[str]) -> GuardedChange:
    value = match["value"].strip()
    if match["operator"] == "==" and is_formula(value):
        return GuardedChange()  # a relation between numbers, not a value
    if match["operator"] == "is" and " " in value:  # a sentence
        return GuardedChange()
    if match["operator"] == "is not" and value == "None":
        return GuardedChange(match["source"].strip(), expected="not None")
    is_alias = match["operator"] == "is" and value not in ("None", "True", "False")
    return GuardedChange(match["source"].strip(), expected=value, kind="OBJECT_ALIASING" if is_alias else "")


_Read: TypeAlias = Callable[[re.Match[str]], GuardedChange]


def _says(**said: str) -> _Read:
    """Return a reader that sets the fields in ``said`` and those of pattern groups.

    A named group of the pattern sets the field of the same name.
    """

    def read(match: re.Match[str]) -> GuardedChange:
        found = {field: part.strip() for field, part in match.groupdict().items() if part}
        return GuardedChange(**{**said, **found})  # type: ignore[arg-type]

    return read


_SENTENCES: Final[Sequence[tuple[str | re.Pattern[str], _Read]]] = (
    (
        r"^tensor '(?P<name>.+?)' requires_grad mismatch\. expected requires_grad=(?P<expected>[01])",
        _requires_grad,
    ),
    # Until 2.14, the sentence does not name the expected type.
    (
        (
            r"^expected type of '(?P<name>.+?)' to be "
            r"(?:a tensor type, '|<class '(?P<expected>[^']+)'>,) but found <class '(?P<actual>[^']+)'>"
        ),
        _says(changed="type", expected="a tensor"),
    ),
    # The names of flags, with a space after each.
    (r"^GLOBAL_STATE changed: (?P<changed>.*\S)", _says(kind="GLOBAL_STATE")),
    (r"^___check_metadata_", _says(changed="metadata", kind=METADATA)),
    (r"^__dtensor_spec_\d+", _says(changed="mesh, placements or sizes", kind="DTENSOR_SPEC_MATCH")),
    (r"^___check_opaque_guard_fn_", _says(changed="guarded state", kind="OPAQUE_OBJ_GUARD_FN_MATCH")),
    # torch counts the changes of the dict.
    (r"^___dict_version\((?P<name>.+)\) == \d+$", _says(changed="contents", kind="DICT_VERSION")),
    # CheckFunctionManager.invalidate, for the object of an ID_MATCH, with the full expression.
    (
        r"^Cache line invalidated because (?P<name>.+) got deallocated$",
        lambda match: GuardedChange(strip_locals(match["name"]), kind=FREED),
    ),
    # Accessors in guards.cpp that do not find the value to guard.
    (r"^KeyError on (?P<item>.+\])$", _missing_key),
    (r"^IndexError on (?P<item>.+\])$", _missing_index),
    (r"^getattr failed on source (?P<name>.+)\.(?P<attribute>\w+)$", _missing_attribute),
    (r"^BACKEND_MATCH failure: ", _says(kind="BACKEND_MATCH")),
    (r"^Duplicate tensors? found: (?P<names>\[.*\])", _duplicate),
    # LENGTH_CHECK (==); a DictGuardManager (!=), which compares the length before the keys.
    (r"^len\((?P<name>.+)\) (?:==|!=) (?P<expected>\d+)$", _says(changed="length")),
    # A DICT_LENGTH guard on an empty dict.
    (r"^not (?P<name>[^\s()]+|\w+[.\[]\S+)$", _says(changed="length", expected="0")),
    # DICT_KEYS_MATCH guards each key of a dict separately.
    (r"^list\(dict\.keys\((?P<name>.+)\)\)\[\d+\] == (?P<expected>.+)", _says(changed="key")),
    # SHAPE_ENV: bounds and equalities of sizes.
    (r"^(?:(?P<low>\d+) <= )?(?P<name>\S+)\.size\(\)\[(?P<dimension>\d+)\](?: <= (?P<high>\d+))?$", _bounds),
    (
        (
            r"^(?P<name>\S+)\.size\(\)\[(?P<dimension>\d+)\] == (?P<expected>[^#\n]+)"
            r"(?:# (?P<duck>duck sizing)?.*)?$"
        ),
        _equal_sizes,
    ),
    # SET_CONTAINS, DICT_CONTAINS, HASATTR.
    (
        (
            r"^(?P<missing>not )?(?:set\.__contains__\((?P<set>.+), (?P<member>[^,]+)\)"
            r"|___(?:set|dict)_contains\((?P<key>.+), (?P<holder>[^,]+)\)"
            r"|hasattr\((?P<owner>.+), '(?P<attribute>\w+)'\))$"
        ),
        _member,
    ),
    # Since 2.13; the sentence does not name the tensor.
    (r"^_(?:has_)?dynamo_\w+ (?:is|should be) ", _says(kind="DIMENSION_DYNAMIC_MARKING_GUARD")),
    # EQUALS_MATCH of a value that does not equal itself.
    (
        r"^\(type\((?P<name>.+)\) is (?:float|complex) and __\w+_isnan\((?P=name)\)\)$",
        _says(expected="nan"),
    ),
    (
        r"^___(?:tuple_iterator|count_iterator)_len\((?P<name>.+)\) == (?P<expected>\d+)$",
        _says(changed="number of items"),
    ),
    (EQUALS, _equal),
)
"""Patterns of all other sentences, each with its reader; the first matching pattern is used."""
