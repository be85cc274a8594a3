"""Fixes for operations whose output size depends on data.

Examples are indexing with a mask and ``repeat_interleave``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ...workspace.syntax import called, dotted, last_row, nodes_of
from ..model import Fix
from .arms import SIGNS
from .expressions import beside, condition, is_pure, is_tensor_method
from .offering import node_rule, setting
from .syntax import ParsedFile, parameters

_SHAPES = Fix(
    "capture-dynamic-shapes",
    "Let torch capture operations whose size depends on data",
    "The setting holds for everything that is compiled afterwards.",
    "safe",
    "torch/_dynamo/config.py",
    replaces=False,
)
_FILL = Fix(
    "masked-fill",
    "Write through the mask without an index",
    "All elements are computed, and the mask selects among them.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.where.html",
)
_SUM = replace(
    _FILL,
    rule="masked-sum",
    title="Sum over the mask with `torch.where`",
    change="All elements are summed, with zero outside of the mask.",
)
_ELEMENTS = replace(
    _FILL,
    change="All elements are computed, and the mask selects among them. "
    "The mask must have as many dimensions as in this run.",
    safety="unsafe",
)
_REDUCE = replace(
    _ELEMENTS,
    rule="masked-reduction",
    title="Compute all elements, and leave out those outside of the mask",
    change="All elements are computed, with zero outside of the mask. "
    "The mask must have as many dimensions as in this run.",
)
_LOSSES: Final = frozenset({
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "gaussian_nll_loss",
    "huber_loss", "kl_div", "l1_loss", "mse_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss",
    "soft_margin_loss",
})  # fmt: skip
"""Functions of ``torch.nn.functional`` that have ``reduction="none"``."""
_NEW: Final = frozenset({
    "abs", "all", "any", "argmax", "argmin", "clamp", "clone", "empty", "empty_like", "exp", "full",
    "full_like", "isnan", "max", "maximum", "mean", "min", "minimum", "ones", "ones_like",
    "prod", "rand", "rand_like", "randn", "randn_like", "sigmoid", "softmax", "sqrt", "std", "sum", "tanh",
    "var", "where", "zeros", "zeros_like",
})  # fmt: skip
"""Functions and methods of torch that always return a new tensor."""
_OF_CLASSES: Final = ("cross_entropy", "nll_loss")
_REDUCTIONS: Final = ("sum", "mean")
_REDUCED: Final[Mapping[str, tuple[Fix, str]]] = {
    "sum": (_SUM, "0"),
    "prod": (
        replace(
            _SUM,
            rule="masked-product",
            title="Multiply over the mask with `torch.where`",
            change="All elements are multiplied, with one outside of the mask.",
        ),
        "1",
    ),
    **{
        name: (
            replace(
                _SUM,
                rule=f"masked-{name}",
                title=f"Apply `{name}` under the mask with `torch.where`",
                change=f"`{name}` tests all elements, with {number} outside of the mask.",
            ),
            number,
        )
        for name, number in (("any", "0"), ("all", "1"))
    },
}
"""By reduction of a selection: its fix, and the neutral element of the reduction."""
_MEAN = replace(
    _SUM,
    rule="masked-mean",
    title="Average over the mask with `torch.where`",
    change="All elements are summed, with zero outside of the mask, and divided by the number under it.",
)
_COUNT = Fix(
    "count-nonzero",
    "Count with `count_nonzero`",
    "The number stays a tensor instead of a Python number.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.count_nonzero.html",
)
_MASK = replace(
    _FILL,
    rule="mask-index",
    title="Write through the mask itself",
    change="The mask chooses the elements, instead of their indices.",
)
_REPEATED = Fix(
    "repeat-output-size",
    "Pass the size of the output",
    "A separate operation computes the number of elements from the data.",
    "safe",
    "https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html",
)
_INDEX_ADD = Fix(
    "index-add",
    "Count with `index_add_`",
    "There are as many counts as the sum has; a larger number raises an error.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
    raises_more=True,
)
_BINCOUNT = Fix(
    "scatter-bincount",
    "Count with `scatter_add`",
    "There are as many counts as `minlength` says; a larger number raises an error.",
    source="https://docs.pytorch.org/docs/stable/generated/torch.scatter_add.html",
    raises_more=True,
)


@node_rule(ast.expr, is_value=True)
def shapes(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer fixes for graph breaks at ``nonzero``, masks as indices and similar code."""
    found = _selection(code, node)
    if found is not None:
        yield from _selected(code, found)
        if isinstance(found.node, ast.Subscript):
            yield from _masked_write(code, found.node)
            yield from _masked_reduction(code, found.node)
    yield from _indexed(code, node)
    yield from _sized(code, node)
    yield from _counted(code, node)
    yield from _repeated(code, node)
    dynamic = setting(code, "capture_dynamic_output_shape_ops")
    if dynamic is not None:
        yield replace(_SHAPES, edits=(dynamic,))
        if setting(code, "capture_scalar_outputs") is not None:
            both = "torch._dynamo.config.capture_scalar_outputs = True"
            text = dynamic.text.rstrip("\n") + f"\n{code.of_torch(both)}\n"
            yield replace(_SHAPES, edits=(replace(dynamic, text=text),))


@node_rule(ast.expr, is_value=True)
def assigned(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Offer to write ``x[mask] = value`` without an index.

    The size of the index's gradient depends on data.
    """
    statement = code.statement(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    (target,) = statement.targets
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, (ast.Name, ast.Attribute)):
        return
    into, mask = code.operand(target.value), code.text(target.slice)
    for shaped in _shaped(mask):
        choice = f"torch.where({shaped}, {code.argument(statement.value)}, {into})"
        for text, owned in _written(code, statement, target.value, choice):
            edits = (code.replaced(statement, text), *code.importing_torch())
            yield replace(_FILL, edits=edits, owned=owned)


def _shaped(mask: str) -> Iterator[str]:
    """Yield a mask for a tensor with as many dimensions, and with one to three more."""
    yield mask
    yield f"{beside(mask)}.unsqueeze(-1)"
    yield from (f"{beside(mask)}[...{', None' * more}]" for more in (2, 3))


def _written(code: ParsedFile, statement: ast.stmt, node: ast.expr, choice: str) -> Iterator[tuple[str, str]]:
    """Yield statements that give a tensor new elements, each with the variable that alone holds the tensor.

    These are assignments if there is such a variable, or if the tensor is a slice of another one.
    """
    into, is_slice = code.text(node), _is_slice(node)
    is_own = not is_slice and _is_own(code, statement, into)
    if is_slice or is_own:
        yield code.of_torch(f"{into} = {choice}"), into if is_own else ""
    if not is_slice:
        yield code.of_torch(f"{into}.copy_({choice})"), ""


def _is_slice(node: ast.expr) -> bool:
    """Tell whether an expression is a slice such as ``x[:, t]``, a view of ``x``."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    kinds = (ast.Slice, ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp)
    return any(isinstance(item, ast.Slice) for item in items) and all(
        isinstance(item, kinds) for item in items
    )


def _is_own(code: ParsedFile, statement: ast.stmt, name: str) -> bool:
    """Tell whether a variable of the function holds a new tensor that no other variable or object holds.

    Every use must be known: an operand, an argument of an operation that makes a new tensor, or a result.
    """
    function = code.function(statement)
    if function is None or not name.isidentifier() or name in parameters(function):
        return False
    is_repeated = any(isinstance(item, (ast.For, ast.While)) for item in code.around(statement))
    inside = set(ast.walk(statement))
    shared = (ast.Global, ast.Nonlocal)
    if any(name in item.names for item in ast.walk(function) if isinstance(item, shared)):
        return False
    for node in (item for item in nodes_of(ast.Name, function) if item.id == name):
        if code.function(node) is not function or any(isinstance(x, ast.Lambda) for x in code.around(node)):
            return False
        is_later = node.lineno > last_row(statement) and not is_repeated
        if not isinstance(node.ctx, ast.Load):
            if not _is_bound_to_new(code, node):
                return False
        elif not is_later and node not in inside and not _is_only_read(code, node):
            return False
    return True


def _is_bound_to_new(code: ParsedFile, node: ast.Name) -> bool:
    """Tell whether a statement binds only this variable, to a tensor that nothing else holds."""
    outer = code.parent(node)
    if isinstance(outer, ast.AugAssign):
        return True
    targets = outer.targets if isinstance(outer, ast.Assign) else [getattr(outer, "target", None)]
    value = outer.value if isinstance(outer, (ast.Assign, ast.AnnAssign)) and targets == [node] else None
    owner = (
        value.func.value if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else None
    )
    is_method = isinstance(owner, ast.Name) and owner.id != "self"
    return isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare)) or (is_method and called(value) in _NEW)


def _is_only_read(code: ParsedFile, node: ast.Name) -> bool:
    """Tell whether a use of a tensor makes a new tensor, or returns it."""
    outer = code.parent(node)
    if isinstance(outer, ast.Attribute):  # a method
        call = code.parent(outer)
        return isinstance(call, ast.Call) and call.func is outer and outer.attr in _NEW
    if isinstance(outer, ast.Call):
        return dotted(outer.func).partition(".")[0] in (code.torch, "torch", "F") and called(outer) in _NEW
    return isinstance(outer, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Return))


@dataclass(frozen=True)
class _MaskSelection:
    """An expression that selects elements of ``value`` by a ``mask``.

    ``value`` and ``mask`` are source texts.
    """

    node: ast.expr
    value: str
    mask: str
    is_pure: bool


def _selection(code: ParsedFile, node: ast.expr) -> _MaskSelection | None:
    """Parse ``x[mask]``, ``x[mask.nonzero(as_tuple=True)]`` or ``masked_select``."""
    outer = code.parent(node)
    inner = _nonzero(node)
    if inner is not None and isinstance(outer, ast.Subscript) and outer.slice is node:
        return _MaskSelection(outer, code.operand(outer.value), _as_mask(code, inner), is_pure(inner))
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, (ast.Slice, ast.Tuple, ast.Constant)):
            return None
        mask = code.argument(node.slice)
        return _MaskSelection(node, code.operand(node.value), mask, is_pure(node.slice))
    if called(node) == "masked_select" and isinstance(node, ast.Call) and not node.keywords:
        given = list(node.args)
        if isinstance(node.func, ast.Attribute) and dotted(node.func.value) != (code.torch or "torch"):
            given.insert(0, node.func.value)
        if len(given) == 2:
            value, mask = code.operand(given[0]), code.argument(given[1])
            return _MaskSelection(node, value, mask, is_pure(given[1]))
    return None


def _nonzero(node: ast.AST) -> ast.expr | None:
    """Return the mask of ``mask.nonzero(as_tuple=True)`` or ``torch.where(mask)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if called(node) == "where" and len(node.args) == 1 and not node.keywords:
        return node.args[0]
    words = {word.arg: word.value for word in node.keywords}
    wanted = words.pop("as_tuple", None)
    is_tuple = isinstance(wanted, ast.Constant) and wanted.value is True
    if called(node) != "nonzero" or words or not is_tuple:
        return None
    return node.args[0] if len(node.args) == 1 else node.func.value if not node.args else None


def _as_mask(code: ParsedFile, node: ast.expr) -> str:
    """Return a mask as a tensor of booleans."""
    return condition(code, node) or f"{code.operand(node)} != 0"


def _selected(code: ParsedFile, found: _MaskSelection) -> Iterator[Fix]:
    """Offer to compute a reduction of selected elements on all elements."""
    uses = _uses(code, found.node)
    methods = {_reduction(code, item) for item in uses}
    if len(methods) != 1:
        return
    (method,) = methods
    if method in _REDUCED:
        fix, neutral = _REDUCED[method]
        text = code.of_torch(f"torch.where({found.mask}, {found.value}, {neutral})")
        yield replace(fix, edits=(code.replaced(found.node, text), *code.importing_torch()))
    elif method == "mean" and uses == [found.node] and found.is_pure and _is_name(found.value):
        call = code.parent(code.parent(found.node) or found.node)
        assert isinstance(call, ast.Call)
        # `mean` of half precision adds in single precision, `sum` rounds to half, which may overflow.
        wide = f"dtype=torch.promote_types({found.value}.dtype, torch.float32)"
        total = f"torch.where({found.mask}, {found.value}, 0).sum({wide})"
        text = code.of_torch(f"({total} / {beside(found.mask)}.sum()).to({found.value}.dtype)")
        yield replace(_MEAN, edits=(code.replaced(call, text), *code.importing_torch()))


def _is_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _uses(code: ParsedFile, node: ast.expr) -> list[ast.expr]:
    """Return the uses of a value: the node itself, or the reads of its variable.

    The variable's reads are returned only if the variable holds no other value.
    """
    parent = code.parent(node)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return [node]
    name = dotted(parent.targets[0])
    function = code.function(node) or code.tree
    named = [item for item in nodes_of(ast.Name, function) if item.id == name]
    reads: list[ast.expr] = [item for item in named if isinstance(item.ctx, ast.Load)]
    return reads if name.isidentifier() and len(named) == len(reads) + 1 else [node]


def _reduction(code: ParsedFile, node: ast.expr) -> str:
    """Return the method called on a value without arguments; "" for any other use."""
    method = code.parent(node)
    call = code.parent(method) if method is not None else None
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        return ""
    return "" if call.args or call.keywords else method.attr


def _indexed(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Rewrite ``x[mask.nonzero(as_tuple=True)] = y`` as ``x[mask] = y``."""
    outer, mask = code.parent(node), _nonzero(node)
    if mask is not None and isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Store):
        yield replace(_MASK, edits=(code.replaced(node, _as_mask(code, mask)), *code.importing_torch()))


def _sized(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Rewrite ``len(x.nonzero())`` with ``count_nonzero``.

    ``x.nonzero().shape[0]`` and ``x.nonzero().size(0)`` are rewritten, too.
    """
    if called(node) != "nonzero" or not isinstance(node, ast.Call) or node.keywords:
        return
    if not isinstance(node.func, ast.Attribute) or len(node.args) > 1:
        return
    value = node.args[0] if node.args else node.func.value
    outer = code.parent(node)
    whole: ast.AST | None = None
    if isinstance(outer, ast.Call) and dotted(outer.func) == "len":
        whole = outer
    elif isinstance(outer, ast.Attribute):
        whole = code.parent(outer)
    if isinstance(whole, (ast.Call, ast.Subscript)):
        written = ast.unparse(whole).removeprefix(ast.unparse(node))
        if whole is outer or written in (".shape[0]", ".size(0)"):
            yield replace(_COUNT, edits=(code.replaced(whole, f"{code.operand(value)}.count_nonzero()"),))


def _repeated(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Pass ``output_size`` to ``repeat_interleave``."""
    if called(node) != "repeat_interleave" or not isinstance(node, ast.Call):
        return
    is_function = isinstance(node.func, ast.Attribute) and dotted(node.func.value) == (code.torch or "torch")
    words = {word.arg: word.value for word in node.keywords}
    given = node.args[1 if is_function and len(node.args) > 1 else 0 :]
    repeats = words.get("repeats") or (given[0] if given else None)
    scalars = setting(code, "capture_scalar_outputs")
    if repeats is None or "output_size" in words or None in words or not is_pure(repeats) or scalars is None:
        return
    if not isinstance(repeats, (ast.Constant, ast.Starred)):
        size = code.appended(node, f"output_size=int({code.operand(repeats)}.sum())")
        yield replace(_REPEATED, edits=(scalars, size))


def _counted(code: ParsedFile, node: ast.expr) -> Iterator[Fix]:
    """Rewrite ``torch.bincount(x, minlength=n)`` with ``scatter_add``, and its sum with ``index_add_``."""
    if called(node) != "bincount" or not isinstance(node, ast.Call):
        return
    values = {word.arg: word.value for word in node.keywords}
    if set(values) != {"minlength"} or len(node.args) > 1:
        return
    counted = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    if counted is None or not is_pure(counted):
        return
    owner, size = code.operand(counted), code.argument(values["minlength"])
    added = code.parent(node)
    if isinstance(added, ast.AugAssign) and isinstance(added.op, ast.Add) and dotted(added.target):
        total = code.text(added.target)
        ones = code.of_torch(f"torch.ones_like({owner}, dtype={total}.dtype)")
        edit = code.replaced(added, f"{total}.index_add_(0, {code.argument(counted)}, {ones})")
        yield replace(_INDEX_ADD, edits=(edit, *code.importing_torch()))
    text = (
        f"torch.zeros({size}, dtype=torch.long, device={owner}.device)"
        f".scatter_add(0, {owner}, torch.ones_like({owner}))"
    )
    yield replace(_BINCOUNT, edits=(code.replaced(node, code.of_torch(text)), *code.importing_torch()))


# -- computations on selected elements ------------------------------------------------------------------


@dataclass(frozen=True)
class _MaskedReduction:
    """A sum or mean of an expression on selected elements.

    ``loss`` is the call of a loss function, or ``None`` if ``node`` is ``value.sum()`` or ``value.mean()``.
    """

    node: ast.Call
    value: ast.expr
    is_mean: bool
    loss: ast.Call | None = None


def _masked_reduction(code: ParsedFile, selection: ast.Subscript) -> Iterator[Fix]:
    """Rewrite a sum or mean of selected elements, such as ``(a[mask] - b[mask]).abs().mean()``."""
    found = _reduction_around(code, selection)
    if found is None or not is_pure(found.value):
        return
    mask = code.text(selection.slice)
    inside = _selections(code, found.value, mask)
    bases: dict[ast.AST, str] = {item: code.operand(item.value) for item in inside}
    zeros: dict[ast.AST, str] = {item: f"torch.where({{mask}}, {base}, 0)" for item, base in bases.items()}
    for shaped, size in ((mask, ""), (f"{beside(mask)}.unsqueeze(-1)", _last_size(code, selection))):
        count = f"{beside(mask)}.sum(){size and f' * {size}'}"
        for text in _texts(code, found, bases, zeros, shaped):
            whole = f"{text} / {f'({count})' if size else count}" if found.is_mean else text
            edit = code.replaced(found.node, code.of_torch(_within(code, found.node, whole)))
            yield replace(_REDUCE, edits=(edit, *code.importing_torch()))


def _masked_write(code: ParsedFile, selection: ast.Subscript) -> Iterator[Fix]:
    """Rewrite ``x[mask] = f(x[mask], y[mask])`` and ``x[mask] *= y`` without indices."""
    statement = code.statement(selection)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, sign = statement.targets[0], ""
    elif isinstance(statement, ast.AugAssign):
        target, sign = statement.target, SIGNS[type(statement.op)]
    else:
        return
    mask = code.text(selection.slice)
    if not isinstance(target, ast.Subscript) or code.text(target.slice) != mask or not is_pure(target.value):
        return
    into = code.text(target.value)
    found = _selections(code, statement.value, mask)
    inside: dict[ast.AST, str] = {item: code.operand(item.value) for item in found}
    value = code.argument(statement.value, inside)
    if sign:
        tight = isinstance(statement.value, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.UnaryOp))
        value = f"{into} {sign} {value if tight else f'({value})'}"
    for shaped in _shaped(mask):
        choice = f"torch.where({shaped}, {value}, {into})"
        for text, owned in _written(code, statement, target.value, choice):
            edits = (code.replaced(statement, text), *code.importing_torch())
            yield replace(_ELEMENTS, edits=edits, owned=owned)


def _reduction_around(code: ParsedFile, node: ast.expr) -> _MaskedReduction | None:
    """Return the reduction that contains a selection, with only element-wise code between."""
    inner: ast.AST = node
    for outer in code.around(code.parent(node) or node):
        if isinstance(outer, ast.Call):
            name = called(outer)
            if name in _LOSSES and inner is not outer.func:
                how = next((word.value for word in outer.keywords if word.arg == "reduction"), None)
                kind = how.value if isinstance(how, ast.Constant) else "mean" if how is None else ""
                return _MaskedReduction(outer, outer, kind == "mean", outer) if kind in _REDUCTIONS else None
            if name in _REDUCTIONS and not outer.args and not outer.keywords:
                assert isinstance(outer.func, ast.Attribute)
                return _MaskedReduction(outer, outer.func.value, name == "mean")
            is_method = isinstance(outer.func, ast.Attribute) and is_tensor_method(outer.func)
            if not (is_method or dotted(outer.func).partition(".")[0] in ("torch", "F")):
                return None
        elif not isinstance(outer, (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.keyword)):
            return None
        inner = outer
    return None


def _selections(code: ParsedFile, node: ast.AST, mask: str) -> list[ast.Subscript]:
    return [item for item in nodes_of(ast.Subscript, node) if code.text(item.slice) == mask]


def _texts(
    code: ParsedFile,
    found: _MaskedReduction,
    bases: Mapping[ast.AST, str],
    zeros: Mapping[ast.AST, str],
    mask: str,
) -> Iterator[str]:
    """Yield the sum over the mask, in several ways.

    The first way sets the inputs to zero, so that NaN outside of the mask reaches no gradient. It is right
    only if the result is zero there; the last way sets both to zero.
    """
    masked = {item: text.format(mask=mask) for item, text in zeros.items()}
    if found.loss is None:
        yield f"{code.operand(found.value, masked)}.sum()"
        yield f"torch.where({mask}, {code.argument(found.value, bases)}, 0).sum()"
        yield f"torch.where({mask}, {code.argument(found.value, masked)}, 0).sum()"
        return
    if called(found.loss) not in _OF_CLASSES:
        yield _with_reduction(code, found.loss, masked, "sum")
        for inner in (bases, masked):
            yield f"torch.where({mask}, {_with_reduction(code, found.loss, inner, 'none')}, 0).sum()"
        return
    targets = {item: masked[item] if item in found.loss.args[1:] else bases[item] for item in bases}
    yield f"torch.where({mask}, {_with_reduction(code, found.loss, targets, 'none')}, 0).sum()"


def _with_reduction(code: ParsedFile, loss: ast.Call, inner: Mapping[ast.AST, str], reduction: str) -> str:
    given = next((word.value for word in loss.keywords if word.arg == "reduction"), None)
    if given is not None:
        return code.text(loss, {**inner, given: f'"{reduction}"'})
    return f'{code.text(loss, inner)[:-1].rstrip().removesuffix(",")}, reduction="{reduction}")'


def _last_size(code: ParsedFile, selection: ast.Subscript) -> str:
    return f"{code.operand(selection.value)}.shape[-1]"


def _within(code: ParsedFile, node: ast.expr, text: str) -> str:
    """Return a quotient in parentheses if it is part of an expression."""
    outer = code.parent(node)
    is_operand = isinstance(outer, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Compare))
    return f"({text})" if is_operand and " / " in text else text
