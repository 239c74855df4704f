"""Answers that are none of Telegram's: the page of a proxy, or a refusal without its particulars."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.core.delivery_states import Accepted, Failed, PutOff, Uncertain
from loopforge.core.room_vocabulary import PlaceLeft
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.io.telegram.connection.polling import GroupAdmins
from tests.sim_clock import SimClock
from tests.telegram.city import City
from tests.telegram.clients import calling
from tests.telegram.homes import on_telegram, pair
from tests.telegram.records import FaultKind

PLAIN = SurfaceOptions(streams=False, marks=False)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429])
async def test_a_page_of_a_proxy_is_no_refusal_of_telegram(
    tmp_path: Path, city: City, code: int
) -> None:
    """Nothing was done, so the line goes out later, once; the place stays, and no page is quoted."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        chat = await city.private(ana, maya)
        await city.fault("sendMessage", "page", code=code)
        await city.say(ana, maya, "hello")
        (line,) = await city.heard(chat, by=maya)
        assert line.text.startswith("This is answer")
        (room,) = await home.rooms()

        async def arrived() -> bool:
            return any(isinstance(e.body, Accepted) for e in await home.events(room))

        await home.until(arrived)
        bodies = [event.body for event in await home.events(room)]
    assert not [each for each in bodies if isinstance(each, Failed | Uncertain | PlaceLeft)]
    (why,) = [str(each.why) for each in bodies if isinstance(each, PutOff)]
    assert "html" not in why
    assert await city.calls("editMessageReplyMarkup") == []
    assert len(await city.lines(chat)) == 2


async def test_patience_without_a_number_is_asked_for(tmp_path: Path, city: City) -> None:
    """A flood that does not say for how long is one all the same: nothing is looked for."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        chat = await city.private(ana, maya)
        await city.fault("sendMessage", "refuse", code=429, description="Too Many Requests")
        await city.say(ana, maya, "hello")
        await city.heard(chat, by=maya)
        (room,) = await home.rooms()
        bodies = [event.body for event in await home.events(room)]
    (why,) = [str(each.why) for each in bodies if isinstance(each, PutOff)]
    assert why == "Telegram asks for patience, and does not say for how long."
    assert await city.calls("editMessageReplyMarkup") == []


@pytest.mark.parametrize(("kind", "code"), [("page", 404), ("flood", 429)])
async def test_how_a_bot_stands_says_why_it_hears_nothing(
    tmp_path: Path, city: City, kind: FaultKind, code: int
) -> None:
    """A proxy's page is not taken for a wrong token, nor a wait of an hour for a connection."""
    maya, _ = await pair(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.fault("getUpdates", kind, times=9, code=code, retry_after=3600)

        async def said() -> str:
            state = home.platforms.states().get("telegram", {}).get("maya", "")
            return state if "Telegram" in state else ""

        state = await home.until(said)
    assert state == (
        "Telegram asks for 60 minutes of patience."
        if kind == "flood"
        else "Something on the way to Telegram (a proxy, a firewall) refuses the call."
    )


@pytest.mark.parametrize(
    ("kind", "times", "known", "keeps"),
    [
        ("drop", 1, False, True),
        ("drop", 2, False, False),
        ("drop", 2, True, True),
        ("before", 2, True, True),
        ("page", 2, True, True),
        ("refuse", 1, True, False),
    ],
)
async def test_who_keeps_a_group_does_so_while_telegram_does_not_say(
    city: City, kind: FaultKind, times: int, known: bool, keeps: bool
) -> None:
    """An administrator's press of a button is theirs, whatever the network does to the question."""
    maya, ana = await pair(city)
    lab = await city.supergroup("Lab", [ana, maya])
    clock = SimClock(datetime(2026, 11, 22, tzinfo=UTC))
    async with calling(city.base, maya) as bot:
        groups = GroupAdmins(bot, maya.id, clock)
        if known:
            assert await groups.keeper(lab.id, ana.id)
        await city.fault("getChatMember", kind, times=times)
        assert await groups.keeper(lab.id, ana.id, now=True) is keeps


@pytest.mark.parametrize(("kind", "member"), [("page", True), ("refuse", False)])
async def test_a_page_says_nothing_of_who_is_in_a_group(
    city: City, kind: FaultKind, member: bool
) -> None:
    """Where a proxy answers, a bot is taken to be where it was; Telegram's refusal is believed."""
    maya, ana = await pair(city)
    lab = await city.supergroup("Lab", [ana, maya])
    await city.fault("getChatMember", kind)
    clock = SimClock(datetime(2026, 11, 22, tzinfo=UTC))
    async with calling(city.base, maya) as bot:
        groups = GroupAdmins(bot, maya.id, clock)
        assert await groups.member(lab.id, before=True) is member
