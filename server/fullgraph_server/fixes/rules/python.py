"""Fixes that replace Python code that Dynamo does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...report.model import Finding
from ...workspace.syntax import called, callee, dotted, first_row, free, names
from ..model import Edit, Fix, Rule, RuleContext
from .calls import CompiledFunction, compiled_rule, is_at_once
from .offering import INDEX, code_at, in_library, node_rule
from .syntax import Function, Node, ParsedFile, defined


def turned(name: str, value: str) -> Rule:
    """Make a rule that changes a setting of Dynamo.

    The edit is at the place where the file makes the setting, otherwise at the top of the file.
    """
    fix = Fix(
        f"config-{name.replace('_', '-')}",
        f"Set `torch._dynamo.config.{name} = {value}`",
        "The setting holds for everything that is compiled afterwards.",
        "safe",
        "torch/_dynamo/config.py",
    )

    @node_rule(ast.AST)
    def rewrite(code: ParsedFile, _: ast.AST) -> Iterator[Fix]:
        given = [word.value for call in code.all(ast.Call) for word in call.keywords if word.arg == name]
        given += [
            item.value for item in code.all(ast.Assign) if dotted(item.targets[0]).rpartition(".")[2] == name
        ]
        edits = [code.replaced(item, value) for item in given if code.text(item) != value]
        if not edits and not code.mentions(name):
            edits = [code.setting(f"torch._dynamo.config.{name} = {value}")]
        if edits:
            yield replace(fix, edits=tuple(edits), replaces=False)

    return rewrite


_RNN = turned("allow_rnn", "True")


def recurrent(finding: Finding, context: RuleContext) -> Iterator[Fix]:
    """Let torch trace RNN, GRU and LSTM if the called module may be one of these."""
    code, _ = code_at(finding, context)
    is_named = code is not None and any(code.mentions(name) for name in ("RNN", "GRU", "LSTM"))
    if is_named or in_library(finding):
        yield from _RNN(finding, context)


# -- statements ----------------------------------------------------------------------------------------

_OWN_BREAK = Fix(
    "remove-break", "Remove the graph break", "Torch no longer ends a graph here.", "safe", INDEX
)
_HEAD = Fix(
    "import-at-head",
    "Import at the top of the module",
    "The import runs when the module is imported.",
    "safe",
    INDEX,
)


@node_rule(ast.AST)
def own_breaks(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Remove a call that requests a graph break."""
    statement = code.statement(node)
    if isinstance(statement, ast.Expr) and called(statement.value) in (
        "graph_break", "skip_frame", "step_unsupported",
    ):  # fmt: skip
        yield replace(_OWN_BREAK, edits=(code.removed(statement),), replaces=False)


@node_rule(ast.AST)
def imports(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Move an import, with the ``try`` around it, to the top of the module."""
    statement = code.statement(node)
    if not isinstance(statement, (ast.Import, ast.ImportFrom)) or code.function(statement) is None:
        return
    block: ast.AST | None = code.parent(statement)
    moved: ast.stmt = statement
    if isinstance(block, ast.Try):
        if len(block.body) != 1 or block.orelse or block.finalbody or code.parent(block) is code.tree:
            return
        simple = (ast.Import, ast.ImportFrom, ast.Pass, ast.Assign)
        if not all(isinstance(item, simple) for handler in block.handlers for item in handler.body):
            return
        moved = block
    if code.statement(code.parent(moved) or code.tree) is None:
        return
    indent = code.indentation(moved)
    lines = code.text(moved).split("\n")
    text = "\n".join(line.removeprefix(indent) for line in lines)
    if not code.is_alone(moved):
        return
    yield replace(_HEAD, edits=(code.imported(text), code.removed(moved)), replaces=False)


# -- decorators ----------------------------------------------------------------------------------------

_TRACE = Fix(
    "trace-function",
    "Let torch trace the function",
    "Torch traces the function, although its author ruled that out.",
)
_MARKS = (
    "disable",
    "nonstrict_trace",
    "allow_in_graph",
    "assume_constant_result",
    "leaf_function",
    "_disable_dynamo",
)


@node_rule(ast.AST)
def disabled(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Remove the decorator that tells torch not to trace a function."""
    call = next((item for item in code.around(node) if isinstance(item, ast.Call)), None)
    name = called(call)
    for function in code.functions():
        if function.name != name:
            continue
        for decorator in function.decorator_list:
            inner = callee(decorator)
            if dotted(inner).rpartition(".")[2] in _MARKS:
                span = code.span(decorator)
                if code.source.line(span.row)[: span.column - 1].strip() == "@":
                    edit = Edit(replace(span, column=1, end_row=span.end_row + 1, end_column=1), "")
                    yield replace(_TRACE, edits=(edit,), replaces=False)
    assignment = code.statement(node)
    if isinstance(assignment, ast.Assign) and called(assignment.value) in _MARKS:
        yield replace(_TRACE, edits=(code.removed(assignment),), replaces=False)


# -- small rewrites ------------------------------------------------------------------------------------

_SUPER = Fix(
    "call-super-init", "Call `super().__init__()`", "`nn.Module` initializes the module.", "safe", INDEX
)
_BACKWARD = Fix(
    "backward-name", "Rename `vjp` to `backward`", "It is the same method, under its older name.", "safe"
)
_NO_JVP = Fix("without-jvp", "Remove `jvp`", "The function no longer has a forward-mode derivative.")
_FAKE = Fix(
    "register-fake",
    "Register a fake kernel for the operator",
    "Torch assumes that the result looks like the first tensor; if it does not, compiled code is wrong.",
    source="https://docs.pytorch.org/docs/stable/library.html",
)


@node_rule(ast.AST)
def super_init(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Insert ``super().__init__()`` into constructors of modules that do not call it."""
    own = code.definition(node)
    for cls in code.all(ast.ClassDef):
        if not any("Module" in dotted(item) for item in cls.bases):
            continue
        init = defined(cls.body, "__init__")
        if (
            init is None
            or (own is not None and own is not cls)
            or "__init__" in "".join(map(ast.unparse, init.body))
        ):
            continue
        first = next((item for item in init.body if not _is_text(item)), None)
        if first is not None and (edit := code.before(first, ["super().__init__()"])) is not None:
            yield replace(_SUPER, edits=(edit,))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@node_rule(ast.AST)
def functions_of_autograd(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Rename or remove ``autograd.Function`` derivatives that torch does not trace."""
    call = node if isinstance(node, ast.Call) else None
    owner = dotted(call.func).rpartition(".")[0] if call is not None else ""
    for cls in code.all(ast.ClassDef):
        if cls.name != owner:
            continue
        methods = {item.name: item for item in cls.body if isinstance(item, ast.FunctionDef)}
        if "vjp" in methods and "backward" not in methods:
            found = methods["vjp"]
            column = code.source.line(found.lineno).find("vjp", found.col_offset) + 1
            span = replace(code.span(found), row=found.lineno, end_row=found.lineno)
            yield replace(
                _BACKWARD, edits=(Edit(replace(span, column=column, end_column=column + 3), "backward"),)
            )
        if "jvp" in methods and "backward" in methods:
            yield replace(_NO_JVP, edits=(_whole(code, methods["jvp"]),))


def _whole(code: ParsedFile, function: Function) -> Edit:
    """Remove a definition with its decorators and the empty line before it."""
    first, span = first_row(function), code.span(function)
    while first > 1 and not code.source.line(first - 1).strip():
        first -= 1
    return Edit(replace(span, row=first, column=1, end_row=span.end_row + 1, end_column=1), "")


@node_rule(ast.AST)
def operators(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Register a fake kernel for a custom operator that returns one tensor."""
    name = called(node)
    for function in code.tree.body:
        if not isinstance(function, Function) or function.name != name:
            continue
        is_operator = any("custom_op" in code.text(item) for item in function.decorator_list)
        returns = code.text(function.returns) if function.returns is not None else ""
        given = [item for item in function.args.args if item.annotation is not None]
        tensor = next((item.arg for item in given if code.text(item.annotation).endswith("Tensor")), "")  # type: ignore[arg-type]
        if is_operator and returns.endswith("Tensor") and tensor:
            made = code.of_torch(f"torch.empty_like({tensor})")
            text = (
                f"\n\n\n@{name}.register_fake\ndef _({', '.join(item.arg for item in function.args.args)}):\n"
                f"    return {made}"
            )
            yield replace(_FAKE, edits=(code.behind(function, text), *code.importing_torch()), replaces=False)


# -- context managers -----------------------------------------------------------------------------------

_AROUND = Fix(
    "around-call", "Enter the `with` around the call", "The whole call runs within the context.", source=INDEX
)
_UNWRAP = Fix("without-context", "Remove the `with`", "The block runs without its context manager.")


@compiled_rule
def around(made: CompiledFunction, node: Node) -> Iterator[Fix]:
    """Offer to enter a context manager around each call instead of in the function."""
    code = made.code
    block = next((item for item in code.around(node) if isinstance(item, ast.With)), None)
    if block is None or block not in (made.function.body if made.function is not None else ()):
        return
    if len(block.items) != 1 or block.items[0].optional_vars is not None:
        return
    manager = block.items[0].context_expr
    kept = unwrapped(code, block)
    if not free(manager) <= code.module_names or kept is None:
        return
    edits = [kept]
    for call in made.calls:
        statement = code.statement(call)
        if statement is None or not code.is_alone(statement) or statement.end_lineno != statement.lineno:
            return
        if isinstance(statement, (ast.For, ast.If, ast.While, ast.With)) or not is_at_once(
            code, call, statement
        ):
            return
        edit = code.under(f"with {code.text(manager)}", statement)
        if edit not in edits:
            edits.append(edit)
    yield replace(_AROUND, edits=tuple(edits))


@node_rule(ast.AST)
def contexts(code: ParsedFile, node: ast.AST) -> Iterator[Fix]:
    """Remove a ``with`` whose context manager torch does not trace."""
    statement = next((item for item in code.around(node) if isinstance(item, ast.With)), None)
    if (
        statement is None
        or len(statement.items) != 1
        or not any(node is item or node is statement for item in ast.walk(statement.items[0]))
    ):
        return
    item = statement.items[0]
    if item.optional_vars is not None and any(
        names(item.optional_vars) & names(inner) for inner in statement.body
    ):
        return
    edit = unwrapped(code, statement)
    if edit is not None:
        yield replace(_UNWRAP, edits=(edit,))


def unwrapped(code: ParsedFile, block: ast.With) -> Edit | None:
    """Replace a ``with`` block by its statements.

    Return ``None`` if the lines cannot be dedented.
    """
    if not code.is_first(block) or block.body[0].lineno == block.lineno:
        return None
    outer, inner = code.indentation(block), code.indentation(block.body[0])
    first, last = code.span(block.body[0]).row, code.span(block).end_row
    texts = (ast.JoinedStr, ast.Constant)
    if any(isinstance(part, texts) and part.end_lineno != part.lineno for part in ast.walk(block)):
        return None
    lines = [code.source.line(row) for row in range(first, last + 1)]
    if any(line.strip() and not line.startswith(inner) for line in lines):
        return None
    written = [f"{outer}{comment}" for comment in code.comments(block.lineno, block.body[0].lineno - 1)]
    written += [outer + line.removeprefix(inner) if line.strip() else line for line in lines]
    span = code.span(block)
    return Edit(replace(span, column=1, end_column=len(code.source.line(last)) + 1), "\n".join(written))
