"""The arms of a branch, and code that computes both arms and chooses a result.

Arms that assign the same variables become one choice for each variable. In any other branch, each statement
is written so that it takes effect only where the condition holds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...workspace.syntax import dotted, free, last_row, names, nodes_of
from .expressions import beside, condition, is_pure, may_run_twice
from .syntax import ParsedFile, bracketed

SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_IN_PLACE = frozenset({
    "abs", "add", "addcdiv", "addcmul", "clamp", "clip", "div", "exp", "index_add", "index_copy",
    "index_fill", "lerp", "log", "masked_fill", "mul", "neg", "pow", "relu", "round", "scatter",
    "scatter_add", "sqrt", "sub", "tanh",
})  # fmt: skip
"""Methods of tensors that have an in-place variant with the same arguments."""
_MOST_STATEMENTS = 16
"""The most statements of a branch that is written without branches."""
_NO_TENSORS = (ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.Tuple)


@dataclass(frozen=True)
class ArmAssignment:
    """An assignment to a variable, or to an attribute with a dotted name."""

    target: str
    value: ast.expr
    statement: ast.stmt
    sign: str = ""
    """The operator of an assignment like ``x += 1``."""
    method: str = ""
    """The method that computes the value of an in-place call: ``lerp`` for ``x.lerp_(y, 0.1)``."""

    @property
    def is_in_place(self) -> bool:
        """Whether the statement is a call like ``x.copy_(y)``, which writes into a tensor."""
        return isinstance(self.statement, ast.Expr)

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """The expressions that the new value is computed from."""
        if self.method and isinstance(self.value, ast.Call) and isinstance(self.value.func, ast.Attribute):
            words = (word.value for word in self.value.keywords)
            return self.value.func.value, *self.value.args, *words
        return (self.value,)

    def text(self, code: ParsedFile, renamed: Mapping[str, str] | None = None) -> str:
        """Return the value as source text, with some variables renamed."""
        names = renamed or {}
        target, value = names.get(self.target, self.target), code.renamed(self.value, names)
        if self.method and isinstance(self.value, ast.Call):
            return f"{target}.{self.method}{value[len(code.renamed(self.value.func, names)) :]}"
        if not self.sign:
            return value
        is_tight = isinstance(self.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
        return f"{target} {self.sign} {value if is_tight else f'({value})'}"

    @property
    def reads(self) -> set[str]:
        """The variables and dotted names that the value is computed from.

        A call of a method of an object (``self.norm(x)``) may read every attribute: ``self.*``.
        """
        parts = ast.Tuple(list(self.parts), ast.Load())
        paths = {dotted(node) for node in nodes_of(ast.Attribute, parts)} - {""}
        own = (dotted(node.func) for node in nodes_of(ast.Call, parts) if not is_pure(node))
        every = {f"{path.partition('.')[0]}.*" for path in own if "." in path}
        return free(parts) | paths | every | ({self.target} if self.sign else set())

    def conflicts(self, targets: Iterable[str]) -> bool:
        """Tell whether the value is computed from one of some targets."""
        reads = self.reads
        return any(
            target in reads or ("." in target and f"{target.partition('.')[0]}.*" in reads)
            for target in targets
        )


@dataclass(frozen=True)
class BranchArm:
    """The assignments of one arm of a branch, and the values that the arm returns.

    ``returned`` is ``None`` if the arm does not return.
    """

    steps: tuple[ArmAssignment, ...]
    returned: tuple[ast.expr, ...] | None = None
    is_tuple: bool = False

    def of(self, target: str) -> ArmAssignment | None:
        """Return the last assignment to ``target``; ``None`` if there is none."""
        return next((step for step in reversed(self.steps) if step.target == target), None)


@dataclass(frozen=True)
class BranchChoice:
    """A rewritten branch: its two arms, and the targets that later code reads.

    ``carried`` are these targets.
    """

    code: ParsedFile
    arms: tuple[BranchArm, BranchArm]
    carried: tuple[str, ...]
    is_inline: bool
    taken: str
    """The variable that holds the condition; empty if no variable is needed."""
    in_place: bool = False

    def ways(self) -> Iterator[BranchChoice]:
        """Yield the ways to write the branch.

        If all assignments are in place (``x += 1``), writing in place comes first.
        """
        steps = [step for arm in self.arms for step in arm.steps if step.target in self.carried]
        if self.is_inline and steps and all(step.sign for step in steps):
            yield replace(self, in_place=True)
        yield self

    def _steps(self, target: str) -> Iterator[ArmAssignment]:
        return (step for arm in self.arms for step in arm.steps if step.target == target)

    @property
    def changes(self) -> str:
        """What other code may notice, as sentences; empty if nothing."""
        written = [target for target in self.carried if any(step.is_in_place for step in self._steps(target))]
        bound = [target for target in self.carried if "." in target and target not in written]
        return " ".join(
            [
                f"A value of another dtype or device than `{target}` is converted first."
                for target in written[:1]
            ]
            + [f"`{target}` is another tensor after each call." for target in bound[:1]]
        )

    def lines(self, condition: str, choose: Callable[[str, str, str], str]) -> list[str]:
        """Return the new statements, as lines.

        ``choose`` returns the source of a choice, given the condition and both values.
        """
        lines = [f"{self.taken} = {bracketed(condition)}"] if self.taken else []
        condition = self.taken or condition
        renamed: list[dict[str, str]] = [{}, {}]
        for arm, new, end in zip(self.arms, renamed, ("if", "else"), strict=True):
            for step in arm.steps:
                if self.is_inline and step.target in self.carried:
                    continue
                value = step.text(self.code, new)
                if not self.is_inline:
                    new[step.target] = self.code.new_name(f"{step.target}_{end}")
                lines.append(f"{new.get(step.target, step.target)} = {bracketed(value)}")
        for target in self.carried:
            values = []
            for arm, new in zip(self.arms, renamed, strict=True):
                found = arm.of(target)
                inline = found.text(self.code) if found and self.is_inline else new.get(target, target)
                values.append(inline)
            text = choose(condition, *values)
            is_written = self.in_place or any(step.is_in_place for step in self._steps(target))
            lines.append(f"{target}.copy_({text})" if is_written else f"{target} = {text}")
        returned = [arm.returned for arm in self.arms]
        if returned[0] is not None and returned[1] is not None:
            pairs = zip(*returned, strict=True)
            texts = [choose(condition, *map(self.code.renamed, pair, renamed)) for pair in pairs]
            lines.append(
                f"return {', '.join(texts)}{',' if self.arms[0].is_tuple and len(texts) == 1 else ''}"
            )
        return lines


def read_arm(block: Sequence[ast.stmt]) -> BranchArm | None:
    """Parse an arm as assignments; ``None`` if it contains any other statement."""
    steps: list[ArmAssignment] = []
    for statement in block:
        if isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.Return) and statement is block[-1] and statement.value is not None:
            is_tuple = isinstance(statement.value, ast.Tuple)
            values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            if any(isinstance(value, ast.Starred) or is_no_tensor(value) for value in values):
                return None
            return BranchArm(tuple(steps), tuple(values), is_tuple)
        parsed = read_steps(statement)
        if not parsed:
            return None
        steps += parsed
    return BranchArm(tuple(steps))


def read_steps(statement: ast.stmt) -> list[ArmAssignment]:
    """Parse a statement as assignments, such as ``a, b = x, y``; empty if it is something else."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        step = read_step(statement)
        return [step] if step is not None else []
    pairs = list(zip(target.elts, value.elts, strict=False))
    steps = [ArmAssignment(dotted(item), each, statement) for item, each in pairs]
    starred = any(isinstance(item, ast.Starred) for item in (*target.elts, *value.elts))
    targets = [step.target for step in steps]
    is_apart = all(targets) and not any(step.conflicts(targets) for step in steps)
    return steps if is_apart and not starred and len(target.elts) == len(value.elts) else []


def read_step(statement: ast.stmt) -> ArmAssignment | None:
    """Parse a statement as an assignment; ``None`` for any other statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value, sign = statement.targets[0], statement.value, ""
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in SIGNS:
        target, value, sign = statement.target, statement.value, SIGNS[type(statement.op)]
    else:
        return _in_place(statement)
    name = dotted(target)
    return ArmAssignment(name, value, statement, sign) if name else None


def _in_place(statement: ast.stmt) -> ArmAssignment | None:
    """Parse a call such as ``x.copy_(y)`` or ``x.lerp_(y, 0.1)`` as an assignment."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name, method = dotted(call.func.value), call.func.attr
    if not name:
        return None
    if method in ("copy_", "fill_") and len(call.args) == 1 and not call.keywords:
        return ArmAssignment(name, call.args[0], statement)
    if method.removesuffix("_") in _IN_PLACE and method.endswith("_"):
        return ArmAssignment(name, call, statement, method=method.removesuffix("_"))
    return None


def is_no_tensor(node: ast.expr) -> bool:
    """Tell whether a value is certainly neither a tensor nor a number."""
    is_word = isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, complex))
    return isinstance(node, _NO_TENSORS) or is_word


def chosen(
    code: ParsedFile, owner: ast.stmt, last: ast.stmt, arms: tuple[BranchArm, BranchArm]
) -> BranchChoice | None:
    """Return how to compute both arms and choose; ``None`` if this is impossible."""
    returned = [arm.returned for arm in arms]
    if (returned[0] is None) != (returned[1] is None):
        return None
    if len(returned[0] or ()) != len(returned[1] or ()) or arms[0].is_tuple != arms[1].is_tuple:
        return None
    targets = dict.fromkeys(step.target for arm in arms for step in arm.steps)
    if returned[0] is not None:
        carried: tuple[str, ...] = ()
        if any("." in target for target in targets):
            return None
    else:
        carried = tuple(
            target
            for target in targets
            if "." in target
            or any(step.is_in_place for arm in arms for step in arm.steps if step.target == target)
            or code.is_read_later(last, target)
            or _reads_inside(code, owner, last, target)
        )
        if not carried:
            return None
    for target in carried:
        last_steps = [arm.of(target) for arm in arms]
        if len({step.is_in_place for arm in arms for step in arm.steps if step.target == target}) > 1:
            return None
        if any(step is not None and is_no_tensor(step.value) for step in last_steps):
            return None
        if None in last_steps and "." not in target and not code.is_bound_before(owner, target):
            return None
    test_names = names(owner.test) if isinstance(owner, (ast.If, ast.While)) else set()
    inline = _is_inline(arms, carried)
    if not inline and any("." in target for target in targets):
        return None
    temporary = set(targets) - set(carried)
    needs_name = len(carried) > 1 or bool(test_names & temporary) or len(returned[0] or ()) > 1
    needs_name = needs_name or (not inline and bool(test_names & set(targets)))
    return BranchChoice(code, arms, carried, inline, code.new_name("taken") if needs_name else "")


def _reads_inside(code: ParsedFile, owner: ast.stmt, last: ast.stmt, target: str) -> bool:
    """Tell whether a later loop iteration reads a target in the rewritten statements."""
    loops = (ast.For, ast.AsyncFor, ast.While)
    function = code.function(owner)
    around = [item for item in code.around(owner) if item is not owner]
    if function is not None:
        around = around[: around.index(function)]
    if not any(isinstance(item, loops) for item in around):
        return False
    rows = range(owner.lineno, last_row(last) + 1)
    scope = function or code.tree
    return any(
        isinstance(node, ast.Name) and node.id == target and node.lineno in rows
        and (isinstance(node.ctx, ast.Load) or isinstance(code.parent(node), ast.AugAssign))
        for node in ast.walk(scope)
    )  # fmt: skip


def _is_inline(arms: tuple[BranchArm, BranchArm], carried: Iterable[str]) -> bool:
    """Tell whether each value can be written inside its choice, without new variables."""
    targets = [{step.target for step in arm.steps} for arm in arms]
    wanted = list(carried)
    temporary = [found - set(wanted) for found in targets]
    if temporary[0] & temporary[1]:
        return False
    for arm, other in ((arms[0], temporary[1]), (arms[1], temporary[0])):
        seen: set[str] = set()
        for step in arm.steps:
            if step.target in seen or step.conflicts((seen & set(wanted)) | other):
                return False
            seen.add(step.target)
        for value in arm.returned or ():
            if free(value) & other:
                return False
    for index, carried_target in enumerate(wanted):
        for later in wanted[index + 1 :]:
            others = [item for item in (arm.of(later) for arm in arms) if item is not None]
            if any(other_step.conflicts([carried_target]) for other_step in others):
                return False
    return True


# -- several statements ---------------------------------------------------------------------------------


class _UnsupportedError(Exception):
    """Raised at a statement that cannot be written without a branch."""


def predicated(code: ParsedFile, owner: ast.If, body: Sequence[ast.stmt]) -> list[str]:
    """Return the lines of a branch without branches; empty if this is impossible.

    ``body`` is the first arm. All conditions are computed first, because the statements may change what they
    are computed from.
    """
    predication = _Predication(code, owner)
    try:
        predication.branch(owner.test, body, owner.orelse, "", ())
    except _UnsupportedError:
        return []
    return [*predication.conditions, *predication.lines]


@dataclass
class _Predication:
    code: ParsedFile
    owner: ast.If
    conditions: list[str] = field(default_factory=list)
    """The lines that compute conditions."""
    lines: list[str] = field(default_factory=list)
    """The lines that take the place of the statements."""
    _used: set[str] = field(default_factory=set)

    def branch(
        self,
        test: ast.expr,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        outer: str,
        before: Sequence[str],
    ) -> None:
        """Write both arms of a branch that is reached where ``outer`` holds.

        ``before`` are the lines of the statements that ran before the branch where it is reached.
        """
        text = condition(self.code, test)
        is_flag = isinstance(test, (ast.Name, ast.Attribute))  # perhaps not a tensor
        if not text or (outer and is_flag) or not may_run_twice(test) or _may_change(before, test):
            raise _UnsupportedError
        taken = text if text.isidentifier() and not outer else self._name("taken")
        if taken != text:
            both = f"{beside(outer)} & {beside(text)}" if outer else bracketed(text)
            self.conditions.append(f"{taken} = {both}")
        self.block(body, taken, before)
        if not orelse:
            return
        inverse = f"torch.logical_not({taken})"
        if not outer and not _is_branch(orelse):
            self.block(orelse, inverse, before)
            return
        other = self._name("other")
        self.conditions.append(f"{other} = {beside(outer)} & {inverse}" if outer else f"{other} = {inverse}")
        self.block(orelse, other, before)

    def block(self, block: Sequence[ast.stmt], taken: str, before: Sequence[str]) -> None:
        """Write the statements of an arm that is reached where ``taken`` holds."""
        before = list(before)
        for statement in block:
            if isinstance(statement, ast.If):
                first = len(self.lines)
                self.branch(statement.test, statement.body, statement.orelse, taken, before)
                before += self.lines[first:]
            elif not isinstance(statement, ast.Pass):
                lines = self._statement(statement, taken)
                self.lines += lines
                before += lines
            if len(self.lines) > _MOST_STATEMENTS:
                raise _UnsupportedError

    def _statement(self, statement: ast.stmt, taken: str) -> list[str]:
        code = self.code
        if steps := read_steps(statement):
            return [self._assignment(step, taken) for step in steps]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Subscript) and dotted(target.value) and may_run_twice(statement):
            place, value = code.text(target), code.argument(statement.value)  # type: ignore[attr-defined]
            return [f"{place} = torch.where({taken}, {value}, {place})"]
        raise _UnsupportedError

    def _assignment(self, step: ArmAssignment, taken: str) -> str:
        if not all(map(may_run_twice, step.parts)) or is_no_tensor(step.value):
            raise _UnsupportedError
        value = step.text(self.code)
        if step.is_in_place:
            return f"{step.target}.copy_(torch.where({taken}, {value}, {step.target}))"
        if "." in step.target or self.code.is_bound_before(self.owner, step.target):
            return f"{step.target} = torch.where({taken}, {value}, {step.target})"
        if self.code.is_read_later(self.owner, step.target):
            raise _UnsupportedError
        return f"{step.target} = {bracketed(value)}"  # only this arm reads it

    def _name(self, stem: str) -> str:
        name = next(item for item in self._names(stem) if item not in self._used)
        self._used.add(name)
        return name

    def _names(self, stem: str) -> Iterator[str]:
        first = self.code.new_name(stem)
        yield first
        for number in range(2, 100):
            yield self.code.new_name(f"{stem}_{number}")


def _may_change(lines: Iterable[str], test: ast.expr) -> bool:
    """Tell whether lines may change what a condition is computed from.

    A write into a tensor or an object may change any value, because values share memory.
    """
    targets = [line.partition(" = ")[0] for line in lines]
    return any(not target.isidentifier() or target in names(test) for target in targets)


def _is_branch(block: Sequence[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.If) for statement in block)
