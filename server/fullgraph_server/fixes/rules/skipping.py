"""Fixes for code that tensor data skips: layers at random (LayerDrop), and turns of a loop.

The rewritten program runs each layer, and then uses or drops its result. The idiom comes from transformers
(``models/bart/modeling_bart.py``, after arXiv 1909.11556): the program draws a number, and skips the layer by
a flag or a ``continue``. A loop that collects values in a list collects all, and marks those to leave out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...report.model import Finding
from ...workspace.positions import Span
from ...workspace.syntax import bound, called, dotted, first_row, last_row, names, nodes_of, stored
from ..model import Edit, Fix, Rule, RuleContext
from .expressions import RANDOM, condition
from .offering import node_rule
from .syntax import ParsedFile, bracketed

_SKIP = Fix(
    "skip-by-where",
    "Run the layer, and choose its result with `torch.where`",
    "A skipped layer runs all the same: it takes time and draws random numbers, and its non-finite values "
    "reach gradients.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.where.html",
    runs_skipped=True,
)
_COLLECT = Fix(
    "masked-list",
    "Collect all values, and leave out the skipped ones at the end",
    "All turns of the loop compute their values, and a mask leaves the skipped ones out; non-finite ones "
    "reach gradients.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.where.html",
    runs_skipped=True,
)
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True)
class _BlockSkip:
    """A block that skips a part of itself; it is rewritten from ``first`` to ``last``."""

    first: ast.stmt
    last: ast.stmt
    part: Sequence[ast.stmt]
    rows: tuple[int, int]
    """The first and last row of the part, including the comments before it."""
    flag: str
    """The variable that says whether the part is skipped."""
    written: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The new lines for the rows that change, by row."""
    also: str = ""
    """A further condition under which the part is skipped; empty if there is none."""
    is_drawn: bool = False
    """Whether the flag is always a tensor, because a random number decides in every case."""
    indent: str = ""
    """The indentation of the part, if different from that of ``first``."""


@node_rule(ast.expr)
def skipped(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer to run a layer that is skipped at random, and to choose its result.

    ``torch.where`` makes the choice.
    """
    owner = code.statement(node)
    if not isinstance(owner, ast.If) or owner.orelse or node not in set(ast.walk(owner.test)):
        return
    skip = _by_flag(code, owner) or _by_draw(code, owner)
    edit = _edit(code, skip) if skip is not None and _is_drawn(code, skip) else None
    if edit is not None:
        yield replace(_SKIP, edits=(edit, *code.importing_torch()))


def skipped_or(rule: Rule) -> Rule:
    """Make a rule that tries :func:`skipped`, and ``rule`` if it offers nothing."""

    def either(finding: Finding, context: RuleContext) -> Iterator[Fix]:
        found = list(skipped(finding, context))
        yield from found or rule(finding, context)

    return either


@node_rule(ast.expr)
def collected(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer to collect the values of all turns of a loop that skips some of them.

    ``if t.sum() == 0: continue`` before ``found.append(...)`` becomes a second list, of whether to keep each
    value. The sum or the mean of the values after the loop then leaves the others out.
    """
    owner = code.statement(node)
    loop = code.parent(owner) if isinstance(owner, ast.If) else None
    if not isinstance(owner, ast.If) or not isinstance(loop, ast.For) or loop.orelse or owner.orelse:
        return
    rest = code.following(owner)
    call = rest[-1].value if rest and isinstance(rest[-1], ast.Expr) else None
    is_skip = len(owner.body) == 1 and isinstance(owner.body[0], ast.Continue)
    test = condition(code, owner.test)
    if not is_skip or not test or not isinstance(call, ast.Call) or called(call) != "append":
        return
    name, after, block = dotted(call.func).removesuffix(".append"), code.following(loop), code.block(loop)
    begin = next((x for x in block[: block.index(loop)] if ast.unparse(x) == f"{name} = []"), None)
    user = next((item for item in after if name in names(item)), None)
    if begin is None or user is None or any(name in names(item) for item in after if item is not user):
        return
    kept = code.new_name("kept")
    reduced = dict(_reductions(code, user, name, kept))
    counted = sum(item.id == name for item in nodes_of(ast.Name, user))
    inside = sum(item.id == name for one in reduced for item in nodes_of(ast.Name, one))
    used = sum(item.id == name for item in nodes_of(ast.Name, loop))
    alone = all(map(code.is_alone, (begin, owner.body[0], user)))
    if used > 1 or counted != inside or not alone or not all(_is_own(code, loop, item) for item in rest[:-1]):
        return
    indent, inner = code.indentation(loop), code.indentation(owner)
    rows = [code.source.line(row) for row in range(begin.lineno, owner.lineno)]
    rows.insert(last_row(begin) - begin.lineno + 1, f"{indent}{kept} = []")
    rows += [f"{inner}{text}" for text in code.comments(owner.lineno, last_row(owner))]
    rows += [f"{inner}{kept}.append({_inverted(code, owner.test, test)})"]
    rows += [code.source.line(row) for row in range(last_row(owner) + 1, first_row(user))]
    rows += [f"{indent}{kept} = torch.stack({kept})", f"{indent}{code.text(user, reduced)}"]
    text = code.of_torch("\n".join(rows).lstrip())
    yield replace(_COLLECT, edits=(code.replaced(begin, text, user), *code.importing_torch()))


def _reductions(code: ParsedFile, user: ast.stmt, name: str, kept: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield the sums and means of a list in a statement, each with its text for the kept values."""
    total = f"torch.where({kept}, torch.stack({name}), 0).sum()"
    texts = {
        f"torch.stack({name}).mean()": f"{total} / {kept}.sum()",
        f"torch.stack({name}).sum()": total,
        f"sum({name}) / len({name})": f"{total} / {kept}.sum()",
        f"sum({name})": total,
        f"len({name})": f"{kept}.sum()",
    }
    found: set[ast.AST] = set()
    for node in nodes_of(ast.expr, user):
        text = texts.get(ast.unparse(node).replace(f"{code.torch}.", "torch.", 1), "")
        if text and node not in found:
            found |= {*ast.walk(node)}
            outer = code.parent(node)
            is_loose = isinstance(outer, ast.BinOp) and not isinstance(outer.op, (ast.Add, ast.Sub))
            yield node, f"({text})" if is_loose and "/" in text else text


def _is_own(code: ParsedFile, loop: ast.For, statement: ast.stmt) -> bool:
    """Tell whether a statement only assigns variables that nothing else than the same turn reads."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(x, ast.Name) for x in statement.targets):
        return False
    return not any(code.is_bound_before(loop, x) or code.is_read_later(loop, x) for x in stored(statement))


def _inverted(code: ParsedFile, test: ast.expr, text: str) -> str:
    """Return the opposite of a condition as a boolean tensor."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and len(test.ops) == 1:
        return f"{code.text(test.left)} != {code.text(test.comparators[0])}"
    return f"torch.logical_not({text})"


def _by_draw(code: ParsedFile, owner: ast.If) -> _BlockSkip | None:
    """Parse ``if drawn < p: continue``, or ``if drawn < p: to_drop = True``.

    After the second form, the block must contain ``if not to_drop:``.
    """
    test = condition(code, owner.test)
    if not test or len(owner.body) != 1:
        return None
    (statement,) = owner.body
    outer = code.parent(owner)
    is_nested = isinstance(outer, ast.If) and outer.body[-1] is owner and not outer.orelse
    around = outer if is_nested and isinstance(outer, ast.If) else owner
    following = code.following(around)
    if isinstance(statement, ast.Continue):
        if not following or not isinstance(code.parent(around), (ast.For, ast.AsyncFor)):
            return None
        flag = code.new_name("skipped")
        written = _decided(code, owner, flag, test)
        if unless := _collecting(following):
            indent = code.indentation(owner)
            jump = f"{indent}if {unless} and {flag}:", f"{indent}{code.unit(statement)}continue"
            written[owner.lineno] += jump
        if is_nested:
            row, indent = first_row(around), code.indentation(around)
            written[row] = (f"{indent}{flag} = False", code.source.line(row))
        rows = _begin(code, around), last_row(following[-1])
        return _BlockSkip(around, following[-1], following, rows, flag, written, is_drawn=not is_nested)
    if not _sets_flag(statement, value=True):
        return None
    (flag,) = stored(statement)
    user = next((item for item in following if flag in names(item)), None)
    if not isinstance(user, ast.If):
        return None
    return _conditional(code, around, user, flag, _decided(code, owner, flag, test))


def _by_flag(code: ParsedFile, owner: ast.If) -> _BlockSkip | None:
    """Parse ``skip = drawn < p``, and a later statement that skips by this flag.

    That statement is ``if not skip:`` or ``if skip: continue``.
    """
    earlier = code.block(owner)[: code.block(owner).index(owner)]
    for flag in sorted(names(owner.test)):
        settings = [item for item in earlier if flag in stored(item) and not _sets_flag(item, value=False)]
        if not settings:
            continue
        if isinstance(owner.body[0], ast.Continue):
            return _jump(code, settings[0], owner, flag)
        return _conditional(code, settings[0], owner, flag, {})
    return None


def _jump(code: ParsedFile, first: ast.stmt, owner: ast.If, flag: str) -> _BlockSkip | None:
    also, following = _other(code, owner.test, flag, negated=False), code.following(owner)
    if also is None or not following or not isinstance(code.parent(owner), (ast.For, ast.AsyncFor)):
        return None
    written: dict[int, tuple[str, ...]] = dict.fromkeys(range(owner.lineno, last_row(owner) + 1), ())
    if unless := _collecting(following):
        indent = code.indentation(owner)
        head = f"{indent}if {unless} and {code.operand(owner.test)}:"
        written[owner.lineno] = head, f"{indent}{code.unit(owner.body[0])}continue"
    rows = _begin(code, owner), last_row(following[-1])
    return _BlockSkip(first, following[-1], following, rows, flag, written, also)


def _conditional(
    code: ParsedFile, first: ast.stmt, owner: ast.If, flag: str, written: dict[int, tuple[str, ...]]
) -> _BlockSkip | None:
    """Parse ``if not flag: ...``.

    An ``if flag: continue`` at the end of the block is removed, because it becomes needless.
    """
    if isinstance(owner.test, ast.Name) and owner.orelse:
        return _otherwise(code, first, owner, flag, written)
    also, head = _other(code, owner.test, flag, negated=True), last_row(owner.test)
    if also is None or owner.orelse or first_row(owner.body[0]) <= head:
        return None
    last: ast.stmt = owner
    following = code.following(owner)
    users = [item for item in following if flag in names(item)]
    if users:
        (last, *others) = users
        if others or following != [last] or not isinstance(last, ast.If):
            return None
        if not isinstance(last.body[0], ast.Continue):
            return None
    first = _initial(code, first, flag)
    unit, indent = code.unit(owner.body[0]), code.indentation(owner)
    written |= dict.fromkeys(range(owner.lineno, head + 1), ())
    written |= dict.fromkeys(range(last_row(owner) + 1, last_row(last) + 1), ())
    for row in range(head + 1, last_row(owner) + 1):
        line = code.source.line(row)
        if line.strip() and not line.startswith(indent + unit):
            return None
        written[row] = (line.replace(indent + unit, indent, 1),)
    return _BlockSkip(first, last, owner.body, (head + 1, last_row(owner)), flag, written, also)


def _otherwise(
    code: ParsedFile, first: ast.stmt, owner: ast.If, flag: str, written: dict[int, tuple[str, ...]]
) -> _BlockSkip | None:
    """Parse ``if flag: outputs = (None, None)`` with the layer in its ``else``.

    The values that stand in for the layer's outputs may be read only by code that collects outputs.
    """
    stand_ins = {name for item in owner.body for name in stored(item)}
    users = [item for item in code.following(owner) if stand_ins & names(item)]
    unless = _collecting(users)
    if not users or not unless or any(not isinstance(item, ast.If) for item in users):
        return None
    if any(code.is_read_later(users[-1], name) and name not in _outputs(owner.orelse) for name in stand_ins):
        return None
    row, part = owner.lineno, owner.orelse
    if last_row(owner.test) != row or first_row(owner.body[0]) == row or code.is_elif(owner):
        return None
    written[row] = (f"{code.indentation(owner)}if {unless} and {flag}:",)
    rows, first = (first_row(part[0]), last_row(owner)), _initial(code, first, flag)
    return _BlockSkip(first, users[-1], part, rows, flag, written, indent=code.indentation(part[0]))


def _outputs(part: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements bind before they read them."""
    read: set[str] = set()
    outputs: set[str] = set()
    for item in part:
        own = (node for node in nodes_of(ast.Name, item))
        read |= {node.id for node in own if isinstance(node.ctx, ast.Load)}
        outputs |= bound(item) - read
    return outputs


def _initial(code: ParsedFile, first: ast.stmt, flag: str) -> ast.stmt:
    """Return the last statement before ``first`` that sets a flag to false.

    Return ``first`` if there is no such statement.
    """
    block = code.block(first)
    before = [item for item in block[: block.index(first)] if _sets_flag(item, value=False)]
    return next((item for item in reversed(before) if flag in stored(item)), first)


def _collecting(statements: Sequence[ast.stmt]) -> str:
    """Return the condition under which statements collect outputs, or "".

    Example: ``output_attentions`` for ``if output_attentions:``. If outputs are collected, a skipped layer
    adds nothing to them, which the choice by a tensor cannot express.
    """
    asked = [item for item in statements if isinstance(item, ast.If) and not item.orelse]
    found = dict.fromkeys(item.test.id for item in asked if isinstance(item.test, ast.Name))
    changed = {name for item in statements for name in stored(item)}
    text = "" if changed & found.keys() else " or ".join(found)
    return f"({text})" if len(found) > 1 else text


def _decided(code: ParsedFile, owner: ast.If, flag: str, test: str) -> dict[int, tuple[str, ...]]:
    """Return new lines that assign a branch's condition to the flag, by row."""
    written: dict[int, tuple[str, ...]] = dict.fromkeys(range(owner.lineno, last_row(owner) + 1), ())
    comment = "".join(f"  {text}" for text in code.comments(owner.lineno, owner.lineno))
    written[owner.lineno] = (f"{code.indentation(owner)}{flag} = {bracketed(test)}{comment}",)
    return written


def _other(code: ParsedFile, test: ast.expr, flag: str, *, negated: bool) -> str | None:
    """Return the further condition under which a part is skipped, or ``None``.

    Return ``None`` if the test does not test the flag.
    """
    kind = ast.Or if negated else ast.And
    is_several = isinstance(test, ast.BoolOp) and isinstance(test.op, kind)
    first, *others = test.values if is_several and isinstance(test, ast.BoolOp) else [test]
    if negated:
        if not isinstance(first, ast.UnaryOp) or not isinstance(first.op, ast.Not):
            return None
        first = first.operand
    if not isinstance(first, ast.Name) or first.id != flag or any(flag in names(item) for item in others):
        return None
    texts = [code.operand(item) if negated else code.text(item) for item in others]
    return " and ".join(f"not {text}" if negated else text for text in texts)


def _is_drawn(code: ParsedFile, skip: _BlockSkip) -> bool:
    """Tell whether the block draws a random number before the part.

    If it does not, the branch is an ordinary one.
    """
    block = code.block(skip.first)
    before = block[: block.index(skip.part[0]) if skip.part[0] in block else block.index(skip.last)]
    return any(called(node) in RANDOM for item in before for node in ast.walk(item))


def _edit(code: ParsedFile, skip: _BlockSkip) -> Edit | None:
    """Rewrite the block: compute the flag as a tensor, run the part, choose results.

    The part runs unconditionally. Return ``None`` if this is impossible.
    """
    if any(isinstance(node, _LEAVES) for item in skip.part for node in ast.walk(item)):
        return None
    kept = [
        name
        for name in sorted({name for item in skip.part for name in bound(item)})
        if code.is_read_later(skip.last, name) and code.is_bound_before(skip.first, name)
    ]
    if not kept or skip.flag in kept or not code.is_first(skip.first):
        return None
    indent, unit = skip.indent or code.indentation(skip.first), code.unit(skip.part[0])
    before = {name: code.new_name(f"{name}_before") for name in kept}
    where = code.of_torch("torch.where")
    chosen = [f"{name} = {where}({skip.flag}, {before[name]}, {name})" for name in kept]
    asked = [] if skip.is_drawn else [f"{skip.flag} is not False"]
    asked += [skip.also] if skip.also else []
    if asked:
        chosen = [f"if {' and '.join(asked)}:", *(f"{unit}{line}" for line in chosen)]
    lines: list[str] = []
    for row in range(first_row(skip.first), last_row(skip.last) + 1):
        if row == skip.rows[0]:
            lines += [f"{indent}{new} = {name}" for name, new in before.items()]
        lines += skip.written.get(row, (code.source.line(row),))
        if row == skip.rows[1]:
            lines += [f"{indent}{line}" for line in chosen]
    last = skip.last
    end = Span(
        code.source.filename,
        first_row(skip.first),
        1,
        last_row(last),
        len(code.source.line(last_row(last))) + 1,
    )
    return Edit(end, "\n".join(lines))


def _begin(code: ParsedFile, statement: ast.stmt) -> int:
    """Return the first non-blank row after a statement."""
    row = last_row(statement) + 1
    while not code.source.line(row).strip():
        row += 1
    return row


def _sets_flag(statement: ast.stmt, *, value: bool) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and [*map(type, statement.targets)] == [ast.Name]
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is value
    )
