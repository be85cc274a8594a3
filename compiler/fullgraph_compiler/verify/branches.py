"""The branches of statements, which of them a run takes, and caught errors."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import operator
import sysconfig
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from ..compat import torch_compat

_OPERATORS: dict[type[ast.cmpop], Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_NEVER_TRUE = ("is_scripting", "is_tracing", "is_compiling", "is_dynamo_compiling")
"""Functions that return false in uncompiled code, or for which trials run both answers."""
_MOST_CHARACTERS = 60
_CATCHING = ("suppress", "raises")
"""The names of context managers that catch exceptions: ``contextlib.suppress``, ``pytest.raises``."""
_OWN = str(Path(__file__).parents[1])
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class BranchCoverage:
    """The branches of statements, and the branches that a run takes.

    ``instrumented`` are the statements, with added calls that record the branches taken. ``taken`` are the
    branches of the last run. ``gaps`` maps the number of a comparison in the last run to the difference of
    the two compared numbers. An elementwise comparison of tensors has a negative number; its gap is the
    median of the elements' differences: if it is subtracted, half of the elements compare as true. Branches
    inside ``kept`` statements (as ``ast.dump`` writes them), and in functions that the statements call, do
    not count. Nor does it count that a loop over one of the values in ``loops`` is empty, because the new
    statements have the same loop.
    """

    def __init__(
        self, statements: Sequence[ast.stmt], kept: Collection[str] = (), loops: Collection[str] = ()
    ) -> None:
        self.words: dict[tuple[int, bool], str] = {}
        self.taken: set[tuple[int, bool]] = set()
        self.gaps: dict[int, float] = {}
        self.elementwise = 0
        marker = _BranchMarker(self, kept, loops)
        self.instrumented: list[ast.stmt] = [marker.visit(copy.deepcopy(node)) for node in statements]

    def add(self, row: int, true: str, false: str) -> int:
        """Add the true and the false branch of a condition at a row; return their number.

        ``true`` and ``false`` describe the branches; a branch with an empty description is not added.
        """
        number = len({key for key, _ in self.words}) + 1
        for outcome, words in ((True, true), (False, false)):
            if words:
                self.words[number, outcome] = f"line {row}: {words}"
        return number

    def clear(self) -> None:
        """Forget the branches and gaps of the last run."""
        self.taken = set()
        self.gaps = {}

    # -- called by instrumented statements -------------------------------------------------------

    def test(self, number: int, value: Any) -> bool:
        """Record whether a condition is true, and return its truth."""
        outcome = bool(value)
        self.taken.add((number, outcome))
        return outcome

    def note(self, number: int, value: Any) -> Any:
        """Record whether an operand is true, and return the operand unchanged."""
        self.taken.add((number, bool(value)))
        return value

    def compare(self, number: int, left: Any, right: Any, kind: int) -> bool:
        """Record whether a comparison is true, and the difference of its operands."""
        result = list(_OPERATORS.values())[kind](left, right)
        outcome = self.test(number, result)
        gap = _gap(left, right)
        if gap is not None:
            self.gaps.setdefault(number, gap)
        return outcome

    def elements(self, number: int, left: Any, right: Any, kind: int) -> Any:
        """Return an elementwise comparison; record the median difference of elements."""
        result = list(_OPERATORS.values())[kind](left, right)
        if isinstance(result, torch.Tensor) and result.numel() > 1:
            gap = _middle_gap(left, right)
            if gap is not None:
                self.gaps.setdefault(number, gap)
        return result

    def each(self, number: int, values: Any) -> Iterator[Any]:
        """Yield the values, and record whether there is at least one."""
        if isinstance(values, (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict)):
            self.taken.add((number, False))  # the program, not its values, decides the number
        iterations = iter(values)
        try:
            first = next(iterations)
        except StopIteration:
            self.taken.add((number, False))
            return
        self.taken.add((number, True))
        yield first
        yield from iterations


class _BranchMarker(ast.NodeTransformer):
    def __init__(self, branches: BranchCoverage, kept: Collection[str], loops: Collection[str]) -> None:
        self._branches = branches
        self._kept = kept
        self._loops = loops

    def visit(self, node: ast.AST) -> Any:
        if not (self._kept and isinstance(node, ast.stmt) and ast.dump(node) in self._kept):
            return super().visit(node)
        if isinstance(node, ast.If):
            node.test = self._test(node.test)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        tests = [self._test(test) for test in node.ifs]
        node.ifs = []
        self.generic_visit(node)
        node.ifs = tests
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Instrument operands whose values are used, not only their truth.

        The last operand is left unchanged, since its truth is not tested.
        """
        values = [self.visit(copy.deepcopy(value)) for value in node.values]
        for index, value in enumerate(node.values[:-1]):
            values[index] = self._call("note", value, values[index])
        return ast.copy_location(ast.BoolOp(node.op, values), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or type(node.ops[0]) not in _OPERATORS:
            return node
        self._branches.elementwise += 1
        number = -self._branches.elementwise
        return ast.copy_location(_compared("elements", number, node), node)

    def visit_For(self, node: ast.For) -> ast.AST:
        text = _short(node.iter)
        fixed = isinstance(node.iter, (ast.Tuple, ast.List, ast.Constant)) or _is_constant_range(node.iter)
        fixed = fixed or ast.dump(node.iter) in self._loops
        number = self._branches.add(
            node.lineno, f"the loop over `{text}` never ran", "" if fixed else f"`{text}` was never empty"
        )
        self.generic_visit(node)
        node.iter = _called("each", number, node.iter)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        name = f"except {_short(node.type)}" if node.type else "except"
        return self._with_start(node, node.lineno, f"`{name}` never caught anything")

    def visit_match_case(self, node: Any) -> ast.AST:
        return self._with_start(node, node.pattern.lineno, f"`case {_short(node.pattern)}` never matched")

    def _with_start(self, node: Any, row: int, words: str) -> ast.AST:
        number = self._branches.add(row, words, "")
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_called("note", number, ast.Constant(True))))
        return node  # type: ignore[no-any-return]

    def _with_test(self, node: Any) -> ast.AST:
        test = self._test(node.test)
        node.test = ast.Constant(True)
        self.generic_visit(node)
        node.test = test
        return node  # type: ignore[no-any-return]

    visit_If = visit_While = visit_IfExp = visit_Assert = _with_test  # noqa: N815

    def _test(self, node: ast.expr) -> ast.expr:
        """Instrument an expression of which only the truth is used."""
        if isinstance(node, ast.BoolOp):
            return ast.copy_location(ast.BoolOp(node.op, list(map(self._test, node.values))), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.copy_location(ast.UnaryOp(node.op, self._test(node.operand)), node)
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and all(map(_is_plain, node.comparators[:-1])):
            operands = [node.left, *node.comparators]
            parts = [
                ast.copy_location(ast.Compare(operands[index], [kind], [operands[index + 1]]), node)
                for index, kind in enumerate(node.ops)
            ]
            return self._test(ast.copy_location(ast.BoolOp(ast.And(), list(parts)), node))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            return _compared("compare", self._add(node), self.generic_visit(copy.deepcopy(node)))
        return self._call("test", node, self.visit(copy.deepcopy(node)))

    def _call(self, name: str, node: ast.expr, changed: ast.expr) -> ast.expr:
        return _called(name, self._add(node), changed)

    def _add(self, node: ast.expr) -> int:
        text = _short(node)
        never = isinstance(node, ast.Call) and _name_of(node.func) in _NEVER_TRUE
        true = "" if never else f"`{text}` was never true"
        return self._branches.add(node.lineno, true, f"`{text}` was never false")


def _called(name: str, number: int, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name("__branches__", ast.Load()), name, ast.Load())
    return ast.Call(function, [ast.Constant(number), *arguments], [])


def _compared(name: str, number: int, node: Any) -> ast.expr:
    kind = ast.Constant(list(_OPERATORS).index(type(node.ops[0])))
    return _called(name, number, node.left, node.comparators[0], kind)


def _name_of(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _short(node: ast.AST | None) -> str:
    text = ast.unparse(node) if node is not None else ""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant))


def _is_constant_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and _name_of(node.func) == "range"
        and all(isinstance(argument, ast.Constant) for argument in node.args)
    )


def _gap(left: Any, right: Any) -> float | None:
    try:
        return float(left) - float(right)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None


def _middle_gap(left: Any, right: Any) -> float | None:
    """Return the mean of the two middle values of the elements' differences.

    Equal differences count once. Return ``None`` if there are fewer than two.
    """
    try:
        gaps = (left - right).detach().double().flatten().unique()
    except (TypeError, RuntimeError):
        return None
    gaps = gaps[gaps.isfinite()]
    half = len(gaps) // 2
    return float(gaps[half - 1 : half + 1].mean()) if half else None


def untaken(branches: BranchCoverage, taken: Iterable[tuple[int, bool]]) -> tuple[str, ...]:
    """Return descriptions of the branches that are not in ``taken``."""
    known = set(taken)
    return tuple(words for key, words in branches.words.items() if key not in known)


def is_caught(frame: FrameType | None) -> bool:
    """Return whether the program catches exceptions that are raised at a frame.

    The handler must be the program's own code, around the frame or around a call that leads to it.
    """
    if frame is not None and _is_in_body(frame):
        return True
    while frame is not None:
        frame = frame.f_back
        if frame is not None and _is_of_program(frame) and _is_in_body(frame):
            return True
    return False


def _is_of_program(frame: FrameType) -> bool:
    """Return whether a frame runs neither a library nor Fullgraph."""
    return not frame.f_code.co_filename.startswith((*_INSTALLED, _OWN))


def _is_in_body(frame: FrameType) -> bool:
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    return any(first <= frame.f_lineno <= last for first, last in _bodies(source))


@functools.lru_cache(maxsize=64)
def _bodies(source: str) -> tuple[tuple[int, int], ...]:
    try:
        return tuple(_ranges(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ()


def _ranges(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each block whose exceptions are caught."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Try) and node.handlers) or (
            isinstance(node, ast.With) and any(map(_catches, node.items))
        ):
            yield node.body[0].lineno, node.body[-1].end_lineno or 0


def _catches(item: ast.withitem) -> bool:
    call = item.context_expr
    function = call.func if isinstance(call, ast.Call) else call
    return getattr(function, "attr", getattr(function, "id", "")) in _CATCHING


def is_by_statement(error: BaseException, rows: Container[int] = ()) -> bool:
    """Return whether a ``raise`` or ``assert`` of the program raised an exception.

    ``rows`` are those of such statements in the statements of a trial.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    filename = trace.tb_frame.f_code.co_filename
    if filename == "<statements>":
        return trace.tb_lineno in rows
    line = linecache.getline(filename, trace.tb_lineno).strip()
    return line.startswith(("raise", "assert")) and not filename.startswith(torch_compat.folder())
