"""What settings are: the values that each takes, and the sentence for a value that it does not take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Report: TypeAlias = Callable[[str, str], None]
"""Takes what is wrong: the key of a value, and the rest of a sentence about it ("must be a table, not 1")."""


def wrong_type(wanted: str, value: object) -> str:
    """Return the rest of the sentence about a value that is not the wanted one."""
    return f"must be {wanted}, not {value!r}"


@dataclass(frozen=True)
class SettingType:
    """The values that a setting takes."""

    wanted: str
    """The values in words, which complete "must be"."""
    convert: Callable[[Any], Any]
    """Returns a value as the program uses it, ``None`` if it is of another type."""
    json: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of the values, where an editor has such a setting."""
    name: str = ""
    """What the documentation calls the values, if not as ``wanted`` does."""

    def read(self, key: str, value: Any, report: Report) -> Any:
        """Return a value as the program uses it; report it and return ``None`` if it is wrong."""
        converted = self.convert(value)
        if converted is None:
            report(key, wrong_type(self.wanted, value))
        return converted


@dataclass(frozen=True)
class Option:
    """One value of a choice, what it does, and what stands for it in the program (else the value itself)."""

    value: str | bool
    description: str
    meaning: str = ""


@dataclass(frozen=True)
class Choice(SettingType):
    """One of a few values."""

    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class _Pattern(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        text = super().read(key, value, report)
        try:
            re.compile(text or "")
        except re.error as error:
            report(key, f"is no regular expression: {error}")
            return None
        return text


@dataclass(frozen=True)
class _Interpreter(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        # Some clients give a list of arguments. An empty string is VS Code's default.
        if isinstance(value, list) and len(value) <= 1:
            value = value[0] if value else None
        return super().read(key, value, report) if value not in (None, "") else None


@dataclass(frozen=True)
class _Strings(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        items = super().read(key, value, report) or ()
        strings = (TEXT.read(f"{key}[{index}]", item, report) for index, item in enumerate(items))
        return tuple(item for item in strings if item is not None)


@dataclass(frozen=True)
class _StringTable(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        table = super().read(key, value, report) or {}
        strings = {name: TEXT.read(f"{key}.{name}", item, report) for name, item in table.items()}
        return {name: item for name, item in strings.items() if item is not None}


def _instance_of(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else None


def _positive(value: Any, *kinds: type[float]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool) and value > 0


def _folders(value: Any) -> Any:
    right = isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return value if right else None


def number(unit: str) -> SettingType:
    """Return the type of positive numbers of a unit."""
    return SettingType(
        f"a number of {unit} above 0",
        lambda value: float(value) if _positive(value, int, float) else None,
        {"type": "number", "exclusiveMinimum": 0},
    )


def choice(*options: Option, quoted: bool = True) -> Choice:
    """Return the type of the options; sentences quote their strings, as TOML does, if ``quoted``."""

    def convert(value: Any) -> str | None:
        # 1 == True, but not here.
        found = (option for option in options if type(value) is type(option.value) and value == option.value)
        return next((option.meaning or str(option.value) for option in found), None)

    def spelled(value: str | bool) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return f'"{value}"' if quoted else value

    *names, last = (spelled(option.value) for option in options)
    json = {"type": "string", "enum": [option.value for option in options]}
    return Choice(f"{', '.join(names)} or {last}", convert, json, options=options)


def one_of(names: Iterable[str]) -> SettingType:
    """Return the type of some names that need no description."""
    known = tuple(names)
    return SettingType(f"one of {', '.join(known)}", lambda value: value if value in known else None)


TEXT = SettingType(
    "a string that is not empty", lambda value: _instance_of(str)(value) or None, name="a string"
)
PATTERN = _Pattern(TEXT.wanted, TEXT.convert, name="a regular expression")
WHOLE = SettingType("a whole number above 0", lambda value: value if _positive(value, int) else None)
FLAG = SettingType("true or false", _instance_of(bool), {"type": "boolean"})
ITEMS = SettingType("a list", _instance_of(list))
STRINGS = _Strings(ITEMS.wanted, ITEMS.convert, name="a list of strings")
"""Items that are wrong are reported one by one, and left out."""
STRING_TABLE = _StringTable("a table", _instance_of(dict), name="a table of strings")
"""Entries that are wrong are reported one by one, and left out."""
INTERPRETER = _Interpreter(
    "the path of a Python, or a list with one", _instance_of(str), {"type": "string"}, "a path"
)
FOLDERS = SettingType(
    "an object of folders",
    _folders,
    {"type": "object", "additionalProperties": {"type": "string"}},
    "an object of paths",
)
"""An object of an editor's JSON whose values are paths: one wrong value makes all of it wrong."""


@dataclass(frozen=True)
class Setting:
    """A value that users can set: its key, its type, and what the documentation says of it."""

    key: str
    type: SettingType
    description: str
    """What the value is, in Markdown: one or more sentences."""
    unset: str = ""
    """What holds where nobody has set it, in Markdown, without the full stop."""
    default: Any = None
    """The value that holds where nobody has set it, if there is one: as the user would write it."""
    scope: Literal["resource", "window", "machine-overridable"] | None = None
    """VS Code's scope of the setting; ``None`` for one that VS Code does not show."""
    client_only: bool = False
    """Whether the client for VS Code alone reads it."""

    @property
    def attribute(self) -> str:
        """The name that the value has in the program: ``trace_paths`` for ``tracePaths``."""
        return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", self.key).replace("-", "_")


def read_settings(
    settings: Iterable[Setting], table: Mapping[str, Any], report: Report, prefix: str = ""
) -> dict[str, Any]:
    """Return the values of a table that are set and right, by attribute; report those that are wrong.

    ``prefix`` stands before the keys that are reported. ``null`` in JSON is a value that is not set.
    """
    read = {
        setting.attribute: setting.type.read(f"{prefix}{setting.key}", table[setting.key], report)
        for setting in settings
        if table.get(setting.key) is not None
    }
    return {attribute: value for attribute, value in read.items() if value is not None}
