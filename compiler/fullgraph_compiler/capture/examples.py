"""Run example calls: import the module, compile the functions, evaluate the calls.

The calls of an example are evaluated in order. Calls that export come first, before the function is compiled.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from ..compat import dynamo_compat
from ..dry_run.given import giving
from ..facts import Example, ExampleCall, Examples, StackFrame, TargetProblem
from ..observe.outcome import ProgramOutcome, describe, not_started
from ..observe.tensors import factories
from .notebooks import NotebookLoader, is_notebook

_EXPORT = "__fullgraph_export__"
"""The name by which the code of example calls refers to :func:`_export`."""


def run_examples(program: Examples) -> ProgramOutcome:
    """Run each example's calls in order; if a call raises, the other calls still run."""
    filename = os.path.abspath(program.filename)
    if not Path(filename).is_file():
        return not_started(f"cannot read {program.filename}: no such file")
    try:
        module = import_file(filename)
    except SyntaxError as error:
        return not_started(f"{type(error).__name__}: {error.msg}", stack=describe(error).stack)
    except BaseException as error:
        return ProgramOutcome("raised", 1, (error,))

    raised: list[BaseException] = []
    problems: list[TargetProblem] = []
    for example in program.examples:
        exports = tuple(call for call in example.calls if call.export)
        raised += _run_calls(module, filename, replace(example, calls=exports))
        if exports and exports == example.calls:
            continue
        try:
            compile_thing(module, example.qualname)
        except AttributeError:
            row = example.calls[0].row if example.calls else 1
            message = f"{example.qualname} is not defined in {Path(filename).name} after its import"
            stack = (StackFrame(filename, row, "<module>"),)
            problems.append(TargetProblem("error", message, ("Example calls need a top-level name.",), stack))
            continue
        calls = tuple(call for call in example.calls if not call.export)
        raised += _run_calls(module, filename, replace(example, calls=calls))
    return ProgramOutcome("raised" if raised or problems else "finished", 0, tuple(raised), tuple(problems))


def import_file(filename: str) -> ModuleType:
    """Import a file under its dotted name in a package, else under its own name."""
    path = Path(filename)
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").exists():
        parts.insert(0, root.name)
        root = root.parent
    sys.path.insert(0, str(root))
    # Last, so that no file in the folder hides an installed package.
    sys.path.append(os.getcwd())
    if len(parts) > 1 and not is_notebook(filename):
        return importlib.import_module(".".join(part for part in parts if part != "__init__"))
    name = path.stem if path.stem not in sys.modules else f"{path.stem}__example"
    loader = NotebookLoader(name, filename) if is_notebook(filename) else None
    spec = importlib.util.spec_from_file_location(name, filename, loader=loader)
    if spec is None or spec.loader is None:
        raise ImportError(f"{filename} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compile_thing(module: ModuleType, qualname: str) -> None:
    """Replace a function by its compiled version, or the ``forward`` of a class.

    Raises ``AttributeError`` if the module has no such name.
    """
    owner: Any = module
    *outer, name = qualname.split(".")
    for part in outer:
        owner = getattr(owner, part)
    thing = getattr(owner, name)
    if isinstance(thing, type):
        owner, name = thing, "forward" if issubclass(thing, torch.nn.Module) else "__call__"
        if getattr(owner, name, None) is None:
            return
    bound = vars(owner).get(name, getattr(owner, name))
    wrap = type(bound) if isinstance(bound, (staticmethod, classmethod)) else None
    function = bound.__func__ if isinstance(bound, (staticmethod, classmethod)) else bound
    if not callable(function) or dynamo_compat.is_compiled(function):
        return
    compiled = torch.compile(function)
    setattr(owner, name, wrap(compiled) if wrap else compiled)


def _run_calls(module: ModuleType, filename: str, example: Example) -> list[BaseException]:
    namespace = {"torch": torch, _EXPORT: _export, **factories(), **vars(module)}
    torch.manual_seed(0)
    raised: list[BaseException] = []
    for call in example.calls:
        try:
            with giving(filename, call):
                exec(_code(call, filename), namespace)
        except (Exception, SystemExit) as error:
            raised.append(error)
    return raised


def _code(call: ExampleCall, filename: str) -> CodeType:
    """Compile a call, with positions in the file that contains it as a comment."""
    tree = ast.parse(call.source, filename)
    if call.export:
        tree = ast.fix_missing_locations(_ExportTransformer().visit(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias, ast.excepthandler)):
            node.lineno += call.row - 1
            node.end_lineno = (node.end_lineno or node.lineno) + (call.row - 1)
            node.col_offset += call.column
            node.end_col_offset = (node.end_col_offset or 0) + call.column
    return compile(tree, filename, "exec", dont_inherit=True)


class _ExportTransformer(ast.NodeTransformer):
    """A transformer that replaces the outermost call of an expression by an export."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        if isinstance(called := node.value, ast.Call):
            name = ast.copy_location(ast.Name(_EXPORT, ast.Load()), called.func)
            node.value = ast.copy_location(
                ast.Call(name, [called.func, *called.args], called.keywords), called
            )
        return node


def _export(thing: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Export a module or a function.

    All sizes are static, except the sizes in ``dynamic_shapes``.
    """
    module = thing if isinstance(thing, torch.nn.Module) else _module_of(thing)
    shapes = {}
    if "dynamic_shapes" in named and "dynamic_shapes" not in inspect.signature(module.forward).parameters:
        shapes = {"dynamic_shapes": named.pop("dynamic_shapes")}
    return torch.export.export(module, args, named, **shapes)


def _module_of(function: Callable[..., Any]) -> torch.nn.Module:
    """Wrap a function in a module whose ``forward`` it becomes.

    The code is renamed to ``forward``, because torch records lines only for code of this name.
    """
    plain = getattr(function, "__func__", function)
    if isinstance(plain, FunctionType):
        code = plain.__code__.replace(co_name="forward")
        forward = FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__)
        forward.__kwdefaults__ = plain.__kwdefaults__
        function = MethodType(forward, function.__self__) if hasattr(function, "__self__") else forward
    name = getattr(function, "__name__", "Exported")
    module: torch.nn.Module = type(name, (torch.nn.Module,), {"forward": staticmethod(function)})()
    return module
