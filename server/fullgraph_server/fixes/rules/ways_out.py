"""Ways out of an error or a break: what a developer of torch would try on any program, as edits.

Each is a guess. Only what a run of the program with it has shown is told (``fixes/advising.py``).
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ...report.model import Finding
from ...text.markdown import code_span
from ...workspace.positions import Call, Span
from ...workspace.source import SourceFile
from ..editing import edited_texts
from ..model import Context, Edit, Fix
from .calls import is_compile
from .catalogue import candidates
from .syntax import Code, Function, code_of, dotted

_SETTING: Final = re.compile(
    r"\b(torch\._(?:dynamo|inductor|functorch)\.config\.\w{1,80}) ?= ?(True|False)\b"
)
"""A setting as torch's hints have it: ``torch._dynamo.config.capture_scalar_outputs = True``."""
_CONFIG: Final = re.compile(r"(?:^|\.)(?:_?(?:dynamo|inductor|functorch)\.)?_?config\.\w+$")
_SOURCE: Final = (
    "https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_troubleshooting.html"
)
_ERRORS: Final = ("capture-error", "compile-error", "export-error", "target-error")
_EXPORT: Final = re.compile(r"^(?:torch\.)?export\.export$|^export$")
_MARK: Final = "torch._dynamo.mark_dynamic"
_MAYBE_MARK: Final = "torch._dynamo.maybe_mark_dynamic"
_OPERATORS: Final = ("torch.library", "library.")
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
_MOST_LINES: Final = 2
_LONGEST_LINE: Final = 100
"""The number and the length of lines that are shown as they are to be written."""


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
    parts: tuple[WayOut, ...] = ()
    """What it is made of, each to be tried by itself if all together help; empty if it is one thing."""

    @property
    def fix(self) -> Fix:
        """The change as a fix of a finding."""
        return Fix("way-out", self.change, self.change, "unsafe", _SOURCE, self.edits, replaces=False)


def ways_out(finding: Finding, context: Context) -> list[WayOut]:
    """Return what to try against an error, or against a break, the best first."""
    codes = list(_codes(finding, context))
    is_error = finding.kind in _ERRORS
    if not codes or not (is_error or finding.kind == "graph-break"):
        return []
    narrow = [*_named_settings(finding, codes[0]), *_fixes(finding, context)]
    if not is_error:
        return narrow
    whole = list(_without_fullgraph(codes))
    return [
        *narrow,
        *_maybe_marked(finding, codes),
        *_in_place(codes),
        *_default_settings(codes),
        *_exported_otherwise(codes),
        *whole,
        *(_without(way, whole) for way in _disabled(finding, context)),
        _known_settings(codes[0]),
        *_fixed_sizes(codes),
        *(_traced_only(codes) if finding.kind == "compile-error" else ()),
    ]


def _without(way: WayOut, whole: Sequence[WayOut]) -> WayOut:
    """Leave ``fullgraph=True`` out, too, since the way breaks the graph."""
    edits = tuple(edit for item in whole for edit in item.edits)
    return (
        replace(way, change=f"{way.change} and without `fullgraph=True`", edits=(*way.edits, *edits))
        if edits
        else way
    )


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


def _line(code: Code, node: ast.AST) -> str:
    return f"line {code.source.row_words(node.lineno)}"  # type: ignore[attr-defined]


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
        is_short = len(lines) <= _MOST_LINES and all(len(line) <= _LONGEST_LINE for _, line in lines)
        written = " and ".join(f"{code_span(line)} (line {row})" for row, line in lines) if is_short else ""
        command = " (`fullgraph fix` shows it)" if finding.kind == "graph-break" else ""
        cost = "" if fix.safety == "safe" else fix.change
        change = f"{fix.title}: with {written}" if written else f"{fix.title}{command}: with that"
        yield WayOut(change, (fix.title,), fix.edits, "line", cost)


def _new_lines(fix: Fix, context: Context) -> Iterator[tuple[int, str]]:
    """Yield the lines that a fix adds or changes, with the row of what they replace; imports are left out."""
    for before, after in edited_texts(context.files, fix.edits).values():
        old, new = before.splitlines(), after.splitlines()
        changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for tag, row, _, first, last in changes:
            for line in new[first:last] if tag != "equal" else ():
                if line.strip() and not line.startswith(("import ", "from ")):
                    yield row + 1, line.strip()


def _without_fullgraph(codes: list[Code]) -> Iterator[WayOut]:
    found = [
        (code, word)
        for code in codes
        for call in code.all(ast.Call)
        for word in call.keywords
        if word.arg == "fullgraph" and code.text(word.value) == "True"
    ]
    if found:
        code, word = found[0]
        edits = tuple(code.replaced(word.value, "False") for code, word in found)
        yield WayOut(f"Without `fullgraph=True` ({_line(code, word)})", ("fullgraph=True",), edits)


def _default_settings(codes: list[Code]) -> Iterator[WayOut]:
    """Leave out one setting of torch's compiler that the program makes."""
    for code in codes:
        for statement in code.all(ast.Assign):
            if len(statement.targets) == 1 and _CONFIG.search(dotted(statement.targets[0])):
                text = code_span(code.text(statement))
                change = f"Without {text} ({_line(code, statement)})"
                yield WayOut(change, (dotted(statement.targets[0]),), (code.replaced(statement, "pass"),))


def _maybe_marked(finding: Finding, codes: list[Code]) -> Iterator[WayOut]:
    """Mark sizes as dynamic where the code lets them be, or without a range."""
    if "mark_dynamic" not in "".join((*finding.hints, finding.text)):
        return
    found = [
        (code, call)
        for code in codes
        for call in code.all(ast.Call)
        if code.of_torch(_MARK) == dotted(call.func) and len(call.args) == 2
    ]
    if not found:
        return
    line = _line(*found[0])
    for name, change in (
        (_MARK, f"With no `min` and `max` in `mark_dynamic` ({line})"),
        (_MAYBE_MARK, f"With `maybe_mark_dynamic` in place of `mark_dynamic` ({line})"),
    ):
        edits = tuple(
            code.replaced(call, f"{code.of_torch(name)}({', '.join(map(code.text, call.args))})")
            for code, call in found
        )
        if name != _MARK or any(call.keywords for _, call in found):
            yield WayOut(change, ("`min` and `max`" if name == _MARK else "maybe_mark_dynamic",), edits)


def _in_place(codes: list[Code]) -> Iterator[WayOut]:
    """Compile modules in place, which keeps their classes and the names of their states."""
    for code in codes:
        for statement in code.all(ast.Assign):
            call, name = statement.value, dotted(statement.targets[0])
            if not isinstance(call, ast.Call) or not is_compile(call) or len(call.args) != 1 or not name:
                continue
            given = ", ".join(ast.unparse(word) for word in call.keywords)
            module = dotted(call.args[0])
            compiled = f"{module or name}.compile({given})"
            lines = [compiled] if module == name else [f"{name} = {code.assigned(call.args[0])}", compiled]
            behind = code.after(statement, lines[1:]) if lines[1:] else None
            if behind is not None or module == name:
                edits = (code.replaced(statement, lines[0]), *([behind] if behind is not None else []))
                change = f"With {' and '.join(map(code_span, lines))} in place of {_line(code, statement)}"
                yield WayOut(change, (f"{module or name}.compile(",), edits)


def unwrapped(files: Mapping[str, SourceFile | None]) -> Fix:
    """Make calls of ``torch.compile`` return what they are given."""
    edits = [
        code.replaced(call, f"({code.text(call.args[0])})")
        for source in files.values()
        if source is not None and (code := code_of(source)) is not None
        for call in code.all(ast.Call)
        if is_compile(call) and len(call.args) == 1
    ]
    return WayOut("Uncompiled", (), tuple(edits)).fix


def _fixed_sizes(codes: list[Code]) -> Iterator[WayOut]:
    """Compile each size by itself."""
    for code in codes:
        calls = [call for call in code.all(ast.Call) if is_compile(call)]
        edits: list[Edit] = []
        for call in calls:
            given = next((word for word in call.keywords if word.arg == "dynamic"), None)
            edits.append(
                code.appended(call, "dynamic=False") if given is None else code.replaced(given.value, "False")
            )
        if calls:
            yield WayOut(f"With `dynamic=False` ({_line(code, calls[0])})", ("dynamic=False",), tuple(edits))


def _known_settings(code: Code) -> WayOut:
    """Make the settings that mend errors now and then: those that torch has and the program does not make."""
    own = {dotted(target) for node in code.all(ast.Assign) for target in node.targets}
    parts = []
    for text in _KNOWN_SETTINGS:
        name = text.partition(" ")[0]
        if name not in own:
            config, _, option = name.rpartition(".")
            guarded = f"if hasattr({config}, '{option}'): {text}"
            parts.append(WayOut(f"With {code_span(text)}", (name,), (code.setting(guarded),)))
    edits = tuple(edit for part in parts for edit in part.edits)
    return WayOut("With other settings", (), edits, parts=tuple(parts))


def _exported_otherwise(codes: list[Code]) -> Iterator[WayOut]:
    """Export by Dynamo or without it, or with sizes that may become constants."""
    for code in codes:
        calls = [call for call in code.all(ast.Call) if _EXPORT.search(dotted(call.func))]
        for call in calls:
            given = next((word for word in call.keywords if word.arg == "strict"), None)
            strict = "False" if given is not None and code.text(given.value) == "True" else "True"
            edit = code.appended(call, "strict=True") if given is None else code.replaced(given.value, strict)
            change = f"With {code_span(f'strict={strict}')} ({_line(code, call)})"
            yield WayOut(change, (f"strict={strict}",), (edit,))
        dims = [node for node in code.all(ast.expr) if _is_dim(node)] if calls else []
        if dims:
            auto = code.of_torch("torch.export.Dim.AUTO")
            change = f"With `Dim.AUTO` in place of {code_span(code.text(dims[0]))} ({_line(code, dims[0])})"
            yield WayOut(change, ("Dim.AUTO",), tuple(code.replaced(node, auto) for node in dims))


def _is_dim(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func).rpartition(".")[2] == "Dim"
    return dotted(node).endswith("Dim.DYNAMIC")


def _traced_only(codes: list[Code]) -> Iterator[WayOut]:
    """Leave out all that comes after Dynamo."""
    for code in codes:
        calls = [call for call in code.all(ast.Call) if is_compile(call)]
        edits: list[Edit] = []
        for call in calls:
            given = next((word for word in call.keywords if word.arg == "backend"), None)
            eager = 'backend="eager"'
            edits.append(
                code.appended(call, eager) if given is None else code.replaced(given.value, '"eager"')
            )
        if edits:
            change = (
                f'With `backend="eager"` ({_line(code, calls[0])}), which runs graphs as Dynamo traces them'
            )
            yield WayOut(change, ('backend="eager"',), tuple(edits))


def _disabled(finding: Finding, context: Context) -> Iterator[WayOut]:
    """Keep one function out of the compiled code, the innermost first."""
    for call in reversed(_inside(finding, context)):
        source = context.files.get(call.filename)
        code = code_of(source) if source is not None else None
        function = _function_at(code, call) if code is not None else None
        if code is None or function is None or _is_of_operator(function):
            continue
        row, indent = function.lineno, code.indentation(function)
        if code.source.line(row)[: len(indent)].strip() or not code.is_first(function):
            continue
        place = Span(call.filename, row, 1, row, 1)
        edit = Edit(place, f"{indent}{code.of_torch('@torch.compiler.disable')}\n")
        change = f"With `@torch.compiler.disable` above {code_span(function.name)} ({_line(code, function)})"
        yield WayOut(
            change, ("torch.compiler.disable", code_span(function.name)), (edit, *code.importing_torch())
        )


def _inside(finding: Finding, context: Context) -> list[Call]:
    """Return the calls of a stack below the function that is compiled."""
    frames = {item.partition("/")[0] for item in finding.compile_ids}
    roots = {
        (item.span.filename, item.function.rpartition(".")[2])
        for item in context.report.compilations
        if item.compile_id.partition("/")[0] in frames
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


def _is_of_operator(function: Function) -> bool:
    """Tell whether a function is that of a custom operator, or its fake kernel: Dynamo does not trace it."""
    names = (dotted(item.func if isinstance(item, ast.Call) else item) for item in function.decorator_list)
    return any(name.startswith(_OPERATORS) for name in names)
