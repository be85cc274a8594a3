"""Ways out of an error or a break: what a developer of torch would try on any program, as edits.

Each is a guess. Only what a run of the program with it has shown is told (``tries.py``).
"""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ...report.model import Finding
from ...text.markdown import code_span
from ...workspace.positions import Call, Span
from ...workspace.source import SourceFile
from ..editing import edited_texts
from ..model import Context, Edit, Fix
from ..rules.catalogue import candidates
from ..rules.syntax import Code, Function, code_of, dotted

_SETTING: Final = re.compile(
    r"\b(torch\._(?:dynamo|inductor|functorch)\.config\.\w{1,80}) ?= ?(True|False)\b"
)
"""A setting as torch's hints have it: ``torch._dynamo.config.capture_scalar_outputs = True``."""
_CONFIG: Final = re.compile(r"^torch\.(?:[\w.]+\.)?_?config\.\w+$")
_SOURCE: Final = (
    "https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_troubleshooting.html"
)
_ERRORS: Final = ("capture-error", "compile-error", "export-error", "target-error")
_OF_EXPORTS: Final = ("capture-error", "export-error")
_COMPILE: Final = ("torch.compile", "torch.compiler.compile")
_EXPORT: Final = ("torch.export.export", "torch.export")
_MARK: Final = "torch._dynamo.mark_dynamic"
_OPERATORS: Final = ("torch.library.", "library.")
_KNOWN_SETTINGS: Final = (
    "torch._dynamo.config.capture_scalar_outputs = True",
    "torch._dynamo.config.capture_dynamic_output_shape_ops = True",
    "torch._dynamo.config.compiled_autograd = True",
    "torch._dynamo.config.optimize_ddp = False",
    "torch._dynamo.config.trace_autograd_ops = True",
    "torch._functorch.config.donated_buffer = False",
)
"""Settings that torch's developers name in answers to reports of errors."""
_MOST_EDITS: Final = 2
"""The number of fixes that are tried of one finding."""
_MOST_PLACES: Final = 3
"""The number of places that are changed one at a time."""
_MOST_LINES: Final = 2
_LONGEST_LINE: Final = 100
"""The number and the length of lines that are shown as they are to be written."""
_EACH_SIZE: Final = "Each size is then compiled by itself."
_MAY_BE_FIXED: Final = "A size that the code needs as a number is then fixed."

Kind: TypeAlias = Literal["line", "named", "other"]
"""``line`` writes the line of a finding anew, ``named`` makes a setting that torch names."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """A change of the program that may end an error, as a clause, with the code by which hints name it."""

    change: str
    names: tuple[str, ...]
    edits: tuple[Edit, ...]
    kind: Kind = "other"
    cost: str = ""
    """What it changes of the program's behaviour, as a sentence; empty if nothing."""
    errors_differ: bool = False
    """Whether the edited lines may raise another error than before."""
    parts: tuple[WayOut, ...] = ()
    """What it is made of, each to be tried by itself if all together help; empty if it is one thing."""

    @property
    def fix(self) -> Fix:
        """The change as a fix of a finding."""
        return Fix("way-out", self.change, self.change, "unsafe", _SOURCE, self.edits, replaces=False)


@dataclass(frozen=True, slots=True)
class _Change:
    """An edit of one place in a file."""

    code: Code
    node: ast.expr | ast.stmt
    text: str

    @property
    def edit(self) -> Edit:
        return self.code.replaced(self.node, self.text)


def ways_out(finding: Finding, context: Context) -> list[WayOut]:
    """Return what to try against an error, or against a break, the best first."""
    codes = list(_codes(finding, context))
    is_error = finding.kind in _ERRORS
    if not codes or not (is_error or finding.kind == "graph-break"):
        return []
    narrow = list(_named_settings(finding, codes[0]))
    if finding.kind in ("graph-break", "capture-error"):
        narrow += _fixes(finding, context)
    if not is_error:
        return narrow
    place = _Place(finding.span.filename)
    whole = list(_without_fullgraph(codes, place))
    return [
        *narrow,
        *_maybe_marked(finding, codes, place),
        *(_in_place(codes, place) if finding.kind == "target-error" else ()),
        *_default_settings(codes, place),
        *(_exported_otherwise(codes, place) if finding.kind in _OF_EXPORTS else ()),
        *whole,
        *(_without(way, whole) for way in _disabled(finding, context, place)),
        _known_settings(codes[0]),
        *_fixed_sizes(codes, place),
        *(_traced_only(codes, place) if finding.kind == "compile-error" else ()),
    ]


def unwrapped(files: Mapping[str, SourceFile | None]) -> Fix:
    """Make ``torch.compile`` return what it is given, as a call and as a decorator."""
    edits: list[Edit] = []
    for source in files.values():
        code = code_of(source) if source is not None else None
        if code is None:
            continue
        decorators = {item for function in code.functions() for item in function.decorator_list}
        edits += (
            code.replaced(item, "(lambda it: it)")
            for item in decorators
            if code.meaning(item.func if isinstance(item, ast.Call) else item) in _COMPILE
        )
        edits += (
            code.replaced(call, f"({code.text(call.args[0])})")
            for call in _calls(code, _COMPILE)
            if call not in decorators and len(call.args) == 1
        )
    return WayOut("Uncompiled", (), tuple(edits)).fix


@dataclass(frozen=True, slots=True)
class _Place:
    """Names lines as they are named on a finding in a file."""

    filename: str

    def line(self, code: Code, node: ast.AST) -> str:
        """Name the line of a node, with its file if that is another one."""
        row: int = node.lineno  # type: ignore[attr-defined]
        if code.source.filename == self.filename:
            return f"line {code.source.row_words(row)}"
        return f"{os.path.basename(code.source.filename)}:{code.source.place(row)}"

    def lines(self, changes: Sequence[_Change]) -> str:
        """Name the lines of changes, each once."""
        named = list(dict.fromkeys(self.line(item.code, item.node) for item in changes))
        if len(named) > 1 and all(item.startswith("line ") for item in named):
            named = [item.removeprefix("line ") for item in named]
            return f"lines {', '.join(named[:-1])} and {named[-1]}"
        return " and ".join(named)

    def ways(
        self, changes: Sequence[_Change], clause: Callable[[str], str], names: tuple[str, ...], cost: str = ""
    ) -> Iterator[WayOut]:
        """Change each of a few places by itself, then all of them; ``clause`` gets the words for lines."""
        sets = [[item] for item in changes] if 1 < len(changes) <= _MOST_PLACES else []
        for some in [*sets, *([list(changes)] if changes else [])]:
            edits = tuple(item.edit for item in some)
            yield WayOut(clause(self.lines(some)), names, edits, cost=cost)


def _codes(finding: Finding, context: Context) -> Iterator[Code]:
    """Yield the files that an error came through, its own first, and that of the target."""
    names = [
        finding.span.filename,
        *(call.filename for call in reversed(finding.stack)),
        context.report.target,
    ]
    for name in dict.fromkeys(names):
        source = context.files.get(name)
        code = code_of(source) if source is not None else None
        if code is not None:
            yield code


def _calls(code: Code, names: Sequence[str]) -> Iterator[ast.Call]:
    return (call for call in code.all(ast.Call) if code.meaning(call.func) in names)


def _compiles(code: Code) -> Iterator[ast.expr]:
    """Yield the calls of ``torch.compile``, and where it is a decorator without brackets."""
    yield from _calls(code, _COMPILE)
    for function in code.functions():
        yield from (item for item in function.decorator_list if code.meaning(item) in _COMPILE)


def _with_keyword(code: Code, call: ast.expr, name: str, value: str) -> str:
    """Write a call with another value of a keyword."""
    if not isinstance(call, ast.Call):
        return f"{code.text(call)}({name}={value})"
    given = next((word for word in call.keywords if word.arg == name), None)
    if given is not None:
        return code.text(call, {given.value: value})
    inside = code.text(call)[:-1].rstrip()
    is_empty = not call.args and not call.keywords
    return f"{inside}{'' if is_empty or inside.endswith(',') else ', '}{name}={value})"


def _without(way: WayOut, whole: Sequence[WayOut]) -> WayOut:
    """Leave ``fullgraph=True`` out everywhere, too, since the way breaks the graph."""
    if not whole:
        return way
    return replace(
        way, change=f"{way.change} and without `fullgraph=True`", edits=(*way.edits, *whole[-1].edits)
    )


def _named_settings(finding: Finding, code: Code) -> Iterator[WayOut]:
    """Set what torch names itself."""
    said = "\n".join((*finding.hints, finding.explanation, finding.text))
    for name, value in dict.fromkeys(_SETTING.findall(said)):
        text = f"{name} = {value}"
        yield WayOut(f"With {code_span(text)}", (name,), (code.setting(text),), "named")


def _fixes(finding: Finding, context: Context) -> Iterator[WayOut]:
    """Edit the line as the catalogue of breaks has it; an error of ``fullgraph=True`` is such a break."""
    for fix in candidates(replace(finding, kind="graph-break"), context)[:_MOST_EDITS]:
        lines = list(_new_lines(fix, context))
        is_short = 0 < len(lines) <= _MOST_LINES and all(len(line) <= _LONGEST_LINE for _, line in lines)
        written = " and ".join(f"{code_span(line)} (line {row})" for row, line in lines) if is_short else ""
        command = " (`fullgraph fix` shows it)" if finding.kind == "graph-break" else ""
        cost = "" if fix.safety == "safe" else fix.change
        change = f"{fix.title}: with {written}" if written else f"{fix.title}{command}: with that"
        if written or command:
            yield WayOut(change, (fix.title,), fix.edits, "line", cost, fix.errors_differ)


def _new_lines(fix: Fix, context: Context) -> Iterator[tuple[int, str]]:
    """Yield the lines that a fix adds or changes, with the row of what they replace; imports are left out."""
    for before, after in edited_texts(context.files, fix.edits).values():
        old, new = before.splitlines(), after.splitlines()
        changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for tag, row, _, first, last in changes:
            for line in new[first:last] if tag != "equal" else ():
                if line.strip() and not line.startswith(("import ", "from ")):
                    yield row + 1, line.strip()


def _without_fullgraph(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    found = [
        _Change(code, word.value, "False")
        for code in codes
        for call in code.all(ast.Call)
        for word in call.keywords
        if word.arg == "fullgraph" and code.text(word.value) == "True"
    ]
    yield from place.ways(found, lambda lines: f"Without `fullgraph=True` ({lines})", ("fullgraph=True",))


def _default_settings(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Leave out one setting of torch's compiler that the program makes."""
    for code in codes:
        for statement in code.all(ast.Assign):
            if len(statement.targets) == 1 and _CONFIG.search(code.meaning(statement.targets[0])):
                text = code_span(code.text(statement))
                change = f"Without {text} ({place.line(code, statement)})"
                yield WayOut(change, (dotted(statement.targets[0]),), (code.replaced(statement, "pass"),))


def _maybe_marked(finding: Finding, codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Mark sizes as dynamic where the code lets them be, or without a range."""
    if "mark_dynamic" not in "".join((*finding.hints, finding.text)):
        return
    found = [(code, call) for code in codes for call in _calls(code, (_MARK,)) if len(call.args) == 2]

    def changes(name: str) -> list[_Change]:
        return [
            _Change(code, call, f"{_beside(code, call.func, name)}({', '.join(map(code.text, call.args))})")
            for code, call in found
            if name != "mark_dynamic" or call.keywords
        ]

    yield from place.ways(
        changes("mark_dynamic"),
        lambda lines: f"With no `min` and `max` in `mark_dynamic` ({lines})",
        ("`min` and `max`",),
    )
    yield from place.ways(
        changes("maybe_mark_dynamic"),
        lambda lines: f"With `maybe_mark_dynamic` in place of `mark_dynamic` ({lines})",
        ("maybe_mark_dynamic",),
        _MAY_BE_FIXED,
    )


def _beside(code: Code, function: ast.expr, name: str) -> str:
    """Write another function of the same module."""
    if isinstance(function, ast.Attribute):
        return f"{code.text(function.value)}.{name}"
    return code.of_torch(f"torch._dynamo.{name}")


def _in_place(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Compile modules in place, which keeps their classes and the names of their states."""
    for code in codes:
        for statement in code.all(ast.Assign):
            call, name = statement.value, dotted(statement.targets[0])
            is_one = (
                isinstance(call, ast.Call) and code.meaning(call.func) in _COMPILE and len(call.args) == 1
            )
            if not isinstance(call, ast.Call) or not is_one or not name:
                continue
            given = ", ".join(ast.unparse(word) for word in call.keywords)
            module = dotted(call.args[0])
            if any(function.name == module for function in code.functions()):
                continue
            compiled = f"{module or name}.compile({given})"
            lines = [compiled] if module == name else [f"{name} = {code.assigned(call.args[0])}", compiled]
            behind = code.after(statement, lines[1:]) if lines[1:] else None
            if behind is not None or module == name:
                edits = (code.replaced(statement, lines[0]), *([behind] if behind is not None else []))
                written = " and ".join(map(code_span, lines))
                change = f"With {written} in place of {place.line(code, statement)}"
                yield WayOut(change, (f"{module or name}.compile(",), edits)


def _fixed_sizes(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Compile each size by itself."""
    found = [
        _Change(code, call, _with_keyword(code, call, "dynamic", "False"))
        for code in codes
        for call in _compiles(code)
    ]
    yield from place.ways(
        found, lambda lines: f"With `dynamic=False` ({lines})", ("dynamic=False",), _EACH_SIZE
    )


def _known_settings(code: Code) -> WayOut:
    """Make the settings that mend errors now and then: those that torch has and the program does not make."""
    own = {code.meaning(target) for node in code.all(ast.Assign) for target in node.targets}
    parts = []
    for text in _KNOWN_SETTINGS:
        name = text.partition(" ")[0]
        if name not in own:
            config, _, option = name.rpartition(".")
            # Torch imports some of these modules only when they are asked for.
            guarded = f"import {config}\nif hasattr({config}, '{option}'): {text}"
            parts.append(WayOut(f"With {code_span(text)}", (name,), (code.imported(guarded),)))
    edits = tuple(edit for part in parts for edit in part.edits)
    return WayOut("With other settings", (), edits, parts=tuple(parts))


def _exported_otherwise(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Export by Dynamo or without it, or with sizes that may become constants."""
    for code in codes:
        calls = list(_calls(code, _EXPORT))
        for call in calls:
            given = next((word for word in call.keywords if word.arg == "strict"), None)
            strict = "False" if given is not None and code.text(given.value) == "True" else "True"
            edit = _Change(code, call, _with_keyword(code, call, "strict", strict)).edit
            change = f"With {code_span(f'strict={strict}')} ({place.line(code, call)})"
            yield WayOut(change, (f"strict={strict}",), (edit,))
        dims = [node for node in code.all(ast.expr) if _is_dim(code, node)] if calls else []
        yield from place.ways(
            [_Change(code, node, f"{code.text(_dim_of(node))}.AUTO") for node in dims],
            lambda lines: f"With `Dim.AUTO` in place of the `Dim` of {lines}",
            ("Dim.AUTO",),
            _MAY_BE_FIXED,
        )


def _is_dim(code: Code, node: ast.expr) -> bool:
    whole = "torch.export.Dim" if isinstance(node, ast.Call) else "torch.export.Dim.DYNAMIC"
    return code.meaning(node.func if isinstance(node, ast.Call) else node) == whole


def _dim_of(node: ast.expr) -> ast.expr:
    """Return how ``Dim`` is written in ``Dim("b")`` or ``Dim.DYNAMIC``."""
    return (
        node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else node
    )


def _traced_only(codes: Sequence[Code], place: _Place) -> Iterator[WayOut]:
    """Leave out all that comes after Dynamo."""
    found = [
        _Change(code, call, _with_keyword(code, call, "backend", '"eager"'))
        for code in codes
        for call in _compiles(code)
    ]
    yield from place.ways(
        found,
        lambda lines: f'With `backend="eager"` ({lines}), which runs graphs as Dynamo traces them',
        ('backend="eager"',),
    )


def _disabled(finding: Finding, context: Context, place: _Place) -> Iterator[WayOut]:
    """Keep one function out of the compiled code, the innermost first."""
    for call in reversed(_inside(finding, context)):
        source = context.files.get(call.filename)
        code = code_of(source) if source is not None else None
        function = _function_at(code, call) if code is not None else None
        if code is None or function is None or _is_of_operator(code, function):
            continue
        row, indent = function.lineno, code.indentation(function)
        if code.source.line(row)[: len(indent)].strip() or not code.is_first(function):
            continue
        decorator = code.of_torch("@torch.compiler.disable")
        edit = Edit(Span(call.filename, row, 1, row, 1), f"{indent}{decorator}\n")
        name = code_span(function.name)
        change = f"With {code_span(decorator)} above {name} ({place.line(code, function)})"
        yield WayOut(change, (decorator.removeprefix("@"), name), (edit, *code.importing_torch()))


def _inside(finding: Finding, context: Context) -> list[Call]:
    """Return the calls of a stack below the function that is compiled, or below any that is."""
    frames = {item.partition("/")[0] for item in finding.compile_ids}
    roots = {
        (item.span.filename, item.function.rpartition(".")[2])
        for item in context.report.compilations
        if not frames or item.compile_id.partition("/")[0] in frames
    }
    stack = list(finding.stack)
    at = next((i for i, call in enumerate(stack) if (call.filename, call.function) in roots), None)
    return [] if at is None else stack[at + 1 :]


def _function_at(code: Code, call: Call) -> Function | None:
    """Return the function that a call of a stack is in, unless compiled code itself defines it."""
    around = [item for item in code.functions() if item.lineno <= call.row <= (item.end_lineno or 0)]
    function = max(around, key=lambda item: item.lineno, default=None)
    if function is None or function.name != call.function.rpartition(".")[2]:
        return None
    return function if code.function(function) is None else None


def _is_of_operator(code: Code, function: Function) -> bool:
    """Tell whether a function is that of a custom operator, or its fake kernel: Dynamo does not trace it."""
    names = (
        code.meaning(item.func if isinstance(item, ast.Call) else item) for item in function.decorator_list
    )
    return any(name.startswith(_OPERATORS) for name in names)
