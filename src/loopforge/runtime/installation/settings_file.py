"""loopforge.toml as a text: read, and checked for what no setting is.

Knows no setting; what a value means, and whether it is allowed, is known where the table is.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_declarations import keys_within, line_of

FILE = "loopforge.toml"
RAW_TABLES = ("models", "tiers")
"""Tables that are passed on as they are."""


def read_file(path: Path) -> tuple[str, dict[str, Any]]:
    """The file's text, and what it holds; nothing where there is none. Raises BadSettings."""
    try:
        text = path.read_text("utf-8")
        return text, tomllib.loads(text)
    except FileNotFoundError:
        return "", {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:  # ValueError: a number of thousands of digits
        raise BadSettings(f"{path} is not TOML: {error}.") from error


def placed(text: str, key: str) -> str:
    """Where a key stands in the file, for people."""
    line = line_of(text, key)
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
        where = f"{path.parent / placed(text, key)}"
        if isinstance(value, dict):
            raise BadSettings(
                f"{where}: there is no table [{key}]. Settings stand at the top, without a table; "
                f"the tables are {' and '.join(f'[{table}]' for table in RAW_TABLES)}."
            )
        near = difflib.get_close_matches(key, names, 1)
        newer = "docs/settings.md lists them all; a newer Loopforge may know it: install that one."
        hint = f"Did you mean `{near[0]}`?" if near else newer
        raise BadSettings(f"{where}: there is no setting `{key}`. {hint}")
    for table, value in raw.items():
        if not isinstance(value, dict):
            raise BadSettings(f"{path.parent / placed(text, table)}: `{table}` must be a table.")
        for key in keys_within(value):
            if key in names:
                raise BadSettings(
                    f"{path.parent / placed(text, key)}: `{key}` stands below [{table}] and so "
                    "belongs to it; move it above the first table."
                )
