"""Mates as people read them on the command line: rows, a table, one in full, what is wrong.

Pure but for the roster it is given; does not print.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.core.mates.mate_file import Mate, mate_file_flaws
from loopforge.core.mates.unprompted_times import describe_unprompted_times
from loopforge.errors import BadMate, Unknown
from loopforge.mates.mate_roster import MateRoster, RosterStanding
from loopforge.runtime.installation.home_files import bytes_of

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("handle", "name", "role", "asks", "state", "file")


def as_rows(roster: MateRoster) -> list[dict[str, str]]:
    """One row per file, and per mate that is gone."""
    return [_row(standing) for standing in roster.standings()]


def _row(standing: RosterStanding) -> dict[str, str]:
    mate = standing.mate
    row = {
        "handle": standing.handle,
        "name": mate.name if mate else "",
        "role": mate.role if mate else "",
        "asks": asked_model(mate) if mate else "",
        "state": standing.state,
        "file": as_visible_row(standing.file),
    }
    if standing.problems:
        row["problem"] = as_visible_row(str(standing.problems[0]))
    return row


def asked_model(mate: Mate) -> str:
    """Which model a mate asks, in words."""
    return mate.model or f"tier {mate.tier}"


def as_lines(rows: Sequence[dict[str, str]]) -> list[str]:
    """The rows for a pipe: fields apart by tabs, what is wrong at the end."""
    lines = ["\t".join((*(row[name] for name in COLUMNS), row.get("problem", ""))) for row in rows]
    return lines or ["No mate yet; `loopforge mate new NAME` makes one."]


def as_table(rows: Sequence[dict[str, str]]) -> Table:
    """The rows for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in (*COLUMNS, "problem"):
        table.add_column(name)
    for row in rows:
        style = "" if row["state"] == "runs" else "yellow"
        cells = (row.get(name, "") for name in (*COLUMNS, "problem"))
        table.add_row(*(Text(cell) for cell in cells), style=style)
    return table


def mate_fields(mate: Mate) -> dict[str, Any]:
    """Everything about a mate, as plain values."""
    plain: dict[str, Any] = msgspec.to_builtins(mate)
    return plain


def describe_mate(mate: Mate, path: Path) -> str:
    """One mate in full."""
    told = {
        "role": mate.role,
        "voice": mate.voice,
        "traits": ", ".join(f"{trait}: {band}" for trait, band in mate.traits.items()),
        "asks": asked_model(mate),
        "top_p": "" if mate.top_p is None else str(mate.top_p),
        "temperature": "" if mate.temperature is None else str(mate.temperature),
        "tools": ", ".join(mate.tools),
        "called by": ", ".join(mate.triggers) or "nothing",
        "interests": ", ".join(mate.interests),
        "greeting": mate.greeting,
        "speaks up": describe_unprompted_times(mate.unprompted),
        "pace": f"{mate.pace:g} characters a second" if mate.pace else "",
        "policy": mate.policy,
        "colour": mate.colour,
        "file": str(path),
        "hash": mate.hash,
    }
    lines = [f"{mate.face}  {mate.name} (@{mate.handle})"]
    lines += [f"{name + ':':<13}{value}" for name, value in told.items() if value]
    return "\n".join((*lines, "", mate.prompt))


def examine_mates(roster: MateRoster, what: str = "") -> list[BadMate]:
    """Everything wrong with one file, one mate, or all of them.

    Raises Unknown if there is no such file and no such mate.
    """
    if not what:
        return roster.problems()
    for path in (Path(what), roster.path(what)):
        if path.is_file():
            try:
                data = bytes_of(path)
            except OSError as error:
                return [BadMate(str(path), 0, f"it cannot be read ({error.strerror or error})")]
            same = path.parent.resolve() == roster.folder.resolve()
            clashes = [bad for bad in roster.problems() if same and bad.source == path.name]
            return mate_file_flaws(data, str(path)) or clashes
    raise Unknown(
        f"There is no file and no mate {what!r}; `loopforge mate list` shows who is here."
    )
