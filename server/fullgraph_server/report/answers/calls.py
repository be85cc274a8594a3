"""Answers to calls that Dynamo cannot trace: C functions, iterators, locks."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from fullgraph_compiler.facts import CompileFailure
from fullgraph_compiler.trace.messages import BUG

from ...text.markdown import code_span
from ...workspace.definitions import definitions
from ...workspace.source import SourceFile
from ...workspace.syntax import nodes_of
from ...workspace.workspace import Workspace
from .marks import MarkUses, dotted
from .seen_errors import Broken, SeenBreak
from .words import FindingAnswer, line_of, row_of

_OF_TORCH: Final = re.compile(r"[/\\]torch[/\\]")

_BUILTIN: Final = re.compile(
    r"Dynamo does not know how to trace the (?:Python )?builtin `(?P<name>[\w.]{1,200})`\.?"
    r"(?: This function is either a Python builtin \(e\.g\. _warnings\.warn\) or a third-party C/C\+\+ "
    r"Python extension \(perhaps created with pybind\)\.)?"
)
"""A message from ``SkipFunctionVariable`` in ``torch/_dynamo/variables/functions.py`` (2.13 and 2.15)."""
_SKIPPED: Final = re.compile(
    r"Dynamo developers have intentionally marked that the function `(?P<name>[^`\n]{1,200})` in file "
    r"`(?P<file>[^`\n]{1,400})` should not be traced\."
)
"""``SkipFunctionVariable``, as above (2.13 and 2.15)."""
_METHOD: Final = re.compile(
    r"Dynamo does not know how to trace method `(?P<method>\w{1,100})` of class `(?P<cls>[\w.]{1,200})`"
)
"""A message from ``call_method`` in ``torch/_dynamo/variables/base.py`` (torch 2.13 and 2.15)."""
_ITERATOR: Final = re.compile(
    r"Dynamo does not know how to iterate over `UserDefinedObjectVariable\((?P<iter>\w{1,100})\)`\.?"
    r"|Dynamo does not support next\(\) on (?P<next>\w{1,100})\."
    r"(?: Add tp_iternext_impl to this VariableTracker subclass\.)?"
    r"|'(?P<of_c>\w{1,100})' implements '__(?P<special>iter|next)__' in C and Dynamo has no model for it\."
)
"""A message from ``torch/_dynamo/variables/base.py`` (torch 2.13 and 2.15)."""
_MAKES: Final = re.compile(
    r"Dynamo does not know how to trace the function `<class '(?P<cls>[\w.<>]{1,200})'>`"
)
"""A message from ``call_function`` in ``torch/_dynamo/variables/base.py`` (torch 2.13 and 2.15)."""
_WORDS: Final = {
    re.compile(r"copy\.deepcopy\(\) on tensors"): (
        "Copy a tensor with `.clone()`.",
        "Copy a module, or any other object that holds tensors, outside of compiled code.",
    ),
    re.compile(r"how to enter a `(?:lock|RLock|_RLock|Condition|Semaphore)` context manager"): (
        "Hold the lock around the compiled call, not in it.",
    ),
}
"""Hints by a pattern in torch's explanation."""
_GIVEN: Final = re.compile(r"Encountered input of type <(?P<cls>[\w.]{1,200})>")
"""The developer context of GB0236 in ``torch/_dynamo/variables/functions.py`` (2.13 and 2.15)."""
_RETURNED: Final = (
    "Return tensors, numbers, and lists, tuples or dicts of these. A dataclass of them is supported once it "
    "is registered: `torch.utils._pytree.register_dataclass(...)`."
)
_STANDARD: Final = re.compile(
    r"^<frozen |[/\\]lib(?:64)?[/\\]python3\.\d{1,2}t?[/\\](?!(?:site|dist)-packages[/\\])", re.IGNORECASE
)
_SCHEDULES: Final = re.compile(r"[/\\]torch[/\\]optim[/\\](?:lr_scheduler|swa_utils)\.py$")
_REPLAYED: Final = frozenset(("_warnings.warn", "_warnings.warn_explicit"))
"""Functions for which torch's own hint is enough: torch can call them after the graph."""
_ITERATORS: Final = frozenset(
    (
        *("zip", "enumerate", "map", "filter", "generator", "chain", "islice", "product", "accumulate"),
        *("list_iterator", "list_reverseiterator", "tuple_iterator", "dict_items", "dict_values", "cycle"),
        *("permutations", "combinations", "pairwise", "repeat", "starmap", "takewhile", "zip_longest"),
    )
)
_OUTSIDE: Final = (
    "Make this call outside of compiled code, and pass in what the compiled code needs from its result.",
)


def call_answer(seen: SeenBreak) -> FindingAnswer | None:
    """Return the answer to a call that Dynamo cannot trace; ``None`` if unknown."""
    source, contains = seen.source, seen.places.workspace.contains
    below = itertools.takewhile(lambda frame: not contains(frame.filename), reversed(seen.stack))
    if source is None or not all(_STANDARD.search(frame.filename) for frame in below):
        return None
    answers = (answer(seen.fact, source, seen.row) for answer in _ANSWERS)
    return next(filter(None, answers), None)


def _builtin(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on a C function.

    The function can be made a custom operator if it takes and returns tensors.
    """
    said = _BUILTIN.search(fact.explanation)
    name = said["name"].rstrip(".") if said else ""
    root = name.partition(".")[0]
    if said is None or name in _REPLAYED or root == "torch":
        return None
    note = f"{code_span(name)} is written in C: Dynamo cannot trace it."
    if root in sys.stdlib_module_names:
        return FindingAnswer(note, _OUTSIDE, replaced=said[0], instead=True)
    operator = (
        "If it takes and returns tensors, make it a custom operator: call it in a function with "
        "`@torch.library.custom_op`, and describe its results with `register_fake`."
    )
    return FindingAnswer(note, (operator, f"Otherwise: {_OUTSIDE[0]}"), replaced=said[0], instead=True)


def _skipped(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on a function of the standard library that torch keeps out of graphs."""
    said = _SKIPPED.search(fact.explanation)
    if said is None:
        return None
    if _SCHEDULES.search(said["file"]):
        note = (
            "A learning-rate scheduler has wrapped `step` of its optimizer. torch does not trace the "
            "wrapper: the original `step` is compiled separately."
        )
        return FindingAnswer(note, replaced=said[0], instead=True)
    if not _STANDARD.search(said["file"]):
        return None
    note = f"{code_span(said['name'])} is part of Python's standard library: torch keeps it out of graphs."
    return FindingAnswer(note, _OUTSIDE, replaced=said[0], instead=True)


def _method(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on a method that Dynamo cannot trace, such as that of a context variable."""
    said = _METHOD.search(fact.explanation)
    if said is None or said["method"].startswith("__") or "Storage" in said["cls"]:
        return None
    return FindingAnswer(hints=_OUTSIDE, instead=True)


def _iterator(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on an iterator that was created outside of compiled code."""
    said = _ITERATOR.search(fact.explanation)
    name = (said["iter"] or said["next"] or said["of_c"]) if said else ""
    if said is None or name not in _ITERATORS:
        return None
    note = f"This {code_span(name)} was created outside of this graph: Dynamo cannot iterate over it."
    hint = "Pass a list: write `list(...)` around it where it is created."
    if said["next"] or said["special"] == "next":
        hint = "Take the item from it outside of compiled code, and pass the item."
    return FindingAnswer(note, (hint,), replaced=said[0], instead=True)


def _makes(fact: Broken, source: SourceFile, _: int) -> FindingAnswer | None:
    """Advise on a class with ``__getattribute__``, which Dynamo cannot instantiate."""
    said = _MAKES.search(fact.explanation)
    name = said["cls"].rpartition(".")[2] if said else ""
    if said is None:
        return None
    for cls in nodes_of(ast.ClassDef, source.tree):
        for item in cls.body:
            if cls.name == name and isinstance(item, ast.FunctionDef) and item.name == "__getattribute__":
                where = row_of(source, item.lineno, source.filename)
                return FindingAnswer(
                    f"{code_span(name)} defines `__getattribute__` ({where}): Dynamo cannot create instances "
                    "of such a class.",
                    ("Define `__getattr__` instead if that is enough, or create the object elsewhere.",),
                    replaced=said[0],
                    instead=True,
                )
    return None


def _by_words(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on copies of tensors or modules, and on locks."""
    found = (hints for words, hints in _WORDS.items() if words.search(fact.explanation))
    return next((FindingAnswer(hints=hints, instead=True) for hints in found), None)


def _address(fact: Broken, source: SourceFile, row: int) -> FindingAnswer | None:
    """Advise on a branch on a tensor's address: there is no address while tracing."""
    if fact.code not in ("GB0059", "GB0088"):
        return None
    for node in source.nodes_at(row):
        calls = nodes_of(ast.Call, node.test) if isinstance(node, (ast.If, ast.IfExp)) else ()
        if any(dotted(call.func).rpartition(".")[2] == "data_ptr" for call in calls):
            return FindingAnswer(
                "Tensors have no address while Dynamo traces.",
                ("Read it in uncompiled code only, where `torch.compiler.is_compiling()` is false.",),
                replaced=fact.explanation,
                instead=True,
            )
    return None


def _nonstrict(fact: Broken, _: SourceFile, __: int) -> FindingAnswer | None:
    """Advise on an unsupported argument or result of a ``nonstrict_trace`` function."""
    if fact.code == "GB0251":
        return FindingAnswer(hints=(_RETURNED,), instead=True)
    said = _GIVEN.search(fact.text) if fact.code == "GB0236" else None
    if said is None:
        return None
    name = code_span(said["cls"].rpartition(".")[2])
    return FindingAnswer(
        hints=(
            f"Pass the tensors and numbers that the function reads from the {name}, instead of the object.",
            f"Or register {name} with `torch.utils._pytree.register_dataclass`, if it is a dataclass.",
        ),
        instead=True,
    )


_ANSWERS: Final[Sequence[Callable[[Broken, SourceFile, int], FindingAnswer | None]]] = (
    *(_builtin, _skipped, _method, _iterator, _makes, _by_words, _address, _nonstrict),
)


def library_answer(fact: CompileFailure, traced: str, marks: MarkUses, workspace: Workspace) -> FindingAnswer:
    """Advise to disable a function that calls a library in which Dynamo fails.

    ``traced`` is the name of the compiled function. Return an empty answer for other failures.
    """
    if fact.code or BUG not in fact.explanation or not fact.stack:
        return FindingAnswer()
    own = [frame for frame in fact.stack if workspace.contains(frame.filename)]
    others = [frame.filename for frame in fact.stack if frame not in own]
    if not own or fact.stack[-1] in own or any(_OF_TORCH.search(name) for name in others):
        return FindingAnswer()
    source, function = workspace.source(own[-1].filename), own[-1].function
    node = definitions(source).function_at(own[-1].row) if source else None
    if source is None or not isinstance(node, ast.FunctionDef) or node.name != function:
        return FindingAnswer()
    if function == traced.rpartition(".")[2]:
        return FindingAnswer()
    whole = [mark for mark in marks.all("compile") if mark.is_on("fullgraph")]
    without = f", and `fullgraph=True` ({line_of(whole[0], source.filename)}) left out" if whole else ""
    where = row_of(source, node.lineno, source.filename)
    hint = (
        f"Write `@torch.compiler.disable` above {code_span(function)} ({where}): with that{without}, it runs "
        "uncompiled, and the graph breaks where it is called. (Not tried.)"
    )
    return FindingAnswer(hints=(hint,), instead=True)
