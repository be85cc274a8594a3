"""Effects of a function and its callees, read from their source on all paths."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...workspace.syntax import called, dotted, imports, names, nodes_of
from ..rules.calls import root_of
from ..rules.syntax import Function, ParsedFile, defined, parameters
from .known import NUMBERS, OUTSIDE_MODULES, PLAIN_DECORATORS, Effect, of_builtin, of_library, of_method
from .names import Files, LibraryFunction, ModuleVariable, WorkspaceDefinition, meaning_of

Origins = frozenset[str]
"""The names of the variables that may own the memory of a value: parameters by name, variables of modules as
``@name``."""
_FRESH: Origins = frozenset()
_Values = dict[str, Origins]
_MOST_DEPTH = 12


@dataclass
class FunctionEffects:
    """The effects that a function may have on some path.

    ``changes`` are the parameters that the function changes in place, ``returns`` the parameters whose memory
    its result may share. ``outside`` are its other side effects, each as the end of a sentence (``changes
    `LEDGER.entries```). ``unknown`` are the calls with unknown effects, in source form. ``reads`` are the
    variables of modules that the function reads; ``draws`` tells whether it draws random numbers.
    """

    changes: set[str] = field(default_factory=set)
    returns: set[str] = field(default_factory=set)
    outside: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    draws: bool = False


def effects_of(code: ParsedFile, function: Function, files: Files) -> FunctionEffects:
    """Return the effects of a function of a file."""
    return _EffectReader(code, function, files, {}).effects()


def changes_before(code: ParsedFile, function: Function, node: ast.AST, names: set[str]) -> bool:
    """Tell whether a function may change arguments in place before it reaches a node.

    ``names`` are the arguments.
    """
    first = next(item for item in code.around(node) if item in function.body)
    reader = _EffectReader(code, function, {}, {})
    values = {name: frozenset({name}) for name in parameters(function)}
    reader.block(function.body[: function.body.index(first)], values)
    return bool(reader.found.changes & names)


def is_fresh(code: ParsedFile, value: ast.expr, files: Files) -> bool:
    """Tell whether the value of an expression has its own memory.

    ``x * 2`` has its own memory, but not ``x`` or ``x.view(-1)``.
    """
    function = ast.parse("def f(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    own = {item.name for item in code.tree.body if isinstance(item, (Function, ast.ClassDef))}
    reader = _EffectReader(code, function, files, {})
    origins = reader.value(
        value, {name: frozenset({name}) for name in names(value) - own - set(code.imports)}
    )
    return not origins and not reader.found.unknown


class _EffectReader:
    """A reader that follows values and the owners of their memory in a function."""

    def __init__(
        self,
        code: ParsedFile,
        function: Function | ast.Lambda,
        files: Files,
        known: dict[ast.AST, FunctionEffects],
    ) -> None:
        self.found = FunctionEffects()
        self._code, self._function, self._files, self._known = code, function, files, known
        self._imports = imports(function)
        self._globals = {name for node in nodes_of(ast.Global, function) for name in node.names}
        self._inner: dict[str, Function | ast.Lambda] = {}
        self._busy: list[ast.AST] = []

    def effects(self) -> FunctionEffects:
        """Read the function and return its effects."""
        assert not isinstance(self._function, ast.Lambda)
        self._known[self._function] = self.found
        for decorator in self._function.decorator_list:
            if called(decorator) or dotted(decorator):
                name = (called(decorator) or dotted(decorator)).rpartition(".")[2]
                if name not in PLAIN_DECORATORS:
                    self.found.unknown[f"@{name}"] = None
        values = {name: frozenset({name}) for name in parameters(self._function)}
        if isinstance(self._function, ast.AsyncFunctionDef):
            self.found.unknown["async"] = None
        self.block(self._function.body, values)
        return self.found

    # -- statements --------------------------------------------------------------------------------

    def block(self, statements: Iterable[ast.stmt], values: _Values) -> None:
        """Read statements in order; update ``values`` to the origins after the statements."""
        for statement in statements:
            self._statement(statement, values)

    def _statement(self, node: ast.stmt, values: _Values) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            if node.value is not None:
                self._assign(node, self.value(node.value, values), values)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node, values)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.found.returns |= self.value(node.value, values)
        elif isinstance(node, ast.If):
            self.value(node.test, values)
            self._either((node.body, node.orelse), values)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(node, values)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                origins = self.value(item.context_expr, values)
                if item.optional_vars is not None:
                    self._store(item.optional_vars, origins, values)
            self.block(node.body, values)
        elif isinstance(node, ast.Try):
            before = dict(values)
            self.block(node.body, values)
            _merge(values, before)
            self._either((node.orelse, *(item.body for item in node.handlers)), values)
            self.block(node.finalbody, values)
        elif isinstance(node, Function):
            self._inner[node.name] = node
            values[node.name] = _FRESH
        elif isinstance(node, ast.ClassDef):
            self.found.unknown[f"class {node.name}"] = None
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    self._change(self.value(target, values), target)
        else:  # expressions, assertions, exceptions, `match`
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child, values)
            if isinstance(node, ast.Match):
                self._either([case.body for case in node.cases], values)

    def _assign(self, node: ast.Assign | ast.AnnAssign, origins: Origins, values: _Values) -> None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Lambda):
                self._inner[target.id] = node.value
            self._store(target, origins, values)

    def _store(self, target: ast.expr, origins: Origins, values: _Values) -> None:
        if isinstance(target, ast.Name):
            if target.id in self._globals:
                self.found.outside[f"changes `{target.id}`"] = None
            values[target.id] = origins
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._store(item, origins, values)
        elif isinstance(target, ast.Starred):
            self._store(target.value, origins, values)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            root = root_of(target)
            if root is not None and root.id not in values:
                self.found.outside[f"changes `{dotted(target) or dotted(target.value) or root.id}`"] = None
                return
            self._change(self.value(target.value, values), target)
            if root is not None and not _copies(target):
                values[root.id] |= origins  # an item of a container shares its memory with the container

    def _augmented(self, node: ast.AugAssign, values: _Values) -> None:
        added = self.value(node.value, values)
        if isinstance(node.target, ast.Name):
            own = self.value(ast.copy_location(ast.Name(node.target.id, ast.Load()), node), values)
            self._change(own, node.target)
            self._store(node.target, own | added, values)
        else:
            self._store(node.target, added, values)

    def _either(self, arms: Iterable[Iterable[ast.stmt]], values: _Values) -> None:
        ends = []
        for arm in arms:
            ends.append(dict(values))
            self.block(arm, ends[-1])
        values.clear()
        for end in ends:
            _merge(values, end)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, values: _Values) -> None:
        origins = self.value(node.test if isinstance(node, ast.While) else node.iter, values)
        for _ in range(2):  # the second pass sees the values that the first iteration assigned
            before = dict(values)
            if not isinstance(node, ast.While):
                self._store(node.target, origins, values)
            self.block(node.body, values)
            _merge(values, before)
        self.block(node.orelse, values)

    def _change(self, origins: Origins, what: ast.AST) -> None:
        for origin in sorted(origins):
            if origin.startswith("@"):
                self.found.outside[f"changes `{dotted(what) or origin[1:]}`"] = None
            else:
                self.found.changes.add(origin)

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: ast.expr, values: _Values) -> Origins:
        """Return the origins of an expression, and record its effects."""
        if isinstance(node, ast.Name):
            return self._variable(node.id, values)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, values)
        if isinstance(node, ast.Call):
            return self._call(node, values)
        if isinstance(node, ast.NamedExpr):
            origins = self.value(node.value, values)
            self._store(node.target, origins, values)
            return origins
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension(node, values)
        if isinstance(node, ast.Lambda):
            own = dict.fromkeys(parameters(node), _FRESH)
            return self.value(node.body, {**values, **own})
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            self.found.unknown["yield" if not isinstance(node, ast.Await) else "await"] = None
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        parts = [self.value(child, values) for child in children]
        if isinstance(node, ast.Subscript):
            return parts[0]
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.FormattedValue)):
            is_joined = isinstance(node, ast.BinOp) and any(
                isinstance(item, (ast.List, ast.Tuple)) for item in children
            )
            return _FRESH.union(*parts) if is_joined else _FRESH
        return _FRESH.union(*parts)

    def _variable(self, name: str, values: _Values) -> Origins:
        if name in values and name not in self._globals:
            return values[name]
        if name in self._imports:
            return _FRESH
        meaning = meaning_of(self._code, name, self._files)
        if isinstance(meaning, LibraryFunction) or (
            isinstance(meaning, WorkspaceDefinition) and isinstance(meaning.node, Function)
        ):
            return _FRESH
        if isinstance(meaning, ModuleVariable):
            self.found.reads.add(name)
        return frozenset({f"@{name}"})

    def _attribute(self, node: ast.Attribute, values: _Values) -> Origins:
        origins, root = self.value(node.value, values), root_of(node)
        if root is not None and root.id not in values:
            meaning = meaning_of(self._code, dotted(node), self._files, self._imports)
            if isinstance(meaning, LibraryFunction) and meaning.path.startswith(("os.environ", "sys.")):
                self.found.outside[f"reads `{dotted(node)}`"] = None
            elif isinstance(meaning, ModuleVariable):
                self.found.reads.add(root.id)
        return _FRESH if node.attr in NUMBERS else origins

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, values: _Values
    ) -> Origins:
        own = dict(values)
        for part in node.generators:
            self._store(part.target, self.value(part.iter, own), own)
            for test in part.ifs:
                self.value(test, own)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return _FRESH.union(*(self.value(part, own) for part in parts))

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, values: _Values) -> Origins:
        given = [self.value(item, values) for item in node.args]
        words = {word.arg: self.value(word.value, values) for word in node.keywords}
        every = _FRESH.union(*given, *words.values())
        for word in node.keywords:
            is_off = isinstance(word.value, ast.Constant) and not word.value.value
            if word.arg in ("out", "output", "dst") and not is_off:
                self._change(words[word.arg], word.value)
                return words[word.arg] | every
            if word.arg and word.arg.startswith(("inplace", "overwrite_", "in_place")) and not is_off:
                self._change(every, node.func)
                return every
        for item in (*node.args, *(word.value for word in node.keywords)):
            self._passed(item, node, every, values)
        path = dotted(node.func)
        root = path.partition(".")[0]
        if path in self._inner:
            return self._of_inner(self._inner[path], given, words, values)
        if not path or (root in values and root not in self._globals):
            return self._method(node, given, every, values)
        meaning = meaning_of(self._code, path, self._files, self._imports)
        if isinstance(meaning, WorkspaceDefinition):
            return self._of_workspace(meaning, node, given, words)
        if isinstance(meaning, LibraryFunction):
            effect = of_library(meaning.path) if "." in meaning.path else of_builtin(meaning.path)
            return self._known_effect(effect, node, given, every)
        if "." in path:
            return self._of_variable(node, path, given, every, values)
        return self._unknown(node)

    def _passed(self, item: ast.expr, node: ast.Call, every: Origins, values: _Values) -> None:
        """Add the effects of a function that is passed as an argument.

        The called function may call its argument.
        """
        if not isinstance(item, ast.Name) or item.id in values:
            return
        meaning = meaning_of(self._code, item.id, self._files, self._imports)
        if isinstance(meaning, WorkspaceDefinition) and isinstance(meaning.node, Function):
            self._called(self._effects_of(meaning), meaning.node, {}, node, [], every, {None: every})
        elif (
            isinstance(meaning, LibraryFunction)
            and "." not in meaning.path
            and of_builtin(meaning.path) == "outside"
        ):
            self.found.outside[f"calls `{item.id}`"] = None

    def _method(self, node: ast.Call, given: Sequence[Origins], every: Origins, values: _Values) -> Origins:
        """Read a method call on a local variable or on another expression."""
        if not isinstance(node.func, ast.Attribute):
            self.value(node.func, values)
            return self._unknown(node)
        own, name = self.value(node.func.value, values), node.func.attr
        effect = of_method(name, is_tensor=any(not item.startswith("@") for item in own))
        root = root_of(node.func.value)
        if effect == "changes" and not name.endswith("_") and root is not None and root.id in values:
            values[root.id] |= every
        return self._known_effect(effect, node, [own, *given], own | every)

    def _of_variable(
        self, node: ast.Call, path: str, given: Sequence[Origins], every: Origins, values: _Values
    ) -> Origins:
        """Read a method call on a module variable, whose class may be known."""
        owner, _, name = path.rpartition(".")
        meaning = meaning_of(self._code, owner, self._files, self._imports)
        origins = self.value(node.func.value, values)  # type: ignore[attr-defined]
        value = meaning.value if isinstance(meaning, ModuleVariable) else None
        if isinstance(value, ast.Call) and isinstance(meaning, ModuleVariable) and meaning.code is not None:
            path = dotted(value.func)
            method = meaning_of(meaning.code, f"{path}.{name}", self._files)
            if isinstance(method, WorkspaceDefinition) and isinstance(method.node, Function):
                first = (parameters(method.node) or ["self"])[0]
                found = self._effects_of(method)
                return self._called(found, method.node, {first: origins}, node, given, every)
            made = meaning_of(meaning.code, path, self._files)
            if isinstance(made, LibraryFunction) and made.path in ("re.compile", "struct.Struct"):
                return _FRESH
            if isinstance(made, LibraryFunction) and made.path.partition(".")[0] in OUTSIDE_MODULES:
                return self._known_effect("outside", node, given, every)
        effect = of_method(name, is_tensor=False)
        displays = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.ListComp, ast.DictComp)
        if effect == "changes" or isinstance(value, displays):
            return self._known_effect(effect, node, [origins, *given], origins | every)
        return self._unknown(node)

    def _known_effect(
        self, effect: Effect, node: ast.Call, given: Sequence[Origins], every: Origins
    ) -> Origins:
        first = given[0] if given else _FRESH
        if effect == "unknown":
            return self._unknown(node)
        if effect == "outside":
            self.found.outside[f"calls `{dotted(node.func) or called(node)}`"] = None
            return every
        if effect == "draws":
            self.found.draws = True
            if called(node).endswith("_"):
                self._change(first, node.func)
            return every
        if effect == "changes":
            self._change(first, node.func.value if isinstance(node.func, ast.Attribute) else node.func)
            return every
        return every if effect == "holds" else first if effect == "views" else _FRESH

    def _of_workspace(
        self,
        meaning: WorkspaceDefinition,
        node: ast.Call,
        given: Sequence[Origins],
        words: Mapping[str | None, Origins],
    ) -> Origins:
        every = _FRESH.union(*given, *words.values())
        function = meaning.node
        bound: dict[str, Origins] = {}
        if isinstance(function, ast.ClassDef):
            own = defined(function.body, "__init__")
            if own is None:
                is_plain = not function.bases or any(
                    called(item) or dotted(item) for item in function.decorator_list
                )
                return every if is_plain else self._unknown(node)
            function = own
            bound = {(parameters(function) or ["self"])[0]: _FRESH}
        found = self._effects_of(WorkspaceDefinition(meaning.code, function))
        returned = self._called(found, function, bound, node, given, every, words)
        return every if bound else returned

    def _effects_of(self, meaning: WorkspaceDefinition) -> FunctionEffects:
        if meaning.node not in self._known:
            assert isinstance(meaning.node, Function)
            _EffectReader(meaning.code, meaning.node, self._files, self._known).effects()
        return self._known[meaning.node]

    def _called(
        self,
        found: FunctionEffects,
        function: Function,
        bound: Mapping[str, Origins],
        node: ast.Call,
        given: Sequence[Origins],
        every: Origins,
        words: Mapping[str | None, Origins] | None = None,
    ) -> Origins:
        """Add the effects of a called function; return the origins of its result.

        The function's parameters are mapped to the origins of the arguments.
        """
        names = [name for name in parameters(function) if name not in bound]
        is_sure = not any(isinstance(item, ast.Starred) for item in node.args) and None not in (words or {})
        origins = {**bound, **dict(zip(names, given, strict=False))}
        origins |= {name: value for name, value in (words or {}).items() if name is not None}

        def of(name: str) -> Origins:
            return origins.get(name, _FRESH if is_sure and name in names else every)

        for name in sorted(found.changes):
            self._change(of(name), node.func)
            if is_sure and name in names and name not in origins:
                self.found.outside[f"changes the default of `{name}`"] = None
        self.found.outside |= found.outside
        self.found.unknown |= found.unknown
        self.found.reads |= found.reads
        self.found.draws |= found.draws
        return _FRESH.union(
            *(frozenset({name}) if name.startswith("@") else of(name) for name in found.returns)
        )

    def _of_inner(
        self,
        function: Function | ast.Lambda,
        given: Sequence[Origins],
        words: Mapping[str | None, Origins],
        values: _Values,
    ) -> Origins:
        """Read a call of a nested function, which may use the variables around it."""
        every = _FRESH.union(*given, *words.values())
        if function in self._busy or len(self._busy) > _MOST_DEPTH:
            return every
        own = dict(values) | dict.fromkeys(parameters(function), every)
        own |= dict(zip(parameters(function), given, strict=False))
        if isinstance(function, ast.Lambda):
            return self.value(function.body, own)
        self._busy.append(function)
        before, self.found.returns = self.found.returns, set()
        self.block(function.body, own)
        returned, self.found.returns = frozenset(self.found.returns), before
        self._busy.pop()
        return returned

    def _unknown(self, node: ast.Call) -> Origins:
        """Record a call with unknown effects; treat its result as memory of its own."""
        self.found.unknown[ast.unparse(node.func)] = None
        return _FRESH


def _copies(target: ast.Attribute | ast.Subscript) -> bool:
    """Tell whether a store copies numbers into a tensor: only tensors and arrays have several indices."""
    items = target.slice.elts if isinstance(getattr(target, "slice", None), ast.Tuple) else ()  # type: ignore[union-attr]
    return any(isinstance(item, ast.Slice) or ast.unparse(item) == "..." for item in items)


def _merge(values: _Values, others: _Values) -> None:
    for name, origins in others.items():
        values[name] = values.get(name, _FRESH) | origins
