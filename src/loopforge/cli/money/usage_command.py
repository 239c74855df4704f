"""loopforge usage: what models were asked, and what that cost."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, cast

import typer
from msgspec.structs import replace

from loopforge.cli import Json, in_home, print_json
from loopforge.core.statistics.aligned_columns import align_columns

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.budgets.model_usage import UsageRow


class UsageGrouping(StrEnum):
    """What sums may be told by."""

    mate = "mate"
    model = "model"
    room = "room"
    person = "person"
    surface = "surface"
    day = "day"


HEAD = ("calls", "failed", "tokens read", "from cache", "written", "cost")


@in_home
async def command(
    app: App,
    by: Annotated[
        UsageGrouping, typer.Option("--by", help="One line for each of these.")
    ] = UsageGrouping.mate,
    days: Annotated[
        int, typer.Option("--days", help="The last days, today among them. 0: all.", min=0)
    ] = 30,
    as_json: Json = False,
) -> None:
    """How often models were asked, and what that cost.

    A call is one try at one model. Days are those of UTC. Where a model's price is not known,
    the sum says so: such answers may still cost something.
    """
    rows, total = await _sums(app, by, days)
    if as_json:
        print_json([_fields(row, by) for row in rows])
        return
    if not rows:
        since = f" in the last {days} days" if days else ""
        typer.echo(f"No model was asked{since}.")
        return
    table = [(by.value, *HEAD), *(_cells(row, _place(row, by)) for row in rows)]
    for line in align_columns([*table, _cells(total, "all")], left=(0, len(HEAD))):
        typer.echo(line)


async def _sums(app: App, by: UsageGrouping, days: int) -> tuple[list[UsageRow], UsageRow]:
    from loopforge.budgets.model_usage import Key

    today = app.stamp.clock.now().date()
    since = today - timedelta(days=min(days, 100_000) - 1) if days else None
    key: Key = "stream" if by is UsageGrouping.room else cast("Key", by.value)
    rows = await app.usage.by((key,), since)
    if by is UsageGrouping.person:
        names = {one.id: str(one.name) for one in await app.people.everybody()}
        rows = [replace(row, person=names.get(row.person, row.person)) for row in rows]
    return rows, await app.usage.total(since)


def _place(row: UsageRow, by: UsageGrouping) -> str:
    if by is UsageGrouping.room:
        return row.stream.removeprefix("room:")
    return str(getattr(row, by.value)) or (
        "(none answered)" if by is UsageGrouping.model else "(nobody known)"
    )


def _fields(row: UsageRow, by: UsageGrouping) -> dict[str, str | int]:
    return {
        by.value: row.stream.removeprefix("room:")
        if by is UsageGrouping.room
        else getattr(row, by.value),
        "calls": row.calls,
        "failed": row.failed,
        "read": row.read,
        "cached": row.cached,
        "written": row.written,
        "cost": row.cost,
        "unpriced": row.unpriced,
    }


def _cells(row: UsageRow, place: str) -> tuple[str, ...]:
    figures = (row.calls, row.failed, row.read, f"{row.share:.0%}", row.written)
    return (place, *(f"{each:,}" if isinstance(each, int) else each for each in figures), row.price)
