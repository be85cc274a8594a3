"""Side effects of expressions, and conditions written as tensors.

Side effects are judged by the syntax alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ...workspace.syntax import called, dotted, nodes_of
from .syntax import ParsedFile

_CHANGING = frozenset(
    {
        "append", "extend", "insert", "pop", "popitem", "remove", "clear", "update", "add", "discard",
        "setdefault", "sort", "reverse", "write", "send", "close", "print", "input", "open", "exec",
        "eval", "next", "setattr", "delattr", "backward", "step", "zero_grad", "register_hook", "put",
        "get_nowait", "manual_seed", "seed", "cuda_synchronize", "synchronize", "info", "debug",
        "warning", "warn", "error", "exception", "log",
    }
)  # fmt: skip
RANDOM = frozenset(
    {
        "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
        "bernoulli", "multinomial", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
        "poisson", "random", "uniform", "choice", "shuffle", "sample", "rsample",
    }
)  # fmt: skip
_FUNCTIONS = frozenset(
    {
        "abs", "min", "max", "sum", "len", "float", "int", "bool", "round", "pow", "tuple", "list",
        "range", "zip", "enumerate",
    }
)  # fmt: skip
_MODULES = ("torch", "F", "np", "numpy", "math", "functional", "nn", "torch_functional")
_BOOLEAN = frozenset(
    {
        "any", "all", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_and", "logical_or",
        "logical_not", "logical_xor", "eq", "ne", "lt", "le", "gt", "ge", "equal", "isclose", "allclose",
        "isin", "is_nonzero", "signbit", "less", "greater", "less_equal", "greater_equal",
    }
)  # fmt: skip


WIDTH = 100
"""The longest new line, in columns; longer calls are written with one argument per line."""


def is_pure(node: ast.AST) -> bool:
    """Tell whether a node may be evaluated any number of times.

    Only the time for the evaluation may differ.
    """
    for item in ast.walk(node):
        if isinstance(item, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda)):
            return False
        if isinstance(item, ast.Call) and not _is_pure_call(item):
            return False
    return True


def may_run_twice(node: ast.AST) -> bool:
    """Tell whether a node has no side effects, except on module buffers and dropout."""
    for item in ast.walk(node):
        if isinstance(item, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)):
            return False
        if isinstance(item, ast.Call):
            name = called(item)
            if name in _CHANGING or _writes(name) or any(word.arg == "out" for word in item.keywords):
                return False
    return True


def is_changing(node: ast.AST) -> bool:
    """Tell whether a node is a call that changes something, by its name."""
    return isinstance(node, ast.Call) and (called(node) in _CHANGING or _writes(called(node)))


def may_run_always(node: ast.AST) -> bool:
    """Tell whether a node has no side effects, except on tensors and dropout."""
    return not any(
        isinstance(item, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await))
        or (isinstance(item, ast.Call) and called(item) in _CHANGING)
        for item in ast.walk(node)
    )


def condition(code: ParsedFile, node: ast.expr) -> str:
    """Return a condition as a boolean tensor; "" if it is certainly not on a tensor."""
    inner = plain(node)
    if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        text = condition(code, inner.operand)
        return f"torch.logical_not({text.removesuffix(' != 0')})" if text else ""
    if isinstance(inner, ast.BoolOp):
        parts = [condition(code, value) for value in inner.values]
        sign = " & " if isinstance(inner.op, ast.And) else " | "
        return sign.join(map(beside, parts)) if all(parts) else ""
    if is_python(inner):
        return ""
    if called(inner) == "equal" and isinstance(inner, ast.Call) and dotted(inner.func) == "torch.equal":
        if len(inner.args) != 2 or inner.keywords:
            return ""
        return f"({code.operand(inner.args[0])} == {code.operand(inner.args[1])}).all()"
    text = code.text(inner, without_conversions(code, inner))
    if called(inner) == "allclose" and isinstance(inner, ast.Call):
        return text.replace("allclose", "isclose", 1) + ".all()"
    if isinstance(inner, ast.Compare):
        return text if len(inner.ops) == 1 else ""
    if called(inner) in _BOOLEAN or _is_mask(inner):
        return text
    return f"{code.operand(inner, without_conversions(code, inner))} != 0"


def wrapped(line: str, width: int) -> list[str]:
    """Return a statement of one line, or, if the line is too long and a call, its arguments on further lines.

    They share one line if they fit into it.
    """
    body = ast.parse(line).body if len(line) > width and "\n" not in line else []
    call = getattr(body[0], "value", None) if len(body) == 1 else None
    if not isinstance(call, ast.Call) or not call.args or call.keywords or call.end_col_offset != len(line):
        return [line]
    arguments = [str(ast.get_source_segment(line, item)) for item in call.args]
    together = f"    {', '.join(arguments)}"
    rows = [together] if len(together) <= width else [f"    {item}," for item in arguments]
    return [f"{line[: call.func.end_col_offset]}(", *rows, ")"]


def beside(text: str) -> str:
    """Return an expression as an operand, in parentheses if needed.

    Names, attributes, calls and subscripts need none.
    """
    tight = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    is_tight = "\n" not in text and isinstance(ast.parse(text, mode="eval").body, tight)
    return text if is_tight else f"({text})"


def is_python(node: ast.expr) -> bool:
    """Tell whether a condition does not depend on the values of a tensor."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_python(node.operand)
    if isinstance(node, ast.BoolOp):
        return all(is_python(value) for value in node.values)
    if isinstance(node, ast.Constant) or called(node) in ("isinstance", "hasattr", "callable", "len"):
        return True
    if isinstance(node, ast.Attribute):
        return node.attr in ("training", "requires_grad", "is_cuda", "is_sparse")
    if isinstance(node, ast.Compare):
        if any(isinstance(sign, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for sign in node.ops):
            return True
        sides = (node.left, *node.comparators)
        return any(map(_is_metadata, sides)) and not any(map(_is_of_elements, sides))
    return called(node) in ("dim", "size", "numel", "is_floating_point", "is_contiguous", "is_compiling")


def plain(node: ast.expr) -> ast.expr:
    """Return ``x`` for ``bool(x)`` and ``x.item()``; return any other node unchanged."""
    while isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            node = node.func.value
        elif dotted(node.func) == "bool" and len(node.args) == 1:
            node = node.args[0]
        else:
            break
    return node


def without_conversions(code: ParsedFile, node: ast.expr) -> Mapping[ast.AST, str]:
    """Map the conversions in a node to the text of the tensors that they convert.

    ``item()`` is such a conversion.
    """
    found: dict[ast.AST, str] = {}
    for item in ast.walk(node):
        is_call = isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute)
        if is_call and item is not node and plain(item) is not item:  # type: ignore[arg-type]
            inside = [outer for outer in found if item in ast.walk(outer)]
            if not inside:
                found[item] = code.operand(plain(item))  # type: ignore[arg-type]
    return found


def _is_pure_call(call: ast.Call) -> bool:
    name = called(call)
    if not name or name in _CHANGING or name in RANDOM or _writes(name):
        return False
    if any(word.arg in ("out", None) for word in call.keywords):
        return False
    if isinstance(call.func, ast.Name):
        return name in _FUNCTIONS
    if dotted(call.func).partition(".")[0] in _MODULES:
        return True
    return isinstance(call.func, ast.Attribute) and is_tensor_method(call.func)


def assigned_once(code: ParsedFile, function: ast.AST | None) -> dict[str, ast.Assign]:
    """Return the assignments of the variables that a function assigns once, by variable."""
    stores: dict[str, list[ast.Name]] = {}
    for item in nodes_of(ast.Name, function):
        if isinstance(item.ctx, ast.Store):
            stores.setdefault(item.id, []).append(item)
    parents = {key: code.parent(items[0]) for key, items in stores.items() if len(items) == 1}
    return {
        key: item
        for key, item in parents.items()
        if isinstance(item, ast.Assign) and item.targets == stores[key]
    }


def is_count(code: ParsedFile, node: ast.AST, name: str) -> bool:
    """Tell whether a variable is certainly a whole number: it counts where a comparison holds."""
    known = assigned_once(code, code.function(node))
    counted = plain(known[name].value) if name in known else None
    if not isinstance(counted, ast.Call) or not isinstance(counted.func, ast.Attribute):
        return False
    mask: ast.expr = counted.func.value
    if isinstance(mask, ast.Name) and mask.id in known:
        mask = known[mask.id].value
    return counted.func.attr == "count_nonzero" or (
        counted.func.attr == "sum" and isinstance(mask, ast.Compare)
    )


def is_tensor_method(function: ast.Attribute) -> bool:
    """Tell whether an attribute is a tensor method.

    ``self.weight.sum`` is one, but not ``self.sum``.
    """
    return function.attr in _TENSOR_METHODS | _BOOLEAN and dotted(function.value) != "self"


_TENSOR_METHODS = frozenset(
    {
        "abs", "add", "any", "all", "amax", "amin", "argmax", "argmin", "bool", "chunk", "clamp", "clone",
        "contiguous", "cos", "cpu", "cumsum", "detach", "dim", "div", "double", "eq", "exp", "expand",
        "flatten", "float", "gather", "ge", "gt", "half", "index_select", "int", "isfinite", "isinf",
        "isnan", "item", "le", "log", "long", "lt", "masked_fill", "max", "mean", "min", "mm", "matmul",
        "mul", "ne", "neg", "new_zeros", "norm", "permute", "pow", "prod", "reshape", "round", "select",
        "sigmoid", "sign", "sin", "relu", "rsqrt", "reciprocal", "floor", "ceil", "trunc", "logsumexp", "tan",
        "atan", "sinh", "cosh", "erf", "log1p", "expm1", "log2", "log10", "frac", "fmod", "remainder", "bmm",
        "dot", "outer", "cross", "median", "quantile", "kthvalue", "topk", "argsort", "cumprod", "cummax",
        "cummin", "diff", "roll", "flip", "tril", "triu", "diag", "diagonal", "trace", "nan_to_num", "lerp",
        "clip", "maximum", "minimum", "masked_select", "new_ones", "new_full", "new_empty", "new_tensor",
        "expand_as", "view_as", "reshape_as", "repeat", "repeat_interleave", "scatter", "index_fill",
        "nonzero", "count_nonzero", "numel", "element_size", "numpy", "tolist", "nansum", "nanmean", "ndim",
        "conj", "swapaxes", "movedim", "narrow", "true_divide", "floor_divide", "hardtanh", "absolute",
        "negative", "prelu", "unflatten", "ravel", "tile", "bfloat16", "byte", "short", "cuda", "sinc",
        "logit", "erfinv", "std_mean", "var_mean", "addmm", "baddbmm", "mv", "addcmul", "addcdiv", "det",
        "inverse", "log_softmax", "heaviside", "hypot", "copysign", "bincount", "histc", "unique", "masked",
        "is_floating_point", "is_complex", "get", "items", "keys", "values", "upper", "lower", "size",
        "softmax", "sort", "split", "sqrt", "square", "squeeze", "std",
        "sub", "sum", "t", "tanh", "to", "transpose", "type", "unbind", "unsqueeze", "var", "view",
        "where",
    }
)  # fmt: skip


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_metadata(node: ast.expr) -> bool:
    """Tell whether one side of a comparison is a shape, a type, a device or a string."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(inner, ast.Attribute) and inner.attr in ("shape", "dtype", "device", "ndim", "layout"):
        return True
    return called(inner) in ("size", "dim", "numel", "len") or (
        isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )


def _is_of_elements(node: ast.expr) -> bool:
    """Tell whether one side of a comparison is a call of a tensor method such as ``max``."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and is_tensor_method(node.func) and not _is_metadata(node)  # type: ignore[attr-defined]


def _is_mask(node: ast.expr) -> bool:
    """Tell whether an expression is a comparison or combines booleans by operators."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return any(
            isinstance(side, ast.Compare) or called(side) in _BOOLEAN for side in (node.left, node.right)
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return True
    return isinstance(node, ast.Compare)
