"""Ways out of an error or graph break: edits to try on any program.

They are what a developer of torch would try. Each way out is a guess; the report names only those that helped
in a run (``tries.py``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ...kinds import KINDS
from ...report.answers.words import row_of
from ...report.model import Finding, Report
from ...text.markdown import code_span
from ...workspace.positions import Span, StackCall
from ...workspace.source import SourceFile
from ...workspace.syntax import callee, covers, dotted
from ..model import Edit, Fix, RuleContext
from ..rules.calls import with_option
from ..rules.catalogue import candidates, has_rules
from ..rules.syntax import Function, ParsedFile, code_of

_SETTING: Final = re.compile(
    r"\b(torch\._(?:dynamo|inductor|functorch)\.config\.\w{1,80}) ?= ?(True|False)\b"
)
"""A setting as torch's hints write it: ``torch._dynamo.config.capture_scalar_outputs = True``."""
_CONFIG: Final = re.compile(r"^torch\.(?:[\w.]+\.)?_?config\.\w+$")
_SOURCE: Final = (
    "https://docs.pytorch.org/docs/main/user_guide/torch_compiler/torch.compiler_troubleshooting.html"
)
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
"""Settings that torch's developers suggest when users report errors."""
_MOST_EDITS: Final = 2
"""The number of fixes that are tried for one finding."""
_MOST_PLACES: Final = 3
"""If a way out changes at most this number of places, each place is also changed alone."""
_MOST_LINES: Final = 2
_LONGEST_LINE: Final = 100
"""The largest number of new lines, and their largest length, with which the lines are quoted in full."""
_EACH_SIZE: Final = "Torch then compiles each size separately."
_MAY_BE_FIXED: Final = "A size that the code needs as a number then becomes a constant."

Kind: TypeAlias = Literal["line", "unshown", "named", "other"]
"""``line`` rewrites the line of a finding, ``unshown`` writes too many or too long lines to quote them,
``named`` makes a setting that torch names."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """A change of the program that may remove an error.

    ``change`` describes the change as a clause. ``names`` are the code snippets by which hints name it.
    """

    change: str
    names: tuple[str, ...]
    edits: tuple[Edit, ...]
    kind: Kind = "other"
    cost: str = ""
    """The change of the program's behavior, as a sentence; empty if there is none."""
    errors_differ: bool = False
    """Whether the edited lines may raise a different error than the original lines."""
    parts: tuple[WayOut, ...] = ()
    """The parts of the change; each is tried alone if all of them together help. Empty for a single
    change."""

    @property
    def fix(self) -> Fix:
        """The change as a fix of a finding."""
        return Fix("way-out", self.change, self.change, "unsafe", _SOURCE, self.edits, replaces=False)


@dataclass(frozen=True, slots=True)
class _WayOutEdit:
    """An edit of a file, with the node by whose line the edit is named."""

    code: ParsedFile
    node: ast.expr | ast.stmt
    edit: Edit


def may_help(finding: Finding, report: Report) -> bool:
    """Tell whether there may be a way out for a finding, by a quick check."""
    if finding.kind == "graph-break":
        return has_rules(finding) or bool(_SETTING.search("".join((*finding.hints, finding.text))))
    is_of_compiler = finding.kind != "target-error" or (report.status == "raised" and _compiles_any(report))
    return KINDS[finding.kind].is_failure and finding.severity == "error" and is_of_compiler


def _compiles_any(report: Report) -> bool:
    """Tell whether the program compiled or exported code, or contains ``compile(``."""
    texts = (source.text for source in report.files.values() if source is not None)
    return bool(report.compilations or report.exports) or any("compile(" in text for text in texts)


def ways_out(finding: Finding, context: RuleContext) -> list[WayOut]:
    """Return the ways out to try for an error or a graph break, the best first."""
    codes = list(_codes(finding, context)) if may_help(finding, context.report) else []
    if not codes:
        return []
    narrow = list(_named_settings(finding, codes[0]))
    if finding.kind in ("graph-break", "capture-error"):
        narrow += _fixes(finding, context)
    if finding.kind == "graph-break":
        return narrow
    place = _LineNamer(finding.span.filename)
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
        *_compiled_with("dynamic=False", codes, place, cost=_EACH_SIZE),
        *(
            _compiled_with('backend="eager"', codes, place, ", which runs graphs as Dynamo traces them")
            if finding.kind == "compile-error"
            else ()
        ),
    ]


def unwrapped(files: Mapping[str, SourceFile | None]) -> Fix:
    """Return a fix that replaces calls of ``torch.compile`` by their argument.

    Decorators are replaced by functions that return their argument.
    """
    edits: list[Edit] = []
    for source in files.values():
        code = code_of(source)
        if code is None:
            continue
        decorators = {item for function in code.functions() for item in function.decorator_list}
        for item in _compiles(code):
            if item in decorators:
                edits.append(code.replaced(item, "(lambda it: it)"))
            elif isinstance(item, ast.Call) and len(item.args) == 1:
                edits.append(code.replaced(item, f"({code.text(item.args[0])})"))
    return WayOut("Uncompiled", (), tuple(edits)).fix


@dataclass(frozen=True, slots=True)
class _LineNamer:
    """The names that a finding in the file ``filename`` shows for lines."""

    filename: str

    def line(self, code: ParsedFile, node: ast.expr | ast.stmt) -> str:
        """Name the line of a node, with the file name if it is not ``filename``."""
        return row_of(code.source, node.lineno, self.filename)

    def lines(self, changes: Sequence[_WayOutEdit]) -> str:
        """Name the lines of all changes, each line once."""
        named = list(dict.fromkeys(self.line(item.code, item.node) for item in changes))
        if len(named) > 1 and all(item.startswith("line ") for item in named):
            named = [item.removeprefix("line ") for item in named]
            return f"lines {', '.join(named[:-1])} and {named[-1]}"
        return " and ".join(named)

    def ways(
        self,
        changes: Sequence[_WayOutEdit],
        clause: Callable[[str], str],
        names: tuple[str, ...],
        cost: str = "",
    ) -> Iterator[WayOut]:
        """Yield ways out that change each of a few places alone, then all places.

        ``clause`` gets the names of the changed lines and returns the description.
        """
        sets = [[item] for item in changes] if 1 < len(changes) <= _MOST_PLACES else []
        for some in [*sets, *([list(changes)] if changes else [])]:
            edits = tuple(item.edit for item in some)
            yield WayOut(clause(self.lines(some)), names, edits, cost=cost)


def _codes(finding: Finding, context: RuleContext) -> Iterator[ParsedFile]:
    """Yield the files that an error came through, its own first, and the target's."""
    names = [
        finding.span.filename,
        *(call.filename for call in reversed(finding.stack)),
        context.report.target,
    ]
    for name in dict.fromkeys(names):
        if (code := code_of(context.files.get(name))) is not None:
            yield code


def _calls(code: ParsedFile, names: Sequence[str]) -> Iterator[ast.Call]:
    return (call for call in code.all(ast.Call) if code.meaning(call.func) in names)


def _compiles(code: ParsedFile) -> Iterator[ast.expr]:
    """Yield outermost calls of ``torch.compile`` and its uses as a bare decorator."""
    calls = list(_calls(code, _COMPILE))
    for call in calls:
        if not any(outer in calls for outer in code.around(code.parent(call) or code.tree)):
            yield call
    for function in code.functions():
        yield from (item for item in function.decorator_list if code.meaning(item) in _COMPILE)


def _without(way: WayOut, whole: Sequence[WayOut]) -> WayOut:
    """Add the removal of every ``fullgraph=True`` to a way out that breaks the graph."""
    if not whole:
        return way
    return replace(
        way, change=f"{way.change} and without `fullgraph=True`", edits=(*way.edits, *whole[-1].edits)
    )


def _named_settings(finding: Finding, code: ParsedFile) -> Iterator[WayOut]:
    """Yield the settings that torch's own hints name."""
    said = "\n".join((*finding.hints, finding.explanation, finding.text))
    for name, value in dict.fromkeys(_SETTING.findall(said)):
        text = f"{name} = {value}"
        yield WayOut(f"With {code_span(text)}", (name,), (code.setting(text),), "named")


def _fixes(finding: Finding, context: RuleContext) -> Iterator[WayOut]:
    """Yield fixes from the catalogue of graph breaks.

    An error that ``fullgraph=True`` causes is treated as a graph break.
    """
    for fix in candidates(replace(finding, kind="graph-break"), context)[:_MOST_EDITS]:
        lines = _new_lines(fix, context, finding.span.filename)
        is_short = 0 < len(lines) <= _MOST_LINES and all(len(line) <= _LONGEST_LINE for _, line in lines)
        written = _shown(lines) if is_short else ""
        command = " (`fullgraph fix` shows it)" if finding.kind == "graph-break" else ""
        cost = "" if fix.safety == "safe" else fix.change
        change = f"{fix.title}: with {written}" if written else f"{fix.title}{command}: with that"
        if written or command:
            kind: Kind = "line" if written else "unshown"
            yield WayOut(change, (fix.title,), fix.edits, kind, cost, fix.errors_differ)


def _shown(lines: Sequence[tuple[str, str]]) -> str:
    """Quote new lines, grouped by the replaced line: `` `a` and `b` (line 3) ``."""
    places: dict[str, list[str]] = {}
    for place, line in lines:
        places.setdefault(place, []).append(code_span(line))
    return " and ".join(f"{' and '.join(quoted)} ({place})" for place, quoted in places.items())


def _new_lines(fix: Fix, context: RuleContext, filename: str) -> list[tuple[str, str]]:
    """List the lines that a fix writes, each with the name of the replaced line.

    Imports are left out. Return an empty list if two edits are on one line.
    """
    rows = [(edit.span.filename, row) for edit in fix.edits for row in {edit.span.row, edit.span.end_row}]
    if len(rows) > len(set(rows)):
        return []
    found: list[tuple[str, str]] = []
    for edit in sorted(fix.edits, key=lambda edit: (edit.span.filename, edit.span.row)):
        if (source := context.files.get(edit.span.filename)) is not None:
            place = row_of(source, edit.span.row, filename)
            found += ((place, line) for line in _written(edit, source))
    return found


def _written(edit: Edit, source: SourceFile) -> Iterator[str]:
    """Yield the lines that an edit changes, in their new form, without imports."""
    span = edit.span
    first, last = source.line(span.row), source.line(span.end_row)
    old = [source.line(row) for row in range(span.row, span.end_row + 1)]
    for line in f"{first[: span.column - 1]}{edit.text}{last[span.end_column - 1 :]}".split("\n"):
        if line.strip() and line not in old and not line.startswith(("import ", "from ")):
            yield line.strip()


def _without_fullgraph(codes: Sequence[ParsedFile], place: _LineNamer) -> Iterator[WayOut]:
    found = [
        _WayOutEdit(code, word.value, code.replaced(word.value, "False"))
        for code in codes
        for call in code.all(ast.Call)
        for word in call.keywords
        if word.arg == "fullgraph" and code.text(word.value) == "True"
    ]
    yield from place.ways(found, lambda lines: f"Without `fullgraph=True` ({lines})", ("fullgraph=True",))


def _default_settings(codes: Sequence[ParsedFile], place: _LineNamer) -> Iterator[WayOut]:
    """Yield ways out that each remove one torch compiler setting from the program."""
    for code in codes:
        for statement in code.all(ast.Assign):
            if len(statement.targets) == 1 and _CONFIG.search(code.meaning(statement.targets[0])):
                text = code_span(code.text(statement))
                change = f"Without {text} ({place.line(code, statement)})"
                yield WayOut(change, (dotted(statement.targets[0]),), (code.replaced(statement, "pass"),))


def _maybe_marked(finding: Finding, codes: Sequence[ParsedFile], place: _LineNamer) -> Iterator[WayOut]:
    """Yield ways out that change calls of ``mark_dynamic``.

    They use ``maybe_mark_dynamic`` instead, or omit ``min`` and ``max``.
    """
    if "mark_dynamic" not in "".join((*finding.hints, finding.text)):
        return
    found = [(code, call) for code in codes for call in _calls(code, (_MARK,)) if len(call.args) == 2]

    def changes(name: str) -> list[_WayOutEdit]:
        return [
            _WayOutEdit(code, call, code.replaced(call, _marking(code, call, name)))
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
        lambda lines: f"With `maybe_mark_dynamic` instead of `mark_dynamic` ({lines})",
        ("maybe_mark_dynamic",),
        _MAY_BE_FIXED,
    )


def _marking(code: ParsedFile, call: ast.Call, name: str) -> str:
    """Rewrite a ``mark_dynamic`` call: call ``name`` instead, without keywords."""
    function = call.func
    module = (
        code.text(function.value) if isinstance(function, ast.Attribute) else code.of_torch("torch._dynamo")
    )
    return f"{module}.{name}({', '.join(map(code.text, call.args))})"


def _in_place(codes: Sequence[ParsedFile], place: _LineNamer) -> Iterator[WayOut]:
    """Compile modules in place, with ``module.compile()``.

    This preserves the modules' classes and the keys of their state_dicts.
    """
    for code in codes:
        for statement in code.all(ast.Assign):
            call, name = statement.value, dotted(statement.targets[0])
            if not (isinstance(call, ast.Call) and len(call.args) == len(statement.targets) == 1 and name):
                continue
            if code.meaning(call.func) not in _COMPILE:
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
                change = f"With {written} instead of {place.line(code, statement)}"
                yield WayOut(change, (f"{module or name}.compile(",), edits)


def _compiled_with(
    option: str, codes: Sequence[ParsedFile], place: _LineNamer, effect: str = "", cost: str = ""
) -> Iterator[WayOut]:
    """Pass an option to ``torch.compile``."""
    name, _, value = option.partition("=")
    found = [
        _WayOutEdit(code, call, with_option(code, call, name, value))
        for code in codes
        for call in _compiles(code)
    ]
    yield from place.ways(found, lambda lines: f"With `{option}` ({lines}){effect}", (option,), cost)


def _known_settings(code: ParsedFile) -> WayOut:
    """Return a way out that makes the settings of ``_KNOWN_SETTINGS``.

    Settings that the program makes itself are left out; settings that the installed torch lacks have no
    effect.
    """
    own = {code.meaning(target) for node in code.all(ast.Assign) for target in node.targets}
    parts = []
    for text in _KNOWN_SETTINGS:
        name = text.partition(" ")[0]
        if name not in own:
            config, _, option = name.rpartition(".")
            # Torch imports some of these modules only on demand.
            guarded = f"import {config}\nif hasattr({config}, '{option}'): {text}"
            parts.append(WayOut(f"With {code_span(text)}", (name,), (code.imported(guarded),)))
    edits = tuple(edit for part in parts for edit in part.edits)
    return WayOut("With other settings", (), edits, parts=tuple(parts))


def _exported_otherwise(codes: Sequence[ParsedFile], place: _LineNamer) -> Iterator[WayOut]:
    """Export with the other value of ``strict``, or let sizes become constants."""
    for code in codes:
        calls = list(_calls(code, _EXPORT))
        for call in calls:
            given = next((word for word in call.keywords if word.arg == "strict"), None)
            strict = "False" if given is not None and code.text(given.value) == "True" else "True"
            edit = with_option(code, call, "strict", strict)
            change = f"With {code_span(f'strict={strict}')} ({place.line(code, call)})"
            yield WayOut(change, (f"strict={strict}",), (edit,))
        dims = [node for node in code.all(ast.expr) if _is_dim(code, node)] if calls else []
        yield from place.ways(
            [
                _WayOutEdit(code, node, code.replaced(node, f"{code.text(_dim_of(node))}.AUTO"))
                for node in dims
            ],
            lambda lines: f"With `Dim.AUTO` instead of the `Dim` of {lines}",
            ("Dim.AUTO",),
            _MAY_BE_FIXED,
        )


def _is_dim(code: ParsedFile, node: ast.expr) -> bool:
    whole = "torch.export.Dim" if isinstance(node, ast.Call) else "torch.export.Dim.DYNAMIC"
    return code.meaning(callee(node)) == whole


def _dim_of(node: ast.expr) -> ast.expr:
    """Return the node of ``Dim`` itself in ``Dim("b")`` or ``Dim.DYNAMIC``."""
    return (
        node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else node
    )


def _disabled(finding: Finding, context: RuleContext, place: _LineNamer) -> Iterator[WayOut]:
    """Yield ways out that disable compilation of one function, innermost first."""
    for call in reversed(_inside(finding, context)):
        code = code_of(context.files.get(call.filename))
        function = _function_at(code, call) if code is not None else None
        if code is None or function is None or _is_of_operator(code, function):
            continue
        if not code.is_first(function):
            continue
        row, indent = function.lineno, code.indentation(function)
        decorator = code.of_torch("@torch.compiler.disable")
        edit = Edit(Span(call.filename, row, 1, row, 1), f"{indent}{decorator}\n")
        name = code_span(function.name)
        change = f"With {code_span(decorator)} above {name} ({place.line(code, function)})"
        yield WayOut(change, (decorator.removeprefix("@"), name), (edit, *code.importing_torch()))


def _inside(finding: Finding, context: RuleContext) -> list[StackCall]:
    """Return the calls in a finding's stack below the finding's compiled function.

    If the finding names no compilation, any compiled function counts.
    """
    frames = {item.partition("/")[0] for item in finding.compile_ids}
    roots = {
        (item.span.filename, item.function.rpartition(".")[2])
        for item in context.report.compilations
        if not frames or item.compile_id.partition("/")[0] in frames
    }
    stack = list(finding.stack)
    at = next((i for i, call in enumerate(stack) if (call.filename, call.function) in roots), None)
    return [] if at is None else stack[at + 1 :]


def _function_at(code: ParsedFile, call: StackCall) -> Function | None:
    """Return the function that contains a call of a stack; ``None`` if it is nested."""
    around = [item for item in code.functions() if covers(item, call.row)]
    function = max(around, key=lambda item: item.lineno, default=None)
    if function is None or function.name != call.function.rpartition(".")[2]:
        return None
    return function if code.function(function) is None else None


def _is_of_operator(code: ParsedFile, function: Function) -> bool:
    """Tell whether a function implements a custom operator or a fake kernel.

    Dynamo does not trace such a function.
    """
    names = (code.meaning(callee(item)) for item in function.decorator_list)
    return any(name.startswith(_OPERATORS) for name in names)
