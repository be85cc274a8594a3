"""Files that run as programs, and files of modules run by name (``python -m``).

A file is a program if it has a main guard, or calls a compiled function at the top level.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fullgraph_compiler.facts import Script

from .source import SourceFile

_ACTIONS = (ast.For, ast.While, ast.With, ast.Raise, ast.Assert)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def main_guard(source: SourceFile) -> ast.If | None:
    """Return the ``if __name__ == "__main__":`` of a file; ``None`` if it has none."""
    body = source.tree.body if source.tree else ()
    return next((node for node in body if isinstance(node, ast.If) and _is_main_test(node.test)), None)


def is_program(source: SourceFile) -> bool:
    """Return whether a file has a main guard or calls a compiled function.

    The call, such as ``model(x)``, must be at the top level.
    """
    if main_guard(source) is not None:
        return True
    if "compile" not in source.text:
        return False
    nodes = list(_top_level(source.tree.body if source.tree else ()))
    compiled = {name for node in nodes for name in _compiled_names(node)}
    return any(isinstance(node, ast.Call) and _uses(node, compiled) for node in nodes)


def does_something(source: SourceFile) -> bool:
    """Return whether a file's top level does more than define: calls, loops, raises."""
    return any(
        isinstance(node, _ACTIONS) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in _top_level(source.tree.body if source.tree else ())
    )


def module_file(module: str, cwd: Path) -> str:
    """Return the expected file of a module, below ``cwd`` or below ``cwd/src``.

    If no such file exists, return the expected path below ``cwd``, because the module may be installed for
    the interpreter that will run it.
    """
    places = [os.path.join(root, *module.split(".")) for root in (cwd, cwd / "src")]
    expected = [file for place in places for file in (f"{place}.py", os.path.join(place, "__main__.py"))]
    return next(filter(os.path.isfile, expected), expected[0])


def code_file(script: Script) -> str | None:
    """Return the file of a script, of a module, or of a console script's module.

    Return ``None`` if the file does not exist.
    """
    files = [script.filename]
    if script.console_script:
        files.append(os.path.join(script.filename.removesuffix(".py"), "__init__.py"))
    return next((file for file in files if file.endswith(".py") and os.path.isfile(file)), None)


def no_module(name: str) -> str:
    """Return why a name cannot be the name of a module, as a sentence; "" if it can."""
    if name.endswith(".py") or os.sep in name or "/" in name:
        words = [word for word in name.removesuffix(".py").replace(os.sep, "/").split("/") if word.strip(".")]
        return f"{name} is a file, not a module: name it {'.'.join(words)}, or run it as a script"
    return "" if all(name.split(".")) else f"{name} is not the name of a module, such as package.module"


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that run on import: definitions, and all nodes outside of them."""
    pending: list[ast.AST] = [*body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _compiled_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds to compiled functions or modules."""
    if isinstance(node, _DEFINITIONS) and any(map(_is_compile, node.decorator_list)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and _is_compile(node.value):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.Expr) and (name := _compiled_in_place(node.value)):
        yield name


def _compiled_in_place(node: ast.expr) -> str:
    """Return the name in ``name.compile()``, which compiles a module in place.

    Return "" for any other expression.
    """
    if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Attribute):
        return ""
    module = node.func.value
    return module.id if node.func.attr == "compile" and isinstance(module, ast.Name) else ""


def _is_compile(node: ast.expr) -> bool:
    """Return whether an expression is ``torch.compile`` or a call of this function.

    A call that gets such an expression as an argument counts, too.
    """
    if isinstance(node, ast.Call):
        return _is_compile(node.func) or any(map(_is_compile, node.args))
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "torch.compile"


def _uses(call: ast.Call, compiled: set[str]) -> bool:
    """Return whether a call calls a compiled function, or passes one as an argument."""
    if isinstance(call.func, ast.Call):
        return _is_compile(call.func)
    names = (call.func, *call.args, *(keyword.value for keyword in call.keywords))
    used = any(isinstance(name, ast.Name) and name.id in compiled for name in names)
    return used and not _is_compile(call)


def _is_main_test(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare):
        return False
    sides = (test.left, *test.comparators)
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )
