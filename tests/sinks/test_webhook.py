"""The webhook, over real sockets, by a receiver that does wrong: at least once, in order, signed."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from loopforge.core.events import Event
from loopforge.core.text.erasable_text import Words
from loopforge.core.work.work_vocabulary import TaskLeased, TaskSteered
from loopforge.errors import SendFailed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.settings import load_settings
from loopforge.sinks import http_post, sink_runner
from loopforge.sinks.sink_plugin import OutletChoice, beyond_recall, sinks_of
from loopforge.sinks.webhook import Webhook
from tests.sim_clock import SimClock
from tests.sinks.conftest import BEGAN, STREAMS, Watched, begin, go_on, happen, outlet_running
from tests.sinks.receiver import Fault, Receiver, receiving


def webhook(receiver: Receiver, *secrets: str, texts: bool = False) -> Webhook:
    """One that sends there."""
    return Webhook(receiver.address, secrets, texts=texts)


def first_of(places: list[int]) -> list[int]:
    """What came, each where it came first."""
    return list(dict.fromkeys(places))


async def test_what_happens_to_a_task_is_told_in_order_and_signed(ledger: SqlLedger) -> None:
    """Each event once, of the kinds that are told, by its name there, without private texts."""
    async with (
        receiving("new") as receiver,
        outlet_running(ledger, webhook(receiver, "old", "new")),
    ):
        id = await begin(ledger, "task:a", "a secret")
        await happen(ledger, "task:a", TaskLeased(fence=1))
        await go_on(ledger, "task:a", 1, 2)
        await happen(ledger, "room:b", TaskLeased(fence=1))
        await receiver.until(lambda got: len(got) == 3)
        types = [each["type"] for each in receiver.got]
        assert types == ["loopforge.task.started", *["loopforge.task.turn_completed"] * 2]
        assert receiver.places("task:a") == [1, 3, 4]
        assert receiver.got[0]["id"] == id
        assert "a secret" not in str(receiver.got)
        assert receiver.unsigned == 0


async def test_through_trouble_all_comes_and_in_order(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of a server, throttling, and connections cut before and after: nothing is lost."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    async with receiving() as receiver:
        faults: Iterator[Fault | None] = itertools.cycle(
            [500, None, "reset", None, "late reset", 429, None, 403]
        )

        def fault(_: object) -> Fault | None:
            return next(faults)

        receiver.fault = fault
        async with outlet_running(ledger, webhook(receiver)):
            for stream in STREAMS:
                await begin(ledger, stream)
                await go_on(ledger, stream, *range(1, 8))
            await receiver.until(lambda _: all(8 in receiver.places(each) for each in STREAMS))
    for stream in STREAMS:
        assert first_of(receiver.places(stream)) == list(range(1, 9))


async def test_what_was_under_way_at_the_end_comes_again_and_no_more(ledger: SqlLedger) -> None:
    """The home ends between a post and its answer: the next begins with that event."""
    async with receiving() as receiver:
        receiver.fault = lambda what: "hold" if int(what["sequence"]) == 3 else None
        async with outlet_running(ledger, webhook(receiver)):
            await begin(ledger, "task:a")
            await go_on(ledger, "task:a", 1, 2, 3)
            await receiver.until(lambda got: len(got) == 3)
        receiver.fault = lambda _: None
        async with outlet_running(ledger, webhook(receiver)):
            await receiver.until(lambda got: len(got) == 5)
        assert receiver.places("task:a") == [1, 2, 3, 3, 4]


async def test_an_event_that_is_refused_holds_up_its_own_task_alone(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receiver does not take one of a task: the others go on, and that one is tried again."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    async with receiving() as receiver:
        refused = ("task:a", 2)
        receiver.fault = lambda what: (
            422 if (what["subject"], int(what["sequence"])) == refused else None
        )
        async with outlet_running(ledger, webhook(receiver)) as sinks:
            for stream in STREAMS:
                await begin(ledger, stream)
                await go_on(ledger, stream, 1, 2)
            await receiver.until(lambda got: len(got) == 7)
            assert receiver.places("task:a") == [1]
            while (one := (await sinks.standings())[0]).behind != 2:
                await asyncio.sleep(0.01)
            assert (one.name, "422" in one.trouble) == ("it", True)
            assert one.oldest == (await ledger.read("task:a"))[1].at
            receiver.fault = lambda _: None
            await receiver.until(lambda got: len(got) == 9)
            while (await sinks.standings())[0].behind:
                await asyncio.sleep(0.01)
    assert [receiver.places(each) for each in STREAMS] == [[1, 2, 3]] * 3


async def test_two_hours_without_it_lose_nothing_and_slow_nobody(ledger: SqlLedger) -> None:
    """While it is away, tasks go on at once; when it is back, all of it comes, in order."""
    clock = SimClock(BEGAN)
    async with receiving("s") as receiver:
        receiver.now = lambda: clock.now().timestamp()
        receiver.fault = lambda _: 503 if clock.ticks() < 7200 else None
        outlet = Watched(Webhook(receiver.address, ["s"], texts=False, clock=clock))
        clock.while_busy(lambda: ledger.working or outlet.flying)
        async with outlet_running(ledger, outlet, clock=clock):
            for stream in STREAMS:
                await begin(ledger, stream)
            for nth in range(1, 25):
                before = clock.ticks()
                for stream in STREAMS:
                    await go_on(ledger, stream, nth)
                assert clock.ticks() == before
                await clock.advance(300)
            assert 24 < receiver.asked < 150  # not in a hurry while it is away
            await clock.advance(240)
            await receiver.until(lambda got: len(got) == 25 * len(STREAMS))
    assert receiver.unsigned == 0
    for stream in STREAMS:
        assert receiver.places(stream) == list(range(1, 26))


async def test_an_answer_without_end_is_none(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says yes and goes on talking: it is left, and asked again."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    monkeypatch.setattr(http_post, "PATIENCE", 0.3)
    async with receiving() as receiver:
        receiver.fault = lambda _: "drip"
        async with outlet_running(ledger, webhook(receiver)) as sinks:
            await begin(ledger, "task:a")
            await receiver.until(lambda got: len(got) == 2)
            assert "did not answer" in (await sinks.standings())[0].trouble
            receiver.fault = lambda _: None
            while (await sinks.standings())[0].behind:
                await asyncio.sleep(0.01)
    assert set(receiver.places("task:a")) == {1}


async def test_it_waits_until_the_moment_that_it_is_told(ledger: SqlLedger) -> None:
    """A Retry-After may be a date: it is not asked before that."""
    clock = SimClock(BEGAN)
    async with receiving() as receiver:
        receiver.fault = lambda _: 429 if clock.ticks() < 1200 else None
        receiver.headers = {"Retry-After": format_datetime(BEGAN + timedelta(minutes=20), True)}
        outlet = Watched(Webhook(receiver.address, [], texts=False, clock=clock))
        clock.while_busy(lambda: ledger.working or outlet.flying)
        async with outlet_running(ledger, outlet, clock=clock):
            await begin(ledger, "task:a")
            await clock.advance(1190)
            assert receiver.asked == 1
            await clock.advance(20)
            await receiver.until(lambda got: len(got) == 1)
    assert receiver.asked == 2


@pytest.mark.parametrize("zone", ["+0000", "+99999999999999999999"])
async def test_a_moment_that_is_none_holds_up_nothing(ledger: SqlLedger, zone: str) -> None:
    """A refusal with a date of twenty digits set no task aside: it held up all of them."""
    async with receiving() as receiver:
        receiver.fault = lambda what: 400 if what["subject"] == "task:a" else None
        receiver.headers = {"Retry-After": f"Mon, 01 Jan 99999999999999999999 00:00:00 {zone}"}
        async with outlet_running(ledger, webhook(receiver)):
            await begin(ledger, "task:a")
            await begin(ledger, "task:b")
            await receiver.until(lambda _: receiver.places("task:b") == [1])


async def test_it_begins_with_what_happens_from_then_on(ledger: SqlLedger) -> None:
    """Without history, what was before is not told; what comes while nobody runs, is."""
    await begin(ledger, "task:a")
    async with receiving() as receiver:
        async with outlet_running(ledger, webhook(receiver), OutletChoice()):
            await go_on(ledger, "task:a", 1)
            await receiver.until(lambda got: len(got) == 1)
        await begin(ledger, "task:b")
        async with outlet_running(ledger, webhook(receiver), OutletChoice()):
            await receiver.until(lambda _: bool(receiver.places("task:b")))
    assert (first_of(receiver.places("task:a")), receiver.places("task:b")) == ([2], [1])


async def test_an_erasure_is_passed_on_by_what_was_forgotten(ledger: SqlLedger) -> None:
    """Texts go where it is wanted; what is erased is named there, by its refs, among any kinds."""
    async with (
        receiving() as receiver,
        outlet_running(
            ledger,
            webhook(receiver, texts=True),
            OutletChoice(history=True, kinds="task.steered", texts=True),
        ),
    ):
        said = TaskSteered(person="p", text=Words("a secret"))
        (id,) = await happen(ledger, "task:a", said)
        await receiver.until(lambda got: len(got) == 1)
        assert receiver.got[0]["data"]["body"]["text"] == "a secret"
        await ledger.erase(ErasureRequest(events=(id,)))
        await receiver.until(lambda got: len(got) == 2)
        erased = receiver.got[1]["data"]
        assert erased["kind"] == "ledger.erased"
        stored = receiver.got[0]["data"]["stored"]
        assert all(ref in stored for ref in erased["body"]["refs"])


def test_where_nothing_can_be_called_back_is_said(tmp_path: Path) -> None:
    """A webhook that is given texts is named, without its path; a file of lines is not."""
    text = 'webhook_url = "https://example.org/T0KEN"\njsonl_path = "x"\njsonl_texts = true\n'
    (tmp_path / "loopforge.toml").write_text(text)
    settings = load_settings(tmp_path, environ={})
    assert [each.name for each in sinks_of(settings)] == ["jsonl", "webhook"]
    assert beyond_recall(settings) == []
    (tmp_path / "loopforge.toml").write_text(text + "webhook_texts = true")
    assert beyond_recall(load_settings(tmp_path, environ={})) == ["Webhook at example.org"]


class Away:
    """An outlet that takes the first task alone."""

    def __init__(self) -> None:
        self.most, self.tries = 1, 0

    async def send(self, events: Sequence[Event]) -> None:
        """Count what it does not take."""
        if events[0].stream != STREAMS[0]:
            self.tries += 1
            raise SendFailed("away.")

    async def close(self) -> None:
        """Nothing is open."""


async def test_the_pauses_grow_beside_tasks_that_it_has(ledger: SqlLedger) -> None:
    """What an older task needs no more is no success: an address that is away is asked ever less."""
    clock = SimClock(BEGAN)
    outlet = Watched(away := Away())
    clock.while_busy(lambda: ledger.working or outlet.flying)
    async with outlet_running(ledger, outlet, clock=clock):
        await begin(ledger, STREAMS[0])
        await clock.advance(1)
        await begin(ledger, STREAMS[1])
        await clock.advance(1 + 5 + 30 + 120 + 60)
    assert away.tries == 5
