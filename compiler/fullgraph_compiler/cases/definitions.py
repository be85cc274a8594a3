"""Extract the definitions that a repro needs from the user's files.

The definitions are operators, backends and settings. This module needs only the standard library, and reads
the user's files without importing them. All statements end up in one module: if two files define the same
name, the later definition wins. If a file is imported as ``import a.b`` and used under that dotted name, its
definitions are not found.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import TypeAlias

from .statements import NAMESPACES_OF_TORCH, TORCH, ImportBinding, ModuleStatement, read_statements

_Name: TypeAlias = tuple[str, str]
"""A file and a name in this file; the file is empty for operators."""


def definitions(files: Mapping[str, str], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the top-level statements that the wanted names need, imports first.

    ``files`` are the texts of the user's files in the order of their import, ``__main__`` last. ``wanted``
    contains names of functions, classes and variables, and operators (``mylib::op``). Statements that change
    torch are always included. Code under ``if __name__ == "__main__"`` and files with syntax errors are never
    included. An import of one of the user's files is replaced by statements of that file.
    """
    selection = _DefinitionSelection(read_statements(files))
    for name in (TORCH, *wanted):
        selection.need(selection.find(name))
    return (*selection.imports(), *selection.others())


class _DefinitionSelection:
    def __init__(self, files: dict[str, list[ModuleStatement]]) -> None:
        self._files = files
        self._modules = _ModuleLookup(files)
        self._binders: dict[_Name, list[ModuleStatement]] = {}
        self._completers: dict[_Name, list[tuple[str, ModuleStatement]]] = {}
        self._needed: set[_Name] = set()
        self._chosen: set[tuple[str, ModuleStatement]] = set()
        for filename, statement in self._all():
            for name in statement.binds:
                self._binders.setdefault((filename, name), []).append(statement)
        for filename, statement in self._all():
            for text in statement.binds:
                # ``import a.b`` also binds ``a``, which matters only without an ``import a``.
                self._binders.setdefault((filename, text.partition(".")[0]), [statement])
            for text in statement.completes:
                origin = self._origin(_name(filename, text))
                if origin is not None:
                    self._completers.setdefault(origin, []).append((filename, statement))

    def find(self, name: str) -> _Name:
        """Return a name with the last file that binds it or registers something for it."""
        names = self._binders.keys() | self._completers.keys()
        files = [filename for filename in self._files if (filename, name) in names]
        return _name(files[-1] if files else "", name)

    def need(self, name: _Name) -> None:
        """Choose all statements that a name needs, directly or through other names."""
        waiting = [name]
        while waiting:
            name = waiting.pop()
            if name not in self._needed:
                self._needed.add(name)
                waiting += self._choose_for(name)

    def imports(self) -> Iterator[str]:
        """Yield the chosen imports of modules other than the user's files, each once."""
        names: dict[str, list[str]] = {}
        for filename, statement in self._in_order():
            if statement.imports and not self._imported(filename, statement.imports):
                source, _, name = statement.text.rpartition("import ")
                same = names.setdefault(f"{source}import " if source else statement.text, [])
                if source and name not in same:
                    same.append(name)
        for start in sorted(names, key=lambda start: "__future__" not in start):
            yield f"{start}{', '.join(names[start])}"

    def others(self) -> Iterator[str]:
        """Yield the chosen statements, with replacements for imports of the user's files."""
        for filename, statement in self._in_order():
            if not statement.imports:
                yield statement.text
            elif source := self._imported(filename, statement.imports):
                yield from self._instead_of_import(filename, statement.imports.bound, source)

    def _choose_for(self, name: _Name) -> Iterator[_Name]:
        """Choose the statements of one name; yield the names that these statements need."""
        filename, text = name
        statements = [(filename, statement) for statement in self._binders.get(name, ())]
        statements += self._completers.get(name, ())
        if not statements and "::" in text:
            statements += self._importers_of(text.partition("::")[0])
        if not statements:
            yield from self._elsewhere(filename, text)
        for place in statements:
            self._chosen.add(place)
            where, statement = place
            for item in statement.binds | statement.refers | statement.completes:
                yield _name(where, item)
            if any(item.text == "from __future__ import annotations" for item in self._files[where]):
                yield where, "annotations"
            source = self._imported(where, statement.imports) if statement.imports else None
            if source and source[1]:
                yield source

    def _elsewhere(self, filename: str, text: str) -> Iterator[_Name]:
        """Yield where another file may define a name that ``filename`` does not bind."""
        module, _, attribute = text.rpartition(".")
        for statement in self._binders.get((filename, module), ()):
            source = self._imported(filename, statement.imports) if statement.imports else None
            if source and not source[1]:
                yield source[0], attribute
        if "." not in text and text != "*" and not hasattr(builtins, text):
            for statement in self._binders.get((filename, "*"), ()):
                source = self._imported(filename, statement.imports) if statement.imports else None
                yield (source[0], text) if source else (filename, "*")

    def _importers_of(self, namespace: str) -> list[tuple[str, ModuleStatement]]:
        """Return the imports that may define the operators of a namespace.

        These are the imports of a package with the name of the namespace. If there are none, these are all
        imports of packages except torch and the standard library.
        """
        if namespace in NAMESPACES_OF_TORCH:
            return []
        packages = {
            (filename, statement): statement.imports.module.partition(".")[0]
            for filename, statement in self._all()
            if statement.imports and not self._imported(filename, statement.imports)
        }
        same = [place for place, package in packages.items() if package == namespace]
        not_packages = {*sys.stdlib_module_names, "torch", ""}
        return same or [place for place, package in packages.items() if package not in not_packages]

    def _origin(self, name: _Name) -> _Name | None:
        """Follow imports to the definition of a name; ``None`` if it is in a package."""
        seen = set()
        while name not in seen:
            seen.add(name)
            filename, text = name
            for statement in self._binders.get(name, self._binders.get((filename, "*"), [])):
                if statement.imports:
                    source = self._imported(filename, statement.imports)
                    if source is None:
                        return None
                    name = source if source[1] else (source[0], text)
        return name

    def _imported(self, filename: str, item: ImportBinding) -> _Name | None:
        """Return the user's file that an import loads, and the imported name in this file.

        The name is empty if the import binds the whole file. ``None`` if the import is not of a user's file.
        """
        source = self._modules.find(filename, item.module, item.level)
        if item.name and item.name != "*":
            inner = self._modules.find(filename, f"{item.module}.{item.name}".strip("."), item.level)
            if inner and (source, item.name) not in self._binders:
                return inner, ""
            return (source, item.name) if source else None
        return (source, "") if source else None

    def _instead_of_import(self, filename: str, bound: str, source: _Name) -> Iterator[str]:
        if source[1]:
            if bound != source[1]:
                yield f"{bound} = {source[1]}"
        elif bound != "*":
            names = sorted(
                text.rpartition(".")[2]
                for where, text in self._needed
                if where == filename and text.rpartition(".")[0] == bound
            )
            yield f"class {bound}:\n" + "\n".join(f"    {name} = {name}" for name in names or ["pass"])

    def _all(self) -> Iterator[tuple[str, ModuleStatement]]:
        for filename, statements in self._files.items():
            for statement in statements:
                yield filename, statement

    def _in_order(self) -> Iterator[tuple[str, ModuleStatement]]:
        return (place for place in self._all() if place in self._chosen)


class _ModuleLookup:
    """A lookup of the user's files by module name."""

    def __init__(self, filenames: Collection[str]) -> None:
        self._files: dict[tuple[str, ...], str] = {}
        self._packages = set()
        for filename in filenames:
            parts = PurePath(filename).with_suffix("").parts
            if parts[-1:] == ("__init__",):
                parts = parts[:-1]
                self._packages.add(parts)
            self._files[parts] = filename

    def find(self, filename: str, module: str, level: int) -> str | None:
        names = tuple(module.split(".")) if module else ()
        if level:
            folder = PurePath(filename).parts[:-level]
            return self._files.get((*folder, *names))
        if names[0] in sys.stdlib_module_names:
            return None
        # Not a file within a package: its module name would be longer.
        for parts, source in self._files.items():
            if parts[-len(names) :] == names and parts[: -len(names)] not in self._packages:
                return source
        return None


def _name(filename: str, text: str) -> _Name:
    return ("", text) if "::" in text else (filename, text)
