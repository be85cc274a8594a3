"""Fixes that rewrite a call in a form that torch traces."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...workspace.syntax import called, dotted
from ..model import Edit, Fix
from .offering import node_rule
from .syntax import ParsedFile

_NUMPY = Fix(
    "other-numpy",
    "Use a NumPy function that torch traces",
    "It computes the same result.",
    "safe",
    "torch/_numpy",
)
_DRAW = Fix(
    "torch-random",
    "Draw random numbers with torch",
    "Torch's generator draws different numbers than NumPy's.",
)
_KEY = Fix("keyword", "Pass the argument by name", "The call is the same.", "safe")
_COPIES = Fix("distinct-inputs", "Pass a copy the second time", "The function gets two tensors.", "safe")
_DICT = Fix("plain-dict", "Make a plain dict", "The class makes a plain dict, too.", "safe")
_GRAD = Fix(
    "requires-grad", "Test `requires_grad` instead", "A leaf tensor that requires gradients has no `grad_fn`."
)
_CONSTANT_MESSAGE = Fix(
    "constant-message", "Use a constant message", "The message no longer contains the values."
)
_FRESH = Fix("fresh-result", "Return a new tensor from the branch", "The branch returns a copy.", "safe")
_OPERANDS = Fix("operands", "Pass the operands as a tuple", "The branches get them in this order.", "safe")


_UFUNCS = {
    "add.accumulate": "cumsum",
    "add.reduce": "sum",
    "maximum.reduce": "max",
    "minimum.reduce": "min",
    "multiply.accumulate": "cumprod",
    "multiply.reduce": "prod",
}


@node_rule(ast.Call)
def numpy_calls(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Use NumPy functions that torch traces, and torch's random numbers."""
    module, _, name = dotted(node.func).partition(".")
    if name in _UFUNCS and module in ("np", "numpy") and len(node.args) == 1 and not node.keywords:
        text = f"{module}.{_UFUNCS[name]}({code.argument(node.args[0])}, axis=0)"
        yield replace(_NUMPY, edits=(code.replaced(node, text),))
    size = next((code.argument(word.value) for word in node.keywords if word.arg == "size"), "")
    drawn = {"random.uniform": "rand", "random.random": "rand", "random.normal": "randn"}.get(name, "")
    if name in ("random.rand", "random.randn") and node.args and not node.keywords:
        drawn, size = name.rpartition(".")[2], ", ".join(map(code.argument, node.args))
    elif node.args or any(word.arg != "size" for word in node.keywords):
        drawn = ""
    if drawn and size and module in ("np", "numpy"):
        call = code.of_torch(f"torch.{drawn}({size}, dtype=torch.float64)")
        outer = code.parent(node)
        if (
            isinstance(outer, ast.Call)
            and called(outer) in ("from_numpy", "as_tensor")
            and len(outer.args) == 1
        ):
            yield replace(_DRAW, edits=(code.replaced(outer, call), *code.importing_torch()))
        else:
            yield replace(_DRAW, edits=(code.replaced(node, f"{call}.numpy()"), *code.importing_torch()))


@node_rule(ast.AST)
def small_rewrites(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Rewrite one of several small patterns into a form that torch traces."""
    call = node if isinstance(node, ast.Call) else None
    if call is not None and called(call) == "groupby" and len(call.args) == 2 and not call.keywords:
        yield replace(_KEY, edits=(code.replaced(call.args[1], f"key={code.text(call.args[1])}"),))
    elif (
        call is not None and dotted(call.func) == "random.Random" and [w.arg for w in call.keywords] == ["x"]
    ):
        edit = code.replaced(call, f"random.Random({code.argument(call.keywords[0].value)})")
        yield replace(_KEY, edits=(edit,), title="Pass the seed by position")
    elif call is not None and called(call) == "apply" and (edits := _copies(code, call)):
        yield replace(_COPIES, edits=tuple(edits))
    elif isinstance(node, ast.Attribute) and node.attr == "grad_fn":
        outer = code.parent(node)
        if (
            isinstance(outer, ast.Compare)
            and len(outer.ops) == 1
            and isinstance(outer.comparators[0], ast.Constant)
        ):
            text = f"{code.operand(node.value)}.requires_grad"
            is_not = isinstance(outer.ops[0], ast.IsNot)
            yield replace(_GRAD, edits=(code.replaced(outer, text if is_not else f"not {text}"),))
    elif call is not None and called(call).startswith("_check"):
        for message in call.args[1:]:
            body = message.body if isinstance(message, ast.Lambda) else message
            if isinstance(body, ast.JoinedStr):
                parts = [str(item.value) for item in body.values if isinstance(item, ast.Constant)]
                text = repr("".join(parts).strip(" :=,"))
                yield replace(_CONSTANT_MESSAGE, edits=(code.replaced(body, text.replace("'", '"')),))


def _copies(code: ParsedFile, call: ast.Call) -> list[Edit]:
    """Pass copies of the tensors that a call passes more than once."""
    seen: set[str] = set()
    edits = []
    for argument in call.args:
        name = dotted(argument)
        if name in seen:
            edits.append(code.replaced(argument, f"{name}.clone()"))
        seen |= {name} - {""}
    return edits


@node_rule(ast.Call)
def plain_dicts(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Make a plain ``dict`` instead of a ``TypedDict``."""
    if not node.args and node.keywords and isinstance(node.func, ast.Name):
        yield replace(_DICT, edits=(code.replaced(node.func, "dict"),))


@node_rule(ast.Call)
def conditional_results(code: ParsedFile, node: ast.Call) -> Iterator[Fix]:
    """Return new tensors from branches of ``torch.cond``; pass operands as a tuple."""
    if called(node) != "cond":
        return
    for argument in node.args:
        if isinstance(argument, ast.Lambda) and isinstance(argument.body, ast.Name):
            yield replace(_FRESH, edits=(code.replaced(argument.body, f"{argument.body.id}.clone()"),))
    bodies = (item.body for item in node.args if isinstance(item, ast.Lambda))
    constants = [body for body in bodies if isinstance(body, ast.Constant) and isinstance(body.value, float)]
    if constants:
        edits = [code.replaced(item, code.of_torch(f"torch.tensor({code.text(item)})")) for item in constants]
        yield replace(_FRESH, edits=tuple(edits), change="The result is a tensor.")
    if len(node.args) == 4 and isinstance(node.args[3], (ast.Set, ast.List)):
        parts = [code.argument(item) for item in node.args[3].elts]
        text = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        yield replace(_OPERANDS, edits=(code.replaced(node.args[3], text),))


@node_rule(ast.AST)
def copied_results(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Return copies from a function that a higher-order operator calls.

    This applies if the finding is at the function's result.
    """
    if isinstance(node, ast.Call) and called(node) in ("cond", "while_loop"):
        return
    results = node.elts if isinstance(node, ast.Tuple) else [node]
    shared = [
        item for item in results
        if isinstance(item, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
        and isinstance(getattr(item, "ctx", ast.Load()), ast.Load)
    ]  # fmt: skip
    if shared:
        yield replace(
            _FRESH, edits=tuple(code.replaced(item, f"{code.text(item)}.clone()") for item in shared)
        )
