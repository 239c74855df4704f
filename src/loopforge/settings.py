"""Settings: the values of one documented table, and the only file that reads the environment.

A value comes from the environment (`LOOPFORGE_` and its name in capitals), else from what was saved
in the home while it ran (data/settings.json: live_settings.py), else from `loopforge.toml`, else
from the table; each remembers where it came from. The table is the one in setting_defaults.py, and
what each plugin declares, its own name before each. The tables `[models]` and `[tiers]` are passed
on as they are: what they mean is known to `models`. Keys of model providers are read from their
standard variables, else from data/keys.json, and are never shown.

Knows nothing of what the settings are used for. Making a home is `home.py`'s.
"""

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, fields, make_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import parse_qsl, unquote, urlsplit

from loopforge.errors import BadSettings
from loopforge.io.platforms.bot_tokens import tokens_in
from loopforge.ledger.database.database_url import resolve_database_url
from loopforge.models.providers.known_services import keys_in
from loopforge.runtime.installation.home_timezone import zone_of
from loopforge.runtime.installation.settings_file import (
    FILE,
    KEYS,
    RAW_TABLES,
    SETTINGS,
    key_location,
    read_file,
    read_saved,
    refuse_strangers,
)
from loopforge.runtime.plugins.installed_plugins import load_plugins
from loopforge.runtime.plugins.setting_declarations import PREFIX, SettingsRow, reader_of, rows_of
from loopforge.setting_defaults import Settings

SAVED = f"data/{SETTINGS}"
SURFACES, SINKS = "loopforge.surfaces", "loopforge.sinks"
SECRET_ENDS = ("_KEY", "_KEY_ID", "_TOKEN", "_SECRET", "PASSWORD")
"""How variables end that hold a secret, whoever reads them."""
DECLARING = (SURFACES, SINKS, "loopforge.parts")
"""Groups of plugins that declare settings of their own; of parts nothing else is asked."""


def settings_rows() -> tuple[SettingsRow, ...]:
    """The table, row by row: the home's own, then each plugin's."""
    return rows_of(_composed(tuple(sys.path)))


@lru_cache(maxsize=4)
def _composed(_path: tuple[str, ...]) -> type[Settings]:
    """The table with what every plugin declares, each under its own name; a class of its own."""
    more: dict[str, Any] = {}
    known = {each.name for each in fields(Settings)}
    for group in DECLARING:
        for name, plugin in load_plugins(group).items():
            try:
                types, declared = get_type_hints(plugin.settings), fields(plugin.settings)
                groups = [each.metadata["group"] or plugin.title for each in declared]
            except Exception as error:
                said = f"The plugin {name!r} of {group} declares no settings"
                raise BadSettings(
                    f"{said} ({type(error).__name__}: {error}). Its `settings` are to be a frozen "
                    "dataclass, each field of which is a `setting(...)`; uninstall it, or mend it."
                ) from error
            for each, titled in zip(declared, groups, strict=True):
                about = {**each.metadata, "group": titled}
                key = f"{name}_{each.name}"
                if not re.fullmatch("[a-z][a-z0-9]*", name) or key in known | {*more}:
                    raise BadSettings(
                        f"The plugin {name!r} declares the setting `{key}`, which is not free. A "
                        "plugin's name is a word of its own, in small letters and digits."
                    )
                column = field(default=each.default, metadata=about, repr=not about["secret"])
                more[key] = (types[each.name], column)
    columns = [(key, *column) for key, column in more.items()]
    return make_dataclass("Settings", columns, bases=(Settings,), frozen=True, kw_only=True)


def find_home(home: Path | None, environ: Mapping[str, str], here: Path) -> Path:
    """Which folder is the home.

    The one named (`--home`, LOOPFORGE_HOME), else the current folder if it holds loopforge.toml or
    is empty (hidden files aside), else the folder `home` inside it.
    """
    if home is not None:
        return home.expanduser().absolute()
    if named := environ.get(PREFIX + "HOME"):
        return (here / Path(named).expanduser()).absolute()
    empty = not any(not entry.name.startswith(".") for entry in here.iterdir())
    return here if empty or (here / FILE).exists() else here / "home"


def is_home() -> bool:
    """Whether a home is here, or would be made here without a word: named, or an empty folder."""
    here = Path.cwd()
    home = find_home(None, os.environ, here)
    return bool(os.environ.get(PREFIX + "HOME")) or home == here or (home / FILE).exists()


def load_settings(
    home: Path | None = None, *, environ: Mapping[str, str] | None = None
) -> Settings:
    """Read the settings of a home. `environ` defaults to the process's own.

    The home need not exist. Raises BadSettings: which setting, from where, what is allowed.
    """
    environ = os.environ if environ is None else environ
    home = find_home(home, environ, Path.cwd())
    if home.is_file():
        raise BadSettings(f"{home} is a file. Name a folder as the home, which is made if need be.")
    return settings_with(read_saved(home / "data" / SETTINGS), home, environ)


def settings_with(saved: Mapping[str, Any], home: Path, environ: Mapping[str, str]) -> Settings:
    """The settings, if this were what is saved in the home: texts by name, and the raw tables.

    Raises BadSettings.
    """
    text, written = read_file(home / FILE)
    raw = {table: written.pop(table, {}) for table in RAW_TABLES}
    for table in RAW_TABLES:
        if not isinstance(saved.get(table, {}), Mapping):
            raise BadSettings(
                f"`{table}` ({SAVED}) must be a table: write it into {FILE}, as "
                "docs/adding-models.md says, or change models in the browser (Admin, Models)."
            )
    refuse_strangers(written, raw, text, home / FILE, [row.name for row in settings_rows()])
    known = {row.name for row in settings_rows()}
    more = {name: value for name, value in saved.items() if name in known}
    sources = _sources({**written, **more}, more, text, environ)
    values = _checked({**written, **more}, environ, sources)
    models = {**raw["models"], **saved.get("models", {})}
    return _composed(tuple(sys.path))(
        **_completed(values, home, environ, sources),
        models=models,
        tiers={**raw["tiers"], **saved.get("tiers", {})},
        home=home,
        sources=sources,
        keys={**read_saved(home / "data" / KEYS), **keys_in(environ, models)},
        tokens=tokens_in(environ, [n for n, each in load_plugins(SURFACES).items() if each.bots]),
        strays=(*_strays(environ), *sorted(saved.keys() - known - {*RAW_TABLES})),
        environ=environ,
    )


def secret_values(settings: Settings) -> set[str]:
    """What mates never say: keys, what secret settings hold, and passwords within addresses.

    Of variables that others read (AWS's own, PostgreSQL's) what their names say is a secret.
    An address itself is no secret: others are like it, such as those of one machine.
    """
    written = [(row.secret, str(getattr(settings, row.name))) for row in settings_rows()]
    given = [text for secret, text in written if secret or "://" in text]
    others = (value for name, value in settings.environ.items() if name.endswith(SECRET_ENDS))
    words = " ".join([*given, *settings.keys.values(), *others]).split()
    return {each for word in words for each in (_passwords(word) if "://" in word else (word,))}


def _passwords(address: str) -> Iterator[str]:
    """The password of an address, and one in its query; a database's may hold a slash as it is."""
    before, _, query = address.partition("?")
    with suppress(ValueError):
        yield unquote(urlsplit(before).password or "")
    if found := re.match(r"[^/]*//[^:@/]*:([^@]*)@", before):
        yield unquote(found[1])
    yield from (value for name, value in parse_qsl(query) if name == "password")


def with_ledger(settings: Settings, url: str) -> Settings:
    """The settings with the ledger at another place; as they are, where none is named."""
    if not url:
        return settings
    return replace(settings, database_url=resolve_database_url(url, settings.home))


def _sources(
    written: Mapping[str, Any], saved: Collection[str], text: str, environ: Mapping[str, str]
) -> dict[str, str]:
    """Where each setting comes from: a variable, SAVED, a line of the file, or "default"."""

    def source(row: SettingsRow) -> str:
        if variable := row.given(environ):
            return variable
        if row.name in saved:
            return SAVED
        return key_location(text, row.name) if row.name in written else "default"

    return {row.name: source(row) for row in settings_rows()}


def _checked(
    written: Mapping[str, Any], environ: Mapping[str, str], sources: Mapping[str, str]
) -> dict[str, Any]:
    """The values, converted and checked.

    With nothing set there is nothing to check, nor to import: pydantic costs 0.2 s.
    """
    if set(sources.values()) == {"default"}:
        return {row.name: row.default for row in settings_rows()}
    from pydantic import ValidationError

    known = {row.name: environ[name] for row in settings_rows() if (name := row.given(environ))}
    given = {**written, **known}
    for row in settings_rows():
        if row.type in ("int", "float") and isinstance(given.get(row.name), bool):  # true is no 1
            raise _misfit(row, sources, given[row.name])
    try:
        values = reader_of(_composed(tuple(sys.path)))(**given).model_dump()
    except ValidationError as error:
        problem = error.errors()[0]
        row = next(row for row in settings_rows() if row.name == problem["loc"][0])
        raise _misfit(row, sources, problem["input"]) from error
    return values


def _misfit(row: SettingsRow, sources: Mapping[str, str], value: object) -> BadSettings:
    is_it = "" if row.secret else f"is {value!r}"[:83] + "; it "
    return BadSettings(f"`{row.name}` ({sources[row.name]}) {is_it}must be {row.allowed}.")


def _completed(
    values: dict[str, Any], home: Path, environ: Mapping[str, str], sources: Mapping[str, str]
) -> dict[str, Any]:
    """Fill in the defaults that depend on the machine and the home."""
    for row in settings_rows():
        if row.clean is not None:
            values[row.name] = row.clean(values[row.name], sources[row.name])
    values["person"] = values["person"] or environ.get("LOGNAME") or environ.get("USER") or "guest"
    values["timezone"] = zone_of(values["timezone"], environ, sources["timezone"])
    values["database_url"] = resolve_database_url(values["database_url"], home)
    for name in ("host_socket", "backup_to"):
        if (named := values[name]) and "://" not in named:
            values[name] = str(home / Path(named).expanduser())
    return values


def _strays(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that look like settings and are none; the doctor tells of them."""
    known = {row.variable for row in settings_rows()} | {PREFIX + "HOME"}
    return tuple(sorted(n for n in environ if n.startswith(PREFIX) and n not in known))
