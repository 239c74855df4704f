"""Usage: what is counted, that it adds up exactly, and that folding anew changes nothing."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.budgets.model_usage import KEYS, UsageRow, UsageTally, UsageView
from loopforge.core.events import Body, Fact
from loopforge.core.limits.money_amounts import PICO, dollars_from_picos, picos_from_dollars
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Attempt
from loopforge.core.turn_events import Usage as Used
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.system_clock import Stamp, SystemDice
from tests.ledger.saying import NOON, ROOM, opened
from tests.sim_clock import SimClock

DAY = NOON.date()


class Desk:
    """Makes answers of mates, at a time of one's choosing."""

    def __init__(self) -> None:
        self.stamp = Stamp(SimClock(NOON), SystemDice())

    def fact(self, body: Body, mate: str = "maya", at: datetime = NOON) -> Fact:
        """A mate's fact."""
        return Fact(id=self.stamp.id(), at=at, actor=f"mate:{mate}", body=body)

    def answered(
        self,
        cost: str = "",
        *,
        mate: str = "maya",
        model: str = "house",
        at: datetime = NOON,
        read: int = 100,
        cached: int = 0,
        written: int = 10,
    ) -> Fact:
        """One good answer at the first try."""
        body = Answered(
            turn="t1",
            nth=1,
            outcome="answered",
            text=Words("well"),
            model=model,
            attempts=(Attempt(model=model, outcome="answered"),),
            usage=Used(read=read, cached=cached, written=written, cost=cost),
        )
        return self.fact(body, mate, at)


@pytest.fixture
async def ledger(ledger_url: str) -> AsyncIterator[SqlLedger]:
    """A ledger that counts what is used."""
    async with opened(ledger_url, [UsageTally()]) as ledger:
        yield ledger


async def test_what_was_used_is_added_up_where_it_belongs(ledger: SqlLedger) -> None:
    """Answers of one day, room, mate and model become one row; others have rows of their own."""
    desk = Desk()
    usage = UsageView(ledger)
    assert await usage.total() == UsageRow()
    assert await usage.by(("mate",)) == []
    await ledger.append(ROOM, [desk.answered("0.5", cached=40), desk.answered("0.25")])
    await ledger.append(ROOM, [desk.answered("1", mate="zuzu", model="big")])
    await ledger.append("room:b", [desk.answered("", at=NOON + timedelta(days=1))])
    assert await usage.by(("day", "stream", "mate", "model")) == [
        UsageRow(
            day="2026-11-22", stream="room:b", mate="maya", model="house",
            calls=1, read=100, written=10, unpriced=1,
        ),
        UsageRow(
            day="2026-11-21", stream=ROOM, mate="maya", model="house",
            calls=2, read=200, cached=40, written=20, picos=picos_from_dollars("0.75") or 0,
        ),
        UsageRow(
            day="2026-11-21", stream=ROOM, mate="zuzu", model="big",
            calls=1, read=100, written=10, picos=10**PICO,
        ),
    ]  # fmt: skip
    assert [(row.mate, row.cost, row.calls) for row in await usage.by(("mate",))] == [
        ("zuzu", "1", 1),
        ("maya", "0.75", 3),
    ]
    total = await usage.total()
    assert (total.cost, total.calls, total.tokens, total.unpriced) == ("1.75", 4, 440, 1)
    assert total.share == 0.1


async def test_one_asks_for_days_and_rooms(ledger: SqlLedger) -> None:
    """Both ends of a span of days are counted; a list of streams, also an empty one, is kept to."""
    desk = Desk()
    usage = UsageView(ledger)
    for nth in range(4):
        at = NOON + timedelta(days=nth)
        await ledger.append(f"room:{nth % 2}", [desk.answered("1", at=at)])
    two = (DAY + timedelta(days=1), DAY + timedelta(days=2))
    assert [row.day for row in await usage.by(("day",), *two)] == ["2026-11-23", "2026-11-22"]
    assert (await usage.total(since=DAY + timedelta(days=3))).calls == 1
    assert (await usage.total(until=DAY)).calls == 1
    assert (await usage.total(streams=["room:1"])).calls == 2
    assert (await usage.total(streams=[])).calls == 0
    assert await usage.by(("stream",), streams=["room:9"]) == []


async def test_a_day_is_one_of_utc(ledger: SqlLedger) -> None:
    """Late in the evening in the west it is the next day already."""
    late = datetime.fromisoformat("2026-11-21T20:00:00-05:00")
    await ledger.append(ROOM, [Desk().answered(at=late.astimezone(UTC))])
    assert [row.day for row in await UsageView(ledger).by(("day",))] == ["2026-11-22"]


async def test_every_try_counts_for_the_model_that_was_tried(ledger: SqlLedger) -> None:
    """Two failures of one model stand with it, the answer and its tokens with the one that gave it.

    A model that was passed over or is not there was not called.
    """
    tries = [("a", "timed_out"), ("a", "failed"), ("c", "resting"), ("d", "missing")]
    body = Answered(
        turn="t1",
        nth=1,
        outcome="answered",
        text=Words("at last"),
        model="b",
        attempts=tuple(Attempt(model=m, outcome=o) for m, o in [*tries, ("b", "answered")]),
        usage=Used(read=7, written=3, cost="0"),
    )
    await ledger.append(ROOM, [Desk().fact(body)])
    assert await UsageView(ledger).by(("model",)) == [
        UsageRow(model="b", calls=1, read=7, written=3),
        UsageRow(model="a", calls=2, failed=2),
    ]


@pytest.mark.parametrize(("outcome", "failed"), [("cancelled", 0), ("failed", 1), ("refused", 1)])
async def test_an_answer_without_tries_is_one_call(
    ledger: SqlLedger, outcome: str, failed: int
) -> None:
    """What a person stopped is a call and no failure; other outcomes than an answer are failures."""
    body = Answered(turn="t1", nth=1, outcome=outcome, text=Words(""))
    await ledger.append(ROOM, [Desk().fact(body)])
    assert await UsageView(ledger).by(("model",)) == [UsageRow(calls=1, failed=failed)]


async def test_folding_anew_gives_the_same_rows(ledger: SqlLedger) -> None:
    """A rebuilding changes no row, and verifying finds the view as its events make it."""
    desk = Desk()
    for nth in range(30):
        at = NOON + timedelta(hours=nth)
        some = [desk.answered(f"0.0000{nth}1", mate=m, at=at) for m in ("maya", "zuzu", "maya")]
        await ledger.append(f"room:{nth % 3}", some)
    usage, keys = UsageView(ledger), KEYS
    before = await usage.by(keys)
    assert await ledger.rebuild() == 90
    assert await usage.by(keys) == before
    assert (await ledger.verify()).findings == ()
    await ledger.change(lambda found: found.exec_driver_sql("UPDATE model_usage SET cost = 1"))
    assert [finding.trouble for finding in (await ledger.verify()).findings] == ["view"]


async def test_ten_thousand_small_costs_lose_nothing(ledger: SqlLedger) -> None:
    """What floats would round is added up to the last digit."""
    desk, cost = Desk(), "0.000000012345"
    for _ in range(10):
        await ledger.append(ROOM, [desk.answered(cost) for _ in range(1000)])
    assert (await UsageView(ledger).total()).cost == "0.00012345"


@given(st.lists(st.decimals(0, 1000, places=PICO), max_size=50))
def test_costs_add_up_exactly(costs: list[Decimal]) -> None:
    """The sum of what was read from texts is the text of the sum."""
    sum_of = sum(picos_from_dollars(f"{cost:f}") or 0 for cost in costs)
    assert Decimal(dollars_from_picos(sum_of)) == sum(costs, Decimal(0))
