"""Declaring settings: a frozen dataclass whose fields say what each setting is for.

    @dataclass(frozen=True, kw_only=True)
    class BellSettings:
        port: int = setting(7000, "Where the bell listens.", least=0, most=65_535)

The home's own table (setting_defaults.py) and every plugin's are declared so; a plugin's names have
its own name before them: `bell_port`, LOOPFORGE_BELL_PORT. Reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_type_hints

if TYPE_CHECKING:
    from pydantic import BaseModel

PREFIX = "LOOPFORGE_"
T = TypeVar("T")


def setting(
    default: Any,
    help: str,
    group: str = "",
    *,
    least: float | None = None,
    most: float | None = None,
    shown: str = "",
    secret: bool = False,
    live: bool = False,
    variable: str = "",
    clean: Callable[[str, str], str] | None = None,
) -> Any:
    """One row of the table. `least` and `most` bound a number; `shown` describes the default.

    `group` is its heading; where none is given that of the row before, or a plugin's own title.
    `secret`: it is shown nowhere. `live`: a change takes effect at once, not at the next start.
    `variable` is an environment variable of another name than PREFIX and the setting's own (or
    several spellings of it, with spaces between; the first one set counts). `clean`
    makes what it means of a text and of where that was set; it may raise BadSettings.
    """
    about: dict[str, Any] = {
        "help": help,
        "group": group,
        "least": least,
        "most": most,
        "shown": shown,
    }
    about |= {"named": variable, "secret": secret, "live": live, "clean": clean}
    return field(default=default, metadata=about, repr=not secret)


@dataclass(frozen=True)
class SettingsPart:
    """What a part of the house declares; a setting's name begins with that of its entry point."""

    title: str
    settings: type


@dataclass(frozen=True)
class SettingsRow:
    """One setting as the docs, the doctor and the example file see it.

    `shown` is the default in words; `told` says that it depends on the machine or the home.
    """

    name: str
    type: str
    default: Any
    shown: str
    told: bool
    help: str
    group: str
    least: float | None
    most: float | None
    named: str
    secret: bool
    live: bool
    clean: Callable[[str, str], str] | None

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return self.variables[0]

    @property
    def variables(self) -> list[str]:
        """Every spelling of it."""
        return self.named.split() or [PREFIX + self.name.upper()]

    def given(self, environ: Mapping[str, str]) -> str:
        """Its variable that is set, by any of its spellings; "" for none."""
        return next((name for name in self.variables if environ.get(name)), "")

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it may be, where it is one of a few."""
        if self.type == "bool":
            return ("true", "false")
        if "Literal" not in self.type:
            return ()
        return tuple(self.type[8:-1].replace("'", "").replace('"', "").split(", "))

    @property
    def allowed(self) -> str:
        """What may stand there, in words."""
        if self.choices:
            return " or ".join(self.choices)
        kind = {"int": "a whole number", "float": "a number", "str": "text"}[self.type]
        if self.least is not None and self.most is not None:
            return f"{kind} from {self.least:,.10g} to {self.most:,.10g}"
        return f"{kind}, at least {self.least:g}" if self.least is not None else kind


@dataclass(frozen=True)
class SettingState:
    """One setting as its owner finds it, in words; secrets are hidden.

    `value` is in force, `next` from the next start on, where that is another. `saved`: it was
    changed while the home ran. `fixed`: a variable says what it is, so that saving changes nothing.
    """

    row: SettingsRow
    value: str
    next: str
    source: str
    saved: bool
    fixed: bool


def rows_of(declared: type) -> tuple[SettingsRow, ...]:
    """The rows that a dataclass declares, in its order."""
    return _rows(declared)


def reader_of(declared: type) -> type[BaseModel]:
    """What converts and checks the values of the rows that a dataclass declares."""
    return _reader(declared)


@lru_cache(maxsize=64)
def _rows(declared: type) -> tuple[SettingsRow, ...]:
    return tuple(_each_row(declared))


def _each_row(declared: type) -> Iterator[SettingsRow]:
    types, group = get_type_hints(declared), ""
    for each in fields(declared):
        if about := each.metadata:
            group = about["group"] or group
            kind = getattr(types[each.name], "__name__", "")
            kind = str(types[each.name]) if kind == "Literal" else kind
            kind = kind.removeprefix("typing.")
            yield SettingsRow(
                each.name, kind, each.default, **_row({**about, "group": group}, each.default)
            )


@lru_cache(maxsize=4)
def _reader(declared: type) -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    types = get_type_hints(declared)
    columns: dict[str, Any] = {
        row.name: (types[row.name], Field(default=row.default, ge=row.least, le=row.most))
        for row in rows_of(declared)
    }
    return create_model("Settings", __config__=ConfigDict(protected_namespaces=()), **columns)


class PluginSettings(Protocol):
    """The settings of a home, of which plugins' own can be had."""

    @property
    def home(self) -> Path:
        """The home's folder."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables of the environment, in which keys are."""

    @property
    def web_address(self) -> str:
        """The address by which browsers reach the home from elsewhere; "" for none."""

    def of(self, plugin: str, declared: type[T]) -> T:
        """What is set of a plugin."""


def _row(about: Mapping[str, Any], default: Any) -> dict[str, Any]:
    plain = f"{default:g}" if isinstance(default, float) else str(default)
    plain = plain.lower() if isinstance(default, bool) else plain
    return {**about, "shown": about["shown"] or plain, "told": bool(about["shown"])}


def keys_within(table: Mapping[str, Any]) -> Iterator[str]:
    """The keys of a table, and of the tables in it."""
    for key, value in table.items():
        yield key
        if isinstance(value, dict):
            yield from keys_within(value)


def line_of(text: str, key: str) -> int:
    """The line on which a key or table is written, from 1; 0 where it is not found."""
    pattern = re.compile(rf"""\s*(\[+\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    return next((n for n, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 0)
