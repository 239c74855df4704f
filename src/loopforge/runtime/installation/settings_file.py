"""loopforge.toml as a text: read, and checked for what no setting is; and what was saved beside it.

What was saved while the home ran are two JSON objects in its data (settings.json, keys.json), which
only its owner may read, written by the program alone.

Knows no setting; what a value means, and whether it is allowed, is known where the table is. Shows
no key.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.core.limits.toml_reading import toml_of
from loopforge.errors import BadSettings, LoopforgeError
from loopforge.runtime.installation.home_files import (
    bytes_of,
    exclusive_access,
    text_of,
    write_private,
)
from loopforge.runtime.plugins.setting_declarations import keys_within, line_of

FILE = "loopforge.toml"
LONGEST = 80
"""Characters of what no setting is called, as it is told and looked for; none has as many."""
RAW_TABLES = ("models", "tiers")
"""Tables that are passed on as they are."""


def read_file(path: Path) -> tuple[str, dict[str, Any]]:
    """The file's text, and what it holds; nothing where there is none. Raises BadSettings."""
    try:
        text = text_of(path)
        return text, toml_of(text)
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}.") from error
    except ValueError as error:
        raise BadSettings(f"{path} is not TOML: {error}.") from error


def write_setting(path: Path, name: str, value: str) -> None:
    """Write a text as a setting: where it stands, or its example does, else at the top.

    Where that row cannot be told from others the file stays as it is. Raises BadSettings, OSError.
    """
    text, held = read_file(path)
    row = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    written = re.compile(rf"^[ \t]*{name}[ \t]*=.*$", re.MULTILINE)
    example = re.compile(rf"^#{name} = .*$", re.MULTILINE)
    place = written.search(text) or example.search(text)
    start, end = place.span() if place else (0, 0)
    changed = text[:start] + row + ("" if place else "\n") + text[end:]
    try:
        if toml_of(changed) == {**held, name: value}:
            write_private(path, changed.encode())
    except ValueError:
        return


def key_location(text: str, key: str) -> str:
    """Where a key stands in the file, for people."""
    line = line_of(text, key) if len(key) <= LONGEST else 0
    return f"{FILE}, line {line}" if line else FILE


def refuse_strangers(
    written: Mapping[str, Any],
    raw: Mapping[str, Any],
    text: str,
    path: Path,
    names: Sequence[str],
) -> None:
    """Refuse what the table (`names`) does not know, and settings below a table's heading."""
    for key, value in written.items():
        if key in names and not isinstance(value, dict):
            continue
        where, told = f"{path.parent / key_location(text, key)}", spelled_out(key[:LONGEST])
        if isinstance(value, dict):
            raise BadSettings(
                f"{where}: there is no table [{told}]. Settings stand at the top, without a table; "
                f"the tables are {' and '.join(f'[{table}]' for table in RAW_TABLES)}."
            )
        near = difflib.get_close_matches(key, names, 1)
        newer = "docs/settings.md lists them all; a newer Loopforge may know it: install that one."
        hint = f"Did you mean `{near[0]}`?" if near else newer
        raise BadSettings(f"{where}: there is no setting `{told}`. {hint}")
    for table, value in raw.items():
        if not isinstance(value, dict):
            raise BadSettings(
                f"{path.parent / key_location(text, table)}: `{table}` must be a table."
            )
        for key in keys_within(value):
            if key in names:
                raise BadSettings(
                    f"{path.parent / key_location(text, key)}: `{key}` stands below [{table}] "
                    "and so "
                    "belongs to it; move it above the first table."
                )


SETTINGS, KEYS = "settings.json", "keys.json"


def read_saved(path: Path) -> dict[str, Any]:
    """What is saved there; nothing where there is no file. Raises BadSettings."""
    try:
        found = json.loads(bytes_of(path) or b"{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BadSettings(
            f"{path} cannot be read: {error}. Mend it, or move it away: what was set in the "
            "browser then no longer holds."
        ) from error
    if not isinstance(found, dict):
        raise BadSettings(f"{path} must be a JSON object. Mend it, or move it away.")
    return found


def save_setting(path: Path, name: str, value: Any) -> Any:
    """Save a value under this name, or with None take it away; what was saved there before.

    Raises LoopforgeError where it cannot be written; then nothing has changed.
    """
    try:
        with exclusive_access(path):
            saved = read_saved(path)
            before = saved.pop(name, None)
            if value is not None:
                saved[name] = value
            content = json.dumps(saved, ensure_ascii=False, indent=1, sort_keys=True)
            write_private(path, content.encode())
    except OSError as error:
        raise LoopforgeError(f"{path} cannot be written: {error.strerror}.") from error
    return before
