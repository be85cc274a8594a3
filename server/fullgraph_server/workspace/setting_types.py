"""The types of settings: accepted values, and the message for any other value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Report: TypeAlias = Callable[[str, str], None]
"""A function that reports an invalid value. It takes the key, and the rest of a sentence about the value
("must be a table, not 1")."""


def wrong_type(wanted: str, value: object) -> str:
    """Return the rest of a sentence about a value of the wrong type."""
    return f"must be {wanted}, not {value!r}"


@dataclass(frozen=True)
class SettingType:
    """A type of settings: the values that it accepts, and their form in the program."""

    wanted: str
    """A description of the accepted values, which completes a sentence after "must be"."""
    convert: Callable[[Any], Any]
    """A function that returns a value as the program uses it, or ``None`` for a value of another type."""
    json: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of the accepted values, for types that editor settings use."""
    name: str = ""
    """The name of the type in the documentation, if it differs from ``wanted``."""

    def read(self, key: str, value: Any, report: Report) -> Any:
        """Return a value as the program uses it; report an invalid value, return ``None``."""
        converted = self.convert(value)
        if converted is None:
            report(key, wrong_type(self.wanted, value))
        return converted


@dataclass(frozen=True)
class ChoiceOption:
    """One value of a choice, with a description of its effect."""

    value: str | bool
    description: str
    meaning: str = ""
    """The name that the program uses for the value; empty if it uses the value itself."""


@dataclass(frozen=True)
class ChoiceType(SettingType):
    """The type of a setting that takes one of a few values."""

    options: tuple[ChoiceOption, ...] = ()


@dataclass(frozen=True)
class _PatternType(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        text = super().read(key, value, report)
        try:
            re.compile(text or "")
        except re.error as error:
            report(key, f"is not a regular expression: {error}")
            return None
        return text


@dataclass(frozen=True)
class _InterpreterType(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        # Some clients send a list of arguments. An empty string is VS Code's default.
        if isinstance(value, list) and len(value) <= 1:
            value = value[0] if value else None
        return super().read(key, value, report) if value not in (None, "") else None


@dataclass(frozen=True)
class _StringsType(SettingType):
    def read(self, key: str, value: Any, report: Report) -> Any:
        items = super().read(key, value, report) or ()
        strings = (TEXT.read(f"{key}[{index}]", item, report) for index, item in enumerate(items))
        return tuple(item for item in strings if item is not None)


@dataclass(frozen=True)
class _StringTableType(SettingType):
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
    """Return the type of positive numbers in a unit."""
    return SettingType(
        f"a number of {unit} above 0",
        lambda value: float(value) if _positive(value, int, float) else None,
        {"type": "number", "exclusiveMinimum": 0},
    )


def choice(*options: ChoiceOption, quoted: bool = True) -> ChoiceType:
    """Return the type of a choice; if ``quoted``, messages quote strings as TOML does."""

    def convert(value: Any) -> str | None:
        # Python has 1 == True; a setting must not accept 1 for true.
        found = (option for option in options if type(value) is type(option.value) and value == option.value)
        return next((option.meaning or str(option.value) for option in found), None)

    def spelled(value: str | bool) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return f'"{value}"' if quoted else value

    *names, last = (spelled(option.value) for option in options)
    json = {"type": "string", "enum": [option.value for option in options]}
    return ChoiceType(f"{', '.join(names)} or {last}", convert, json, options=options)


def one_of(names: Iterable[str]) -> SettingType:
    """Return the type of a choice among names that need no descriptions."""
    known = tuple(names)
    return SettingType(f"one of {', '.join(known)}", lambda value: value if value in known else None)


TEXT = SettingType(
    "a string that is not empty", lambda value: _instance_of(str)(value) or None, name="a string"
)
PATTERN = _PatternType(TEXT.wanted, TEXT.convert, name="a regular expression")
WHOLE = SettingType("a whole number above 0", lambda value: value if _positive(value, int) else None)
FLAG = SettingType("true or false", _instance_of(bool), {"type": "boolean"})
ITEMS = SettingType("a list", _instance_of(list))
STRINGS = _StringsType(ITEMS.wanted, ITEMS.convert, name="a list of strings")
"""Each wrong item is reported and left out."""
STRING_TABLE = _StringTableType("a table", _instance_of(dict), name="a table of strings")
"""Each wrong entry is reported and left out."""
INTERPRETER = _InterpreterType(
    "the path of a Python, or a list with one", _instance_of(str), {"type": "string"}, "a path"
)
FOLDERS = SettingType(
    "an object of folders",
    _folders,
    {"type": "object", "additionalProperties": {"type": "string"}},
    "an object of paths",
)
"""The type of an editor's JSON object whose values are paths. One invalid value invalidates the whole
object."""


@dataclass(frozen=True)
class Setting:
    """A value that users can set: its key, its type, and its documentation."""

    key: str
    type: SettingType
    description: str
    """What the value means, in Markdown: one or more sentences."""
    unset: str = ""
    """What happens if the setting is not set, in Markdown, without a full stop at the end."""
    default: Any = None
    """The default value as a user would write it; ``None`` if there is no fixed default."""
    scope: Literal["resource", "window", "machine-overridable"] | None = None
    """VS Code's scope of the setting; ``None`` if VS Code does not show the setting."""
    client_only: bool = False
    """Whether only the VS Code client reads the setting."""

    @property
    def attribute(self) -> str:
        """The name of the setting in the program: ``trace_paths`` for ``tracePaths``."""
        return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", self.key).replace("-", "_")


def read_settings(
    settings: Iterable[Setting], table: Mapping[str, Any], report: Report, prefix: str = ""
) -> dict[str, Any]:
    """Return the valid values of a table by attribute; report the invalid ones.

    ``prefix`` is put before reported keys. A ``null`` in JSON counts as not set.
    """
    read = {
        setting.attribute: setting.type.read(f"{prefix}{setting.key}", table[setting.key], report)
        for setting in settings
        if table.get(setting.key) is not None
    }
    return {attribute: value for attribute, value in read.items() if value is not None}
