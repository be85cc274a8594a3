"""Fixes for branches that depend on the data of tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...workspace.syntax import called, dotted, free, last_row, names, nodes_of
from ..model import Edit, Fix
from .arms import BranchArm, BranchChoice, chosen, is_no_tensor, predicated, read_arm
from .expressions import (
    WIDTH,
    beside,
    condition,
    is_count,
    is_pure,
    may_run_always,
    may_run_twice,
    plain,
    wrapped,
)
from .offering import INDEX, node_rule, quoted
from .printing import is_output, later_as_numbers
from .syntax import ParsedFile, bracketed

_WHERE = Fix(
    "where",
    "Choose with `torch.where`",
    "Both branches are computed, and the result is chosen element by element.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.where.html",
)
_WHERE_OF_LAYERS = replace(
    _WHERE,
    rule="where-layers",
    change="Both branches run: layers of the branch not taken update their state and draw random numbers, "
    "too.",
    safety="unsafe",
)
_ALWAYS = Fix(
    "always",
    "Run the lines without the condition",
    "The lines also run where the condition is false; there, they change nothing.",
    "safe",
    INDEX,
)
_OF_NOTHING = (
    "Without elements, they compute nothing, but parameters that they use have a zero gradient instead of "
    "none, and a sum of nothing times infinity is NaN."
)
_WRITTEN = "Attributes are other tensors after each call, and values are converted before they are written."
_COND = Fix(
    "cond",
    "Branch with `torch.cond`",
    "Both branches are compiled, and one of them runs.",
    "safe",
    "https://docs.pytorch.org/docs/stable/cond.html",
)
_LOOP = Fix(
    "while-loop",
    "Loop with torch's `while_loop`",
    "The loop is compiled as a whole; gradients do not flow through it.",
    source="torch/_higher_order_ops/while_loop.py",
)
_ASSERT = Fix(
    "assert-async",
    "Check with `torch._assert_async`",
    "It raises a `RuntimeError`; on a GPU, it raises later than here.",
    source="torch/_dynamo/symbolic_convert.py",
    errors_differ=True,
)
_MESSAGE = Fix(
    "constant-message",
    "Write the message without values",
    "The message of the error no longer shows values; compiled code raises a `RuntimeError`.",
    source="torch/_dynamo/symbolic_convert.py",
    errors_differ=True,
)
_SKIP = Fix(
    "skip-when-compiling",
    "Skip the check where the code is compiled",
    "Compiled code goes on as if the condition were false.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_compiling.html",
)


@dataclass(frozen=True)
class _BranchTest:
    """A condition: ``guards`` that Python evaluates first, and a test on a tensor.

    ``text`` is the source of the tensor test.
    """

    guards: tuple[ast.expr, ...]
    text: str


def of_condition(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer replacements for a branch, loop or assertion that depends on tensor data."""
    whole = _whole_test(code, node)
    owner = code.parent(whole)
    if isinstance(owner, ast.IfExp) and owner.test is whole:
        yield from _expression(code, owner)
    elif isinstance(owner, ast.If) and owner.test is whole:
        yield from _without_skip(code, owner)
        test = _test(code, whole, node)
        if test is not None:
            yield from _statement(code, owner, test)
        if test is not None and test.guards and not owner.orelse:
            skipped = f"not {code.of_torch('torch.compiler.is_compiling()')} and "
            yield replace(_SKIP, edits=(code.ahead(whole, skipped), *code.importing_torch()))
    elif isinstance(owner, ast.While) and owner.test is whole:
        yield from _loop(code, owner)
    elif isinstance(owner, ast.Assert) and owner.test is whole:
        yield from _assertion(code, owner, _BranchTest((), condition(code, whole)), owner.msg)


branches = node_rule(ast.expr)(of_condition)


def _whole_test(code: ParsedFile, node: ast.expr) -> ast.expr:
    """Return the whole condition that contains a value."""
    inner = node
    while True:
        outer = code.parent(inner)
        is_part = isinstance(outer, ast.BoolOp) or (
            isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)
        )
        is_compared = isinstance(outer, ast.Compare)
        is_converted = (
            (
                isinstance(outer, ast.Call)
                and (plain(outer) is plain(inner) or isinstance(outer.func, ast.Attribute))
            )
            or isinstance(outer, ast.Attribute)
        ) and isinstance(outer, ast.expr)
        if isinstance(outer, ast.expr) and (is_part or is_compared or is_converted):
            inner = outer
        else:
            return inner


def _test(code: ParsedFile, whole: ast.expr, node: ast.expr) -> _BranchTest | None:
    """Split a condition into the parts Python evaluates first and the tensor test."""
    if isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.And):
        index = next((i for i, value in enumerate(whole.values) if node in ast.walk(value)), 0)
        parts = [condition(code, value) for value in whole.values[index:]]
        if not all(parts):
            return None
        text = parts[0] if len(parts) == 1 else " & ".join(map(beside, parts))
        return _BranchTest(tuple(whole.values[:index]), text)
    text = condition(code, whole)
    return _BranchTest((), text) if text else None


# -- if ------------------------------------------------------------------------------------------------


def _statement(code: ParsedFile, owner: ast.If, test: _BranchTest) -> Iterator[Fix]:
    if len(owner.body) == 1 and isinstance(owner.body[0], ast.Raise) and not owner.orelse:
        error = owner.body[0].exc
        message = error.args[0] if isinstance(error, ast.Call) and len(error.args) == 1 else None
        failed = replace(test, text=f"torch.logical_not({test.text})")
        yield from _assertion(code, owner, failed, message)
        return
    outputs = [item for item in owner.body if is_output(item)]
    if not outputs:
        yield from _arm_choices(code, owner, test, owner.body)
        return
    if owner.orelse or test.guards or code.is_elif(owner) or not all(map(code.is_alone, outputs)):
        return
    others = [item for item in owner.body if item not in outputs]
    nothing = replace(_ALWAYS, edits=_replaced(code, owner, owner, (), []))
    for fix in _arm_choices(code, owner, test, others) if others else [nothing]:
        yield _with_outputs(code, owner, outputs, fix)


def _with_outputs(code: ParsedFile, owner: ast.If, outputs: Sequence[ast.stmt], fix: Fix) -> Fix:
    """Add the printing and logging of a branch to its fix, for uncompiled code only."""
    indent, unit = code.indentation(owner), code.unit(owner.body[0])
    is_loose = isinstance(owner.test, (ast.BoolOp, ast.IfExp)) or "\n" in code.text(owner.test)
    test = code.operand(owner.test) if is_loose else code.text(owner.test)
    lines = [f"if not {code.of_torch('torch.compiler.is_compiling()')} and {test}:"]
    lines += [f"{unit}{code.text(item)}" for item in outputs]
    first, *imports = fix.edits
    rest = f"\n{indent}{first.text}" if first.text else ""
    text = f"\n{indent}".join(lines) + rest
    change = fix.change if first.text else "The branch remains where the code is not compiled."
    return replace(
        fix,
        rule=fix.rule if first.text else "print-uncompiled",
        title=fix.title if first.text else "Print only where the code is not compiled",
        change=f"{change} Compiled code no longer prints or logs this.",
        safety="unsafe",
        edits=(replace(first, text=text), *imports),
        prints_differ=True,
    )


def _arm_choices(
    code: ParsedFile, owner: ast.If, test: _BranchTest, body: Sequence[ast.stmt]
) -> Iterator[Fix]:
    """Offer to choose between the arms of a branch; ``body`` is the first arm."""
    last: ast.stmt = owner
    orelse: Sequence[ast.stmt] = owner.orelse
    following = code.following(owner)
    if not orelse and following and isinstance(body[-1], (ast.Return, ast.Continue)):
        returns = isinstance(body[-1], ast.Return) and body[-1].value is not None
        if returns and not isinstance(following[-1], ast.Return):
            return
        orelse, last = following, following[-1]
        if not returns:
            body = body[:-1]
            if isinstance(owner.body[-1], ast.Return) and not _ends_function(code, owner):
                return
        if test.guards or code.is_elif(owner):
            return
    if test.guards and orelse:
        return
    arms = read_arm(body), read_arm(orelse)
    choices: list[Fix] = []
    if arms[0] is not None and arms[1] is not None:
        choices = list(_choice(code, owner, last, test, (arms[0], arms[1])))
    if not test.guards:
        yield from _always(code, owner, body)
    yield from choices
    if not choices and not test.guards and (lines := predicated(code, owner, body)):
        text = ast.parse("\n".join(lines))
        is_safe = all(is_pure(item.value) for item in nodes_of(ast.Assign, text))
        written = [line.partition(" = ")[0] for line in lines if not line.partition(" = ")[0].isidentifier()]
        told = _WRITTEN if written else ""
        base = _noticed(_WHERE if is_safe else _WHERE_OF_LAYERS, told, _broadcast(owner))
        yield replace(base, edits=_replaced(code, owner, owner, (), lines))
    if arms[0] is not None and arms[1] is None and last is owner and not test.guards:
        yield from _other_first(code, owner, test, arms[0])


def _noticed(fix: Fix, *changes: str) -> Fix:
    """Return a fix with what other code may notice of it; unsafe if there is anything."""
    told = " ".join(filter(None, (fix.change, *changes)))
    return replace(fix, change=told, safety="unsafe") if any(changes) else fix


def _broadcast(owner: ast.If | ast.IfExp) -> str:
    """Return a sentence if the condition compares whole tensors, which then may have other shapes."""
    whole = any(called(item) in ("equal", "allclose") for item in nodes_of(ast.Call, owner.test))
    return "Tensors of different shapes are compared element by element." if whole else ""


def _always(code: ParsedFile, owner: ast.If, body: Sequence[ast.stmt]) -> Iterator[Fix]:
    """Run the statements of an ``if`` always.

    This is right if they change nothing where the condition is false, as in ``if bad.any(): x[bad] = 0``.
    """
    if not body:
        return
    indent, unit = code.indentation(owner), code.unit(body[0])
    kept = [code.source.line(row) for item in body for row in range(item.lineno, last_row(item) + 1)]
    asks_for_some = any(called(item) in ("any", "all") for item in nodes_of(ast.Call, owner.test))
    is_related = asks_for_some and any(names(owner.test) & free(item) for item in body)
    is_simple = all(isinstance(item, (ast.Assign, ast.AugAssign, ast.Expr)) for item in body)
    if owner.orelse or code.is_elif(owner) or owner.body[0].lineno == owner.lineno or not is_related:
        return
    if not is_simple or not all(map(may_run_always, body)) or not code.is_alone(body[-1]):
        return
    if all(line.startswith(indent + unit) or not line.strip() for line in kept):
        lines = [line.replace(indent + unit, "", 1) for line in kept]
        writes = any(
            isinstance(item.ctx, ast.Store) for part in body for item in nodes_of(ast.Subscript, part)
        )
        change = "A write to no elements may raise an error, too." if writes else ""
        yield replace(_noticed(_ALWAYS, change), edits=_replaced(code, owner, owner, (), lines))


def _without_skip(code: ParsedFile, owner: ast.If) -> Iterator[Fix]:
    """Remove an ``if x.numel() == 0: continue``, if the rest of the turn changes nothing without elements.

    The edit contains the rest, so that a trial compares it.
    """
    following = code.following(owner)
    is_skip = len(owner.body) == 1 and isinstance(owner.body[0], ast.Continue) and not owner.orelse
    if not is_skip or code.is_elif(owner) or not following or not _is_of_none(plain(owner.test)):
        return
    last, end = following[-1], code.span(following[-1])
    rows = [code.source.line(row) for row in range(last_row(owner) + 1, end.end_row + 1)]
    if code.is_first(owner) and code.is_first(following[0]) and code.is_alone(owner.body[0]):
        rows[-1] = rows[-1][: end.end_column - 1]
        indent = code.indentation(owner)
        kept = [f"{indent}{comment}" for comment in code.comments(owner.lineno, last_row(owner))]
        text = "\n".join((*kept, *rows)).lstrip()
        yield replace(_noticed(_ALWAYS, _OF_NOTHING), edits=(code.replaced(owner, text, last),))


def _is_of_none(test: ast.expr) -> bool:
    """Tell whether a condition holds if there are no elements: ``x.numel() == 0``, ``not mask.any()``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return called(plain(test.operand)) in ("any", "numel", "len")
    if not isinstance(test, ast.Compare) or not ast.unparse(test).endswith(" == 0"):
        return False
    return called(plain(test.left)) in ("numel", "len", "size")


def _ends_function(code: ParsedFile, owner: ast.If) -> bool:
    """Tell whether a branch is in the block of its function, and nothing after it returns a value."""
    returns = (item for part in code.following(owner) for item in nodes_of(ast.Return, part))
    return isinstance(code.parent(owner), (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(returns)


def _other_first(code: ParsedFile, owner: ast.If, test: _BranchTest, arm: BranchArm) -> Iterator[Fix]:
    """Compute the first arm, run the whole ``else``, then choose between the results.

    This is for an ``else`` that has further branches.
    """
    simple = (ast.Assign, ast.AugAssign, ast.If, ast.Pass)
    inside = [item for part in owner.orelse for item in nodes_of(ast.stmt, part)]
    values = [part for step in arm.steps for part in step.parts]
    is_simple = all(isinstance(item, simple) for item in inside) and all(map(is_pure, values))
    if not is_simple or not arm.steps or arm.returned is not None or not all(map(may_run_twice, inside)):
        return
    if code.is_elif(owner) or not code.is_alone(owner.orelse[-1]):
        return
    rows = range(owner.orelse[0].lineno, last_row(owner) + 1)
    unit, indent = code.unit(owner.body[0]), code.indentation(owner)
    kept = [code.source.line(row) for row in rows]
    if code.is_elif(owner.orelse[0]):
        kept = [kept[0].replace("elif", "if", 1), *kept[1:]]
    elif all(line.startswith(indent + unit) or not line.strip() for line in kept):
        kept = [line.replace(unit, "", 1) for line in kept]
    else:
        return
    taken = code.new_name("taken")
    new = {step.target: code.new_name(f"{step.target.rpartition('.')[2]}_if") for step in arm.steps}
    lines = [f"{taken} = {bracketed(test.text)}"]
    lines += [f"{new[step.target]} = {bracketed(step.text(code))}" for step in arm.steps]
    lines += [line.removeprefix(indent) for line in kept]
    lines += [f"{target} = torch.where({taken}, {name}, {target})" for target, name in new.items()]
    edits = _replaced(code, owner, owner, (), lines)
    yield replace(_WHERE, edits=edits)


def _choice(
    code: ParsedFile, owner: ast.If, last: ast.stmt, test: _BranchTest, arms: tuple[BranchArm, BranchArm]
) -> Iterator[Fix]:
    values = [part for arm in arms for step in arm.steps for part in step.parts]
    values += [value for arm in arms for value in arm.returned or ()]
    change = chosen(code, owner, last, arms)
    if change is None or not all(map(may_run_twice, values)):
        return
    pure = all(map(is_pure, values))
    base = _noticed(_WHERE if pure else _WHERE_OF_LAYERS, change.changes, _broadcast(owner))
    for way in change.ways() if pure else [change]:
        every = way.lines(test.text, _by_where)
        for lines in _without_items(every):
            for written in (lines, *_without_zero(code, owner.test, lines)):
                edits = _replaced(code, owner, last, test.guards, written)
                yield replace(base, edits=(*edits, *_printed(code, last, change)))
    if change.is_inline:
        lines = change.lines(test.text, _by_cond)
        yield replace(_COND, edits=_replaced(code, owner, last, test.guards, lines))


def _without_zero(code: ParsedFile, test: ast.expr, lines: Sequence[str]) -> Iterator[list[str]]:
    """Divide by one in place of a divisor that the branch rules out, such as zero.

    A division by zero would make the gradient NaN, even in the arm that is not taken. Yield nothing if no
    line has such a divisor.
    """
    inner = plain(test)
    is_compared = isinstance(inner, ast.Compare) and isinstance(inner.comparators[0], ast.Constant)
    name = dotted(inner.left if isinstance(inner, ast.Compare) and is_compared else inner)
    pattern = re.compile(rf"/ {re.escape(name)}(?![\w.(\[])")
    safe = [f"{name}.masked_fill({name} == 0, 1)"]
    if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], (ast.Gt, ast.GtE)):
        is_positive = ast.unparse(inner) in (f"{name} > 0", f"{name} >= 1") and is_count(code, test, name)
        safe = [f"{name}.clamp(min=1)"] * is_positive + [f"torch.where({ast.unparse(inner)}, {name}, 1)"]
    if name and any(map(pattern.search, lines)):
        yield from ([pattern.sub(f"/ {divisor}", line) for line in lines] for divisor in safe)


def _without_items(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield lines in which the numbers of tensors stay tensors, with and without gradient."""
    if not any(".item()" in line for line in lines):
        yield list(lines)
        return
    for kept in ("", ".detach()"):
        yield [line.replace(".item()", kept) for line in lines]


def _printed(code: ParsedFile, last: ast.stmt, change: BranchChoice) -> Iterator[Edit]:
    """Yield edits of later output, which prints as numbers what the arms count."""
    for target in change.carried:
        if kind := _kind_of_number(code.function(last), change, target):
            yield from later_as_numbers(code, last, target, kind)


def _kind_of_number(function: ast.AST | None, change: BranchChoice, target: str) -> str:
    """Return ``int`` or ``float`` for a variable that begins as such a constant and is counted; else "".

    An ``int`` stays one only if constants are added.
    """
    steps = [step for arm in change.arms for step in arm.steps if step.target == target]
    first = [
        item.value.value
        for item in nodes_of(ast.Assign, function)
        if [dotted(one) for one in item.targets] == [target] and isinstance(item.value, ast.Constant)
    ]
    added = [step.value.value if isinstance(step.value, ast.Constant) else None for step in steps]
    if not steps or not all(step.sign for step in steps) or len(first) != 1:
        return ""
    if isinstance(first[0], float):
        return "float"
    return "int" if type(first[0]) is int and all(type(item) is int for item in added) else ""


def _by_where(taken: str, first: str, second: str) -> str:
    return f"torch.where({taken}, {first}, {second})"


def _by_cond(taken: str, first: str, second: str) -> str:
    return f"torch.cond({taken}, lambda: {_fresh(first)}, lambda: {_fresh(second)})"


def _fresh(text: str) -> str:
    """Return the text of a result of a ``torch.cond`` branch.

    The branch must not return an existing tensor itself.
    """
    if text in ("True", "False") or text.isdigit():
        return f"torch.tensor({text})"
    is_name = all(part.isidentifier() for part in text.split("."))
    return f"{text}.clone()" if is_name else text


def _replaced(
    code: ParsedFile, owner: ast.stmt, last: ast.stmt, guards: Sequence[ast.expr], lines: Sequence[str]
) -> tuple[Edit, ...]:
    """Replace statements by new lines under the guards; preserve comments."""
    end_row = last_row(last)
    indent, text = code.indentation(owner), "\n".join(lines)
    rows = (owner.lineno, end_row - 1)
    kept = [comment for comment in code.comments(*rows) if comment not in text]
    unit, head = code.unit(owner.body[0]) if isinstance(owner, ast.If) else "    ", ""
    if code.is_elif(owner):
        head, indent = f"else:\n{indent}{unit}", indent + unit
    if guards:
        asked = " and ".join(_asked(code, guard) for guard in guards)
        head, indent = f"{head}if {asked}:\n{indent}{unit}", indent + unit
    written = [*kept, *(row for line in lines for row in wrapped(line, WIDTH - len(indent)))]
    span = replace(code.span(owner), end_row=end_row, end_column=code.span(last).end_column)
    edit = Edit(span, head + code.of_torch(f"\n{indent}".join(written)))
    return (edit, *code.importing_torch())


def _asked(code: ParsedFile, guard: ast.expr) -> str:
    text = code.text(guard)
    return f"({text})" if isinstance(guard, (ast.BoolOp, ast.IfExp, ast.Lambda)) or "\n" in text else text


# -- others --------------------------------------------------------------------------------------------


def _expression(code: ParsedFile, owner: ast.IfExp) -> Iterator[Fix]:
    text = condition(code, owner.test)
    arms = (owner.body, owner.orelse)
    if not text or not all(map(may_run_twice, arms)) or any(map(is_no_tensor, arms)):
        return
    pure = all(map(is_pure, arms))
    first, second = map(code.argument, arms)
    for base, write in ((_WHERE if pure else _WHERE_OF_LAYERS, _by_where), (_COND, _by_cond)):
        edit = code.replaced(owner, code.of_torch(write(text, first, second)))
        yield replace(_noticed(base, _broadcast(owner)), edits=(edit, *code.importing_torch()))


@node_rule(ast.Call, is_value=True)
def tensor_checks(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Replace ``torch._check_tensor_all(cond)`` by ``torch._assert_async``.

    The replaced call reads a number from the tensor.
    """
    if called(node) == "_check_tensor_all" and len(node.args) == 1 and not node.keywords:
        text = f"{dotted(node.func).rpartition('.')[0]}._assert_async({code.operand(node.args[0])}.all())"
        # The call computes nothing, and libraries call it in compiled code only.
        yield replace(_ASSERT, edits=(code.replaced(node, text),), replaces=False)


def _assertion(
    code: ParsedFile, owner: ast.stmt, test: _BranchTest, message: ast.expr | None
) -> Iterator[Fix]:
    if not test.text:
        return
    text = _constant_text(message)
    if isinstance(owner, ast.Assert) and isinstance(message, ast.JoinedStr) and text:
        yield replace(_MESSAGE, edits=(code.replaced(message, quoted(text)),))
    line = f"torch._assert_async({test.text}{text and f', {quoted(text)}'})"
    yield replace(_ASSERT, edits=_replaced(code, owner, owner, test.guards, [line]))


def _constant_text(message: ast.expr | None) -> str:
    """Return the text of a message; of an f-string, the text before its first value."""
    first = message.values[0] if isinstance(message, ast.JoinedStr) and message.values else message
    text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return text if first is message else text.rstrip(" :,=([{<'\"-")


def _loop(code: ParsedFile, owner: ast.While) -> Iterator[Fix]:
    """Rewrite a ``while`` loop that repeatedly computes one tensor from itself."""
    arm = read_arm(owner.body)
    text = condition(code, owner.test)
    if arm is None or arm.returned is not None or owner.orelse or len(arm.steps) != 1 or not text:
        return
    (step,) = arm.steps
    if not step.target.isidentifier() or not is_pure(step.value) or not is_pure(owner.test):
        return
    name = step.target
    line = f"({name},) = while_loop(lambda {name}: {text}, lambda {name}: ({step.text(code)},), ({name},))"
    imported = code.imported("from torch._higher_order_ops import while_loop")
    edits = _replaced(code, owner, owner, (), [line])
    yield replace(_LOOP, edits=(edits[0], imported))
