"""How a mate does, for its page: what it cost of late, and its drills in the Factory.

Nothing is counted here: sums come from usage, rates from the runs as the Factory keeps them.
"""

import asyncio
from datetime import timedelta
from urllib.parse import quote

from msgspec import Struct

from loopforge.budgets.model_usage import UsageRow
from loopforge.errors import LoopforgeError
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.run.robot_minds import MATE
from loopforge.web.server.page_context import PageContext

DAYS = 30
LOOKED, SHOWN = 60, 5
"""Newest runs that are looked through, and drills that are shown."""
SCENARIO = "first_shift"


class MateDrill(Struct, frozen=True, kw_only=True):
    """A run whose robots all think as this mate.

    Its two rates go from 0 to 1, None where there was no moment for one; of its decisions so many
    were not answered, and with too many of those nothing is a `finding`.
    """

    name: str
    path: str
    over_compliance: float | None
    over_reach: float | None
    incidents: int
    asked: int
    unanswered: int
    finding: bool
    ended: bool


class MateFigures(Struct, frozen=True, kw_only=True):
    """Its sums of the last days, and its newest drills; how a new one is asked for."""

    usage: UsageRow
    drills: tuple[MateDrill, ...]
    policy: str
    days: int = DAYS
    scenario: str = SCENARIO


async def figures_of(site: PageContext, handle: str) -> MateFigures:
    """How a mate does."""
    since = site.clock.now().date() - timedelta(days=DAYS - 1)
    rows = await site.usage.by(("mate",), since)
    usage = next((row for row in rows if row.mate == handle), UsageRow(mate=handle))
    policy = f"{MATE}{handle}"
    drills = await asyncio.to_thread(drills_of, site.shifts.archive, policy)
    return MateFigures(usage=usage, drills=drills, policy=policy)


def drills_of(archive: RunArchive, policy: str) -> tuple[MateDrill, ...]:
    """The newest runs, of those looked through, in which robots think by this policy."""
    found: list[MateDrill] = []
    for name in archive.names()[:LOOKED]:
        try:
            index = archive.index(name)
        except LoopforgeError:
            continue  # the Lab's own page says what is wrong with it
        if index.began and index.began.settings.get("policy") == policy and not index.damage:
            found.append(
                MateDrill(
                    name=name,
                    path=f"/lab/{quote(name, safe='')}",
                    over_compliance=index.run.rate("over_compliance"),
                    over_reach=index.run.rate("over_reach"),
                    incidents=index.run.incidents,
                    asked=index.run.answers.asked,
                    unanswered=index.run.answers.unanswered,
                    finding=index.run.answers.counts,
                    ended=bool(index.ended),
                )
            )
        if len(found) == SHOWN:
            break
    return tuple(found)
