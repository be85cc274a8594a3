"""Statements that an edit replaces: find them, insert a probe, and compile them.

The probe is a call before the statements. Old and new statements are compiled as functions.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..facts import Trial
from .variations import constants, settled

PROBE = "__fullgraph_probe__"
"""The name of the probe: a builtin, called with a trial's number before the statements of the trial."""
_COMPILING = ("is_compiling", "is_dynamo_compiling")
_LOOKS = frozenset({"locals", "vars", "eval", "exec", "dir"})
_CHANGES = frozenset(
    name
    for names in (
        "append extend insert pop remove clear sort reverse",
        "update setdefault popitem add discard",
    )
    for name in names.split()
)
"""Methods that change their object, in addition to methods of tensors whose names end in ``_``."""


_WITH_FUNCTIONS = ("torch", "nn", "init", "F", "functional")
"""Names of modules whose functions change their argument if their name ends in ``_``."""


class TrialError(Exception):
    """Statements cannot be tried; the message is a sentence that says why."""


@dataclass(frozen=True)
class TrialStatements:
    """Statements of one block of a function, and the new statements that replace them.

    ``live`` are the names that are read after the statements, ``changed_later`` the names whose values may
    be changed in place after them. ``global_names`` are the names that the function declares ``global``.
    ``class_name`` is the class around the function, needed for private names. ``ends_turn`` says that the
    statements are the last in the body of a loop, where ``continue`` has no effect. ``runs_skipped``,
    ``errors_differ``, ``prints``, ``owned`` and ``raises_more`` are copied from the trial. ``chosen`` are
    variables to which the function earlier assigned one of two constants, depending on the truth of local
    variables. ``constants`` are global variables that the module assigns once, a literal number each: the
    program cannot change them. ``settled`` are attributes that only constructors assign, ``in_functions``
    the names that functions of the module read. ``are_kept`` says that later statements may store values
    where the function's result does not show them.
    """

    old: tuple[ast.stmt, ...]
    new: tuple[ast.stmt, ...]
    class_name: str
    live: frozenset[str]
    changed_later: frozenset[str]
    global_names: frozenset[str]
    first_argument: str
    ends_turn: bool = False
    runs_skipped: bool = False
    errors_differ: bool = False
    prints: bool = True
    chosen: Mapping[str, ast.IfExp] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    in_functions: frozenset[str] = frozenset()
    owned: str = ""
    raises_more: bool = False
    are_kept: bool = False

    @property
    def kept(self) -> frozenset[str]:
        """New statements whose branches do not count, as ``ast.dump`` writes them.

        Empty unless ``runs_skipped``.
        """
        nodes = [node for node in walk_own(self.new) if isinstance(node, (ast.Assign, ast.Expr, ast.If))]
        return frozenset(map(ast.dump, nodes)) if self.runs_skipped else frozenset()

    @property
    def loops(self) -> frozenset[str]:
        """The values that loops of the new statements go through, as ``ast.dump`` writes them."""
        return frozenset(ast.dump(node.iter) for node in walk_own(self.new) if isinstance(node, ast.For))

    @property
    def names(self) -> list[str]:
        """The names in the old and new statements, in order."""
        nodes = [node for node in walk((*self.old, *self.new)) if isinstance(node, ast.Name)]
        found = dict.fromkeys(node.id for node in nodes)
        if "super" in found and self.first_argument:
            found = {self.first_argument: None, **found}  # `super()` reads the first argument
        return list(found)

    @property
    def assigned(self) -> frozenset[str]:
        """The names that the old or new statements assign or delete."""
        return frozenset(_assigned((*self.old, *self.new)))


def find(tree: ast.Module, trial: Trial) -> TrialStatements:
    """Return the statements of a trial, and insert a probe before them into ``tree``.

    Raises :class:`TrialError`.
    """
    new = _parsed(trial.text)
    found = _search(tree, trial.row, trial.end_row, _EnclosingScope())
    if found is None:
        rows = f"line {trial.row}" if trial.row == trial.end_row else f"lines {trial.row} to {trial.end_row}"
        raise TrialError(f"There are no whole statements of one block of a function in {rows}.")
    place, block, first, last = found
    assert place.function is not None
    old = [copy.deepcopy(item) for item in block[first : last + 1] if not _is_probe(item)]
    for node in walk_own((*old, *new)):
        for kinds, word in _UNTRIABLE:
            if isinstance(node, kinds):
                raise TrialError(f"Statements with `{word}` cannot be tried by themselves.")
    outside = list(_outside(place.function, block[first : last + 1]))
    begin = place.loop_row or trial.end_row + 1  # a loop returns to its first row
    later = [node for node in outside if getattr(node, "lineno", 0) >= begin]
    arguments = [*place.function.args.posonlyargs, *place.function.args.args]
    statements = TrialStatements(
        tuple(_mangled(old, place.class_name)),
        tuple(_mangled(new, place.class_name)),
        place.class_name,
        frozenset(_read(later))
        | frozenset(_read_inside(outside))
        | _always_live(place.function, (*old, *new)),
        frozenset(_with_views(_changed(later), outside, _own_names(place.function))),
        frozenset(
            name for node in ast.walk(place.function) if isinstance(node, ast.Global) for name in node.names
        ),
        arguments[0].arg if arguments else "",
        block[last] is block[-1] and _is_body_of_loop(place.function, block),
        trial.runs_skipped,
        trial.errors_differ,
        trial.prints,
        dict(_chosen(outside, trial.row)),
        frozenset(constants(tree)),
        frozenset(settled(tree)),
        frozenset(_read_inside(ast.walk(tree))),
        trial.owned,
        trial.raises_more,
        any(map(_keeps, later)),
    )
    call = ast.Expr(ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(trial.number)], []))
    block.insert(first, ast.copy_location(call, block[first]))
    return statements


def _keeps(node: ast.AST) -> bool:
    """Tell whether a node may store a value in an object: ``self.loss = y``, ``losses.append(y)``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)


def code_of(
    nodes: Iterable[ast.stmt], statements: TrialStatements, parameters: Sequence[str], given: Iterable[str]
) -> types.CodeType:
    """Return the code of a function that returns the statements as a function.

    The returned function has local variables as parameters. The parameters of the outer function are the
    class for ``super()``, then those in ``given``: ``keep`` is called with all local variables at the end,
    ``left`` is a list to which ``break`` or ``continue`` is appended, ``through`` is returned if the
    statements do not return, ``branches`` is called by instrumented statements, and ``cond`` replaces
    ``torch.cond``.
    """
    body = [_CondTransformer().visit(copy.deepcopy(node)) for node in nodes] or [ast.Pass()]
    leaves = _LoopExitTransformer()
    body = [item for node in body for item in leaves.statements(node)]
    if leaves.found:
        once = ast.Tuple([ast.Constant(None)], ast.Load())
        body = [ast.For(ast.Name("__once__", ast.Store()), once, body, [], lineno=1)]
    keep = ast.parse("__keep__(locals())").body
    body = [ast.Try(body, [], [], keep), *ast.parse("return __through__").body]
    named = sorted(statements.global_names)
    if named:
        body.insert(0, ast.Global(named))
    outer = ast.parse(
        f"def __make__(__class__, {', '.join(f'__{name}__' for name in given)}):\n"
        f"  def __trial__({', '.join(name for name in parameters if name not in named)}): pass\n"
        "  return __trial__"
    )
    make: Any = outer.body[0]
    make.body[0].body = body
    code = compile(ast.fix_missing_locations(outer), "<statements>", "exec", dont_inherit=True)
    made: dict[str, Any] = {}
    exec(code, made)
    made_code: types.CodeType = made["__make__"].__code__
    return made_code


def as_compiling(nodes: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return copies of statements in which ``is_compiling()`` is replaced by ``True``."""
    return [_CompileTransformer().visit(copy.deepcopy(node)) for node in nodes]


def asks_for_compiling(nodes: Iterable[ast.stmt]) -> bool:
    """Return whether statements call ``is_compiling()``."""
    return any(_is_compiling(node) for node in walk(nodes))


def walk(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield ``nodes`` and all nodes below them, in source order."""
    for node in nodes:
        yield node
        yield from walk(ast.iter_child_nodes(node))


def walk_own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes as :func:`walk` does, but not the bodies of nested functions."""
    for node in nodes:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from walk_own(ast.iter_child_nodes(node))


_UNTRIABLE: tuple[tuple[Any, str], ...] = (
    ((ast.Yield, ast.YieldFrom), "yield"),
    ((ast.Await, ast.AsyncFor, ast.AsyncWith), "await"),
    (ast.Nonlocal, "nonlocal"),
)


@dataclass(frozen=True)
class _EnclosingScope:
    class_name: str = ""
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    loop_row: int = 0
    """The row of the outermost loop around the statements in the function; 0 without a loop."""


def _search(
    node: ast.AST, row: int, end_row: int, place: _EnclosingScope
) -> tuple[_EnclosingScope, list[ast.stmt], int, int] | None:
    if isinstance(node, ast.ClassDef):
        place = _EnclosingScope(node.name)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        place = _EnclosingScope(place.class_name, node)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        place = _EnclosingScope(place.class_name, place.function, place.loop_row or node.lineno)
    for _, block in ast.iter_fields(node):
        if not (isinstance(block, list) and block and isinstance(block[0], ast.stmt)):
            continue
        own = [(index, item) for index, item in enumerate(block) if not _is_probe(item)]
        firsts = [index for index, item in own if _first_row(item) == row]
        lasts = [index for index, item in own if item.end_lineno == end_row]
        if place.function is not None and firsts and lasts and firsts[0] <= lasts[-1]:
            return place, block, firsts[0], lasts[-1]
    for child in ast.iter_child_nodes(node):
        found = _search(child, row, end_row, place)
        if found is not None:
            return found
    return None


def _is_probe(statement: ast.stmt) -> bool:
    """Return whether a statement is the probe of another trial."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == PROBE


def _is_body_of_loop(function: ast.AST, block: list[ast.stmt]) -> bool:
    loops = (ast.For, ast.AsyncFor, ast.While)
    return any(isinstance(node, loops) and node.body is block for node in ast.walk(function))


def _first_row(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min((item.lineno for item in decorators), default=statement.lineno)


def _parsed(text: str) -> list[ast.stmt]:
    body = text.lstrip()
    if body.startswith("elif"):
        text = text.replace("elif", "if", 1)
    indented = text[:1] in (" ", "\t")
    whole = f"def f():\n if 1:\n  pass\n{text}" if not indented else f"def f():\n{text}"
    if not body.strip() or all(line.lstrip()[:1] in ("", "#") for line in text.splitlines()):
        return []
    try:
        tree = ast.parse(whole if indented else text)
    except SyntaxError as error:
        raise TrialError(f"The new statements are not valid Python: {error.msg}.") from None
    return tree.body[0].body if indented else tree.body  # type: ignore[attr-defined]


def _outside(function: ast.AST, excluded: list[ast.stmt]) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not any(child is item for item in excluded):
            yield child
            yield from _outside(child, excluded)


_TRUTHS = (
    ast.Name, ast.expr_context, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not,
    ast.Compare, ast.Is, ast.IsNot, ast.Constant,
)  # fmt: skip
"""The nodes of a test that only checks whether variables are true or ``None``."""


def _chosen(nodes: Iterable[ast.AST], row: int) -> Iterator[tuple[str, ast.IfExp]]:
    """Yield the variables above a row to which a choice of constants is assigned.

    An example is ``attentions = () if output_attentions else None``.
    """
    for node in nodes:
        if not isinstance(node, ast.Assign) or node.lineno >= row or not isinstance(node.value, ast.IfExp):
            continue
        target, value = node.targets[0], node.value
        tested = all(isinstance(item, _TRUTHS) for item in ast.walk(value.test))
        if isinstance(target, ast.Name) and tested and all(map(_is_constant, (value.body, value.orelse))):
            yield target.id, value


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _read(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _read_inside(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that nested functions read; these may run at any time."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _read(ast.walk(node))


def _always_live(function: ast.AST, nodes: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the names that outlive the function, or that ``locals()`` may read.

    ``vars``, ``eval``, ``exec`` and ``dir`` count like ``locals``.
    """
    declared = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Nonlocal, ast.Global))
        for name in node.names
    }
    looks = any(isinstance(node, ast.Name) and node.id in _LOOKS for node in ast.walk(function))
    return frozenset(declared | (set(_assigned(nodes)) if looks else set()))


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in walk_own(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def _changed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            yield _root(node.target)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            yield _root(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                name = node.func.attr
                if name in _CHANGES or (name.endswith("_") and not name.startswith("__")):
                    yield _root(node.func)
                    if _root(node.func) in _WITH_FUNCTIONS:  # torch.nn.init.zeros_(x)
                        yield from map(_root, node.args)
            yield from (_root(item.value) for item in node.keywords if item.arg == "out")


def _with_views(changed: Iterable[str], nodes: Iterable[ast.AST], own: set[str]) -> set[str]:
    """Return the names in ``changed``, and the names that may share memory with them.

    ``own`` are the parameters and variables of the function: modules such as ``torch`` share no memory. For
    example, ``y = x[0]`` shares memory with ``x``; ``y = x * 2`` does not.
    """
    found = set(changed)
    views = [
        (node.targets[0].id, {item.id for item in ast.walk(node.value) if isinstance(item, ast.Name)} & own)
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, (ast.Name, ast.Subscript, ast.Attribute, ast.Call))
    ]
    for _ in views:
        for name, roots in views:
            if name in found or roots & found:
                found |= {name, *roots}
    return found


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters and variables of a function."""
    given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    return given | set(_assigned(function.body))


def _root(node: ast.AST) -> str:
    while not isinstance(node, ast.Name):
        inner = node.func if isinstance(node, ast.Call) else getattr(node, "value", None)
        if not isinstance(inner, ast.AST):
            return ""
        node = inner
    return node.id


def _mangled(nodes: list[ast.stmt], class_name: str) -> list[ast.stmt]:
    """Mangle private names in place, as Python does in the class ``class_name``."""
    for node in walk(nodes):
        for part in ("id", "attr"):
            name = getattr(node, part, "")
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__") and class_name:
                setattr(node, part, f"_{class_name.lstrip('_')}{name}")
    return nodes


def _is_compiling(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        getattr(node.func, "attr", "") in _COMPILING or getattr(node.func, "id", "") in _COMPILING
    )


class _CompileTransformer(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        return (
            ast.copy_location(ast.Constant(True), node) if _is_compiling(node) else self.generic_visit(node)
        )


class _CondTransformer(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) == "torch.cond":
            return ast.copy_location(ast.Name("__cond__", ast.Load()), node)
        return self.generic_visit(node)


class _LoopExitTransformer(ast.NodeTransformer):
    """A transformer that records ``break`` and ``continue`` of the outer loop."""

    def __init__(self) -> None:
        self.found = False

    def statements(self, node: ast.stmt) -> list[ast.stmt]:
        changed = self.visit(node)
        return changed if isinstance(changed, list) else [changed]

    def _leave(self, node: ast.Break | ast.Continue) -> list[ast.stmt]:
        self.found = True
        word = type(node).__name__.lower()
        return [*ast.parse(f"__left__.append({word!r})").body, node]

    visit_Break = visit_Continue = _leave  # noqa: N815

    def _loop(self, node: Any) -> Any:
        node.orelse = [item for child in node.orelse for item in self.statements(child)]
        return node

    visit_For = visit_While = visit_AsyncFor = _loop  # noqa: N815

    def _function(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _function  # noqa: N815
