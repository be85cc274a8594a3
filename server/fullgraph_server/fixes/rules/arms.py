"""The arms of a branch, and code that computes both arms and chooses a result."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...workspace.syntax import dotted, free, last_row, names
from .syntax import ParsedFile, bracketed

_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_NO_TENSORS = (ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.Tuple)


@dataclass(frozen=True)
class ArmAssignment:
    """An assignment to a variable, or to an attribute with a dotted name."""

    target: str
    value: ast.expr
    statement: ast.stmt
    sign: str = ""
    """The operator of an assignment like ``x += 1``."""

    def text(self, code: ParsedFile, renamed: Mapping[str, str] | None = None) -> str:
        """Return the value as source text, with some variables renamed."""
        names = renamed or {}
        target, value = names.get(self.target, self.target), code.renamed(self.value, names)
        if not self.sign:
            return value
        is_tight = isinstance(self.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
        return f"{target} {self.sign} {value if is_tight else f'({value})'}"

    @property
    def reads(self) -> set[str]:
        """The variables that the value is computed from."""
        return free(self.value) | ({self.target} if self.sign else set())


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
            lines.append(f"{target}.copy_({text})" if self.in_place else f"{target} = {text}")
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
        step = _step(statement)
        if step is None:
            return None
        steps.append(step)
    return BranchArm(tuple(steps))


def _step(statement: ast.stmt) -> ArmAssignment | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value, sign = statement.targets[0], statement.value, ""
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in _SIGNS:
        target, value, sign = statement.target, statement.value, _SIGNS[type(statement.op)]
    else:
        return None
    name = dotted(target)
    return ArmAssignment(name, value, statement, sign) if name else None


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
            if "." in target or code.is_read_later(last, target) or _reads_inside(code, owner, last, target)
        )
        if not carried:
            return None
    for target in carried:
        last_steps = [arm.of(target) for arm in arms]
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
            if step.target in seen or step.reads & (seen & set(wanted)) or step.reads & other:
                return False
            seen.add(step.target)
        for value in arm.returned or ():
            if free(value) & other:
                return False
    for index, carried_target in enumerate(wanted):
        for later in wanted[index + 1 :]:
            others = [item for item in (arm.of(later) for arm in arms) if item is not None]
            if any(carried_target.partition(".")[0] in other_step.reads for other_step in others):
                return False
    return True
