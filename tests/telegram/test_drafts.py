"""Drafts in groups: they leave lines room within Telegram's limits."""

import asyncio
from pathlib import Path

import pytest

from loopforge.core.delivery_states import Drafted
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import Script, ScriptedAnswer
from tests.held_clock import HeldClock
from tests.telegram.city import City
from tests.telegram.homes import both, hall, on_telegram
from tests.telegram.records import Bot, Chat, FaultKind, Kind
from tests.telegram.test_limits import MINUTE, lab
from tests.telegram.twin import Twin

WORDS = "one two three four five six seven eight nine ten " * 24

BUSY = ScriptedAnswer(outcome="failed", cause="busy")


def slowly(pause: float, words: str = WORDS) -> Script:
    """A script that says it in forty pieces."""
    count = iter(range(1, 1_000_000))
    return lambda _: ScriptedAnswer(text=f"{next(count)}: {words}", pieces=40, pause=pause)


async def test_drafts_leave_room_for_lines(tmp_path: Path) -> None:
    """Answers that grow for minutes in a group meet no refusal, and take half of a minute's room."""
    async with lab(tmp_path, script=slowly(2.5), manners=SurfaceOptions()) as there:
        city, floods = there.city, there.twin.town.floods
        for n in (2, 3):
            before = len(await city.calls("editMessageText"))
            await city.say(there.ana, there.chat, "@maya_bot more")
            took = await there.until(n)
            edits = len(await city.calls("editMessageText")) - before
            assert 5 < edits < took / 6 + 5
        assert floods.refused == 0
        assert len(await there.stands()) == 3


@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
async def test_a_line_whose_draft_met_a_flood(tmp_path: Path, method: str) -> None:
    """It is delivered within a minute, once."""
    async with lab(tmp_path, script=slowly(0.5), manners=SurfaceOptions()) as there:
        await there.city.fault(method, "flood", retry_after=30, chat=there.chat)
        await there.city.say(there.ana, there.chat, "@maya_bot more")
        assert await there.until(2) < MINUTE
        assert await there.ended() == ["accepted"] * 2
        assert [text[:2] for text in await there.stands()] == ["1:", "2:"]


@pytest.mark.parametrize(
    ("kind", "method"), [("private", "sendMessageDraft"), ("supergroup", "sendMessage")]
)
async def test_a_draft_that_is_refused_for_good(tmp_path: Path, kind: Kind, method: str) -> None:
    """It is tried once in a turn, and the line is said."""
    why = "Bad Request: CHAT_WRITE_FORBIDDEN"
    async with lab(tmp_path, kind, script=slowly(1), manners=SurfaceOptions()) as there:
        before = len(await there.city.calls())
        times = 20 if kind == "private" else 1
        await there.city.fault(method, "refuse", times=times, code=400, description=why)
        await there.city.say(there.ana, there.chat, "@maya_bot more")
        await there.until(2)
        sent = ("sendMessageDraft", "sendMessage", "editMessageText")
        tried = [call for call in (await there.city.calls())[before:] if call.method in sent]
        assert [(call.method, call.code) for call in tried] == [(method, 400), ("sendMessage", 200)]
        assert len(await there.stands()) == 2


async def test_what_is_covered_is_not_drafted(tmp_path: Path) -> None:
    """A spoiler stands in the line, covered, and in none of the drafts."""
    words = f"The murderer is ||{WORDS.strip()}|| as you see, and that is all of it."
    async with lab(tmp_path, script=slowly(0.5, words), manners=SurfaceOptions()) as there:
        sent = [*await there.city.calls("sendMessage"), *await there.city.calls("editMessageText")]
        *drafts, line = [call.params["text"] for call in sorted(sent, key=lambda call: call.number)]
        assert drafts
        assert all("seven" not in draft for draft in drafts)
        assert "seven" in line
        assert "||" not in line


async def goes_on(path: Path, city: City, maya: Bot, chat: Chat) -> list[str]:
    """How all of maya's messages begin, once the next home has said what she was saying."""
    async with on_telegram(path, maya, city.base, script=slowly(0.1)) as home:

        async def said() -> bool:
            lines = await city.lines(chat, by=maya)
            return lines[-1].text.endswith("nine ten") and not home.app.deliveries.going(room)

        (room,) = [f"room:{each}" for each in await home.rooms()]
        await home.until(said)
        return [line.text[:10] for line in await city.lines(chat, by=maya)]


async def test_a_draft_that_is_posted_as_the_home_ends(
    tmp_path: Path, twin: Twin, city: City
) -> None:
    """Where it stands is waited for: the next home puts the line there, and no draft is left."""
    maya, ana, chat = await hall(city)
    await city.fault("sendMessage", "hold")
    async with on_telegram(tmp_path, maya, city.base, script=slowly(6000)):
        await city.say(ana, chat, "@maya_bot more")
        await city.heard(chat, by=maya)
        asyncio.get_running_loop().call_later(0.2, twin.town.faults.release)
    assert await goes_on(tmp_path, city, maya, chat) == ["1: one two"]


async def test_a_draft_of_a_dead_turn(tmp_path: Path, city: City) -> None:
    """What a home could not take away the next one does, by the bot that said it."""
    maya, merlin, ana, tokens = await both(city)
    chat = await city.supergroup("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base, script=slowly(6000)):
        await city.say(ana, chat, "@merlin_bot more")
        await city.heard(chat, by=merlin)
    await city.fault("deleteMessage", "flood", retry_after=9)
    async with on_telegram(tmp_path, tokens, city.base, script=lambda _: BUSY) as home:
        await home.until(lambda: city.calls("deleteMessage"))
    async with on_telegram(tmp_path, tokens, city.base) as home:

        async def gone() -> bool:
            return (await city.lines(chat, by=merlin))[0].deleted

        await home.until(gone)


@pytest.mark.parametrize("fault", ["after", "hold"])
async def test_a_draft_of_which_nobody_heard(tmp_path: Path, city: City, fault: FaultKind) -> None:
    """A draft that may stand as the home ends is looked for by the next: the line takes its place."""
    maya, ana, chat = await hall(city)
    await city.fault("sendMessage", fault)
    async with on_telegram(tmp_path, maya, city.base, script=slowly(6000)):
        await city.say(ana, chat, "@maya_bot more")
        await city.heard(chat, by=maya)
    await city.release()
    assert await goes_on(tmp_path, city, maya, chat) == ["1: one two"]


async def test_a_draft_that_a_moderator_took_away(tmp_path: Path, city: City) -> None:
    """The line is said anew."""
    maya, ana, chat = await hall(city)
    async with on_telegram(tmp_path, maya, city.base, script=slowly(0.5)):
        await city.say(ana, chat, "@maya_bot more")
        (draft,) = await city.heard(chat, by=maya)
        await city.delete(ana, draft)
        lines = await city.heard(chat, by=maya, count=2)
        assert lines[1].text.endswith("nine ten")


async def test_a_draft_in_a_group_that_sent_the_bot_away(tmp_path: Path, city: City) -> None:
    """It goes once the bot is let in again and has said something there."""
    maya, ana, chat = await hall(city)
    held, words = HeldClock(), "one two three four five six seven eight"
    answer = ScriptedAnswer(text=words, pieces=8, pause=0.3)
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: answer, pace=held) as home:
        await city.say(ana, chat, "@maya_bot more")
        held.let_go(2)
        (draft,) = await city.heard(chat, by=maya)
        assert draft.text.endswith("▌")
        (room,) = await home.rooms()

        async def drafted(message: str) -> bool:
            shown = [each.body for each in await home.events(room)]
            return [each.message_id for each in shown if isinstance(each, Drafted)][-1:] == [
                message
            ]

        await home.until(lambda: drafted(str(draft.ids[maya.id])))
        await city.kick(ana, maya, chat)
        await home.until(lambda: drafted(""))
        held.let_go()
        await city.add(ana, maya, chat)
        await city.say(ana, chat, "@maya_bot again")

        async def gone() -> bool:
            first, *others = await city.lines(chat, by=maya)
            return first.deleted and words in [each.text for each in others]

        await home.until(gone)
