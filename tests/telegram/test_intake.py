"""A file that comes slowly: it holds up its own chat, and no other one of that bot."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.errors import LedgerBusy
from loopforge.io.telegram.connection.polling import UpdateIntake
from telegram import Update
from tests.delivery.child import Order
from tests.delivery.drill import alive
from tests.delivery.tally import marks
from tests.telegram.city import City
from tests.telegram.homes import Home, on_telegram
from tests.telegram.records import Bot, Person
from tests.telegram.test_door import nothing_waits

PAPER = ("notes.txt", b"the oven is hot")


async def heard(home: Home) -> list[list[str]]:
    """What was heard, room by room."""
    found = []
    for room in await home.rooms():
        events = [event.body for event in await home.events(room)]
        found.append([str(each.text) for each in events if isinstance(each, Heard)])
    return sorted(found)


async def comes(home: Home, lines: Sequence[list[str]]) -> None:
    """Wait until just this was heard."""

    async def there() -> bool:
        return await heard(home) == sorted(lines)

    await home.until(there)


async def held(city: City) -> bool:
    """Whether a file is being held back."""
    return bool(await city.calls("download"))


async def people(city: City) -> tuple[Bot, Person, Person]:
    """A bot, and two who write to it in private; the next file that it fetches is held back."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    await city.fault("download", "hold")
    return maya, await city.person("Ana", "ana"), await city.person("Ben", "ben")


async def test_a_slow_file_holds_up_its_own_chat_alone(tmp_path: Path, city: City) -> None:
    """Meanwhile others are heard and answered; that chat's lines come in order, acknowledged last."""
    maya, ana, ben = await people(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, maya, "read this", document=PAPER)
        await city.until(lambda: held(city))
        await city.say(ben, maya, "one")
        await city.say(ana, maya, "done?")
        await city.say(ben, maya, "two")
        chat = await city.private(ben, maya)
        await city.heard(chat, by=maya)
        await comes(home, [["one", "two"]])
        assert await city.waiting(maya) == 4
        await city.release()
        await comes(home, [["one", "two"], ["read this", "done?"]])
        await home.until(lambda: nothing_waits(city, maya))
        await city.heard(await city.private(ana, maya), by=maya)


async def test_the_same_person_at_another_bot(tmp_path: Path, city: City) -> None:
    """Who waits for a slow file at one bot is meanwhile heard and answered by another one."""
    maya, ana, _ = await people(city)
    merlin = await city.bot("Merlin", "merlin_bot")
    tokens = {"TELEGRAM_TOKEN_MAYA": maya.token, "TELEGRAM_TOKEN_MERLIN": merlin.token}
    async with on_telegram(tmp_path, tokens, city.base) as home:
        await city.say(ana, maya, "read this", document=PAPER)
        await city.until(lambda: held(city))
        await city.say(ana, merlin, "hello")
        await city.heard(await city.private(ana, merlin), by=merlin)
        await comes(home, [["hello"]])
        await city.release()
        await comes(home, [["hello"], ["read this"]])


async def test_what_cannot_be_kept_comes_again_in_order(
    tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a busy ledger a chat's lines come again from there on; those of others are not doubled."""
    maya, ana, ben = await people(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        hear, troubles, tried = home.app.front.rooms.hear, [LedgerBusy("busy")] * 2, []

        async def troubled(room: str, line: Heard) -> Any:
            text = str(line.text)
            tried.append(text)
            if text == "read this" and troubles:
                raise troubles.pop()
            return await hear(room, line)

        monkeypatch.setattr(home.app.front.rooms, "hear", troubled)
        await city.say(ana, maya, "read this", document=PAPER)
        await city.until(lambda: held(city))
        await city.say(ana, maya, "done?")
        await city.say(ben, maya, "one")
        await comes(home, [["one"]])
        await city.release()
        await comes(home, [["one"], ["read this", "done?"]])
        await home.until(lambda: nothing_waits(city, maya))
    assert tried == ["one", "read this", "read this", "read this", "done?"]


async def test_a_group_that_grows_meanwhile(tmp_path: Path, city: City) -> None:
    """What is said in the supergroup that it became comes after the file, in the same room."""
    maya, ana, ben = await people(city)
    group = await city.group("Lab", [ana, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, group, "maya, read this", document=PAPER)
        await city.until(lambda: held(city))
        great = await city.upgrade(group)
        await city.say(ana, great, "maya, done?")
        await city.say(ben, maya, "one")
        await comes(home, [["one"]])
        await city.release()
        await comes(home, [["one"], ["maya, read this", "maya, done?"]])


async def test_answers_that_overlap_and_are_short() -> None:
    """Whatever part of what waits is told again, each update is taken in once, chat by chat."""
    gate, taken = asyncio.Event(), []

    async def take(whole: Sequence[Update]) -> None:
        (update,) = whole
        if update.update_id == 5:
            await gate.wait()
        taken.append(update.update_id)

    intake, came = (
        UpdateIntake(read, take),
        [_update(5, 1), _update(6, 2), _update(8, 1), {"update_id": 9}],
    )
    assert (intake.offset or 0) == 0
    intake.put(came, None)
    await intake.settle(0)
    intake.put([], 5)
    intake.put(came[:1], 5)
    assert (intake.offset or 0, taken) == (5, [6])
    gate.set()
    await intake.settle(60)
    assert (intake.offset or 0, taken) == (6, [6, 5, 8])
    intake.put([*came[1:], _update(10, 2)], 6)
    await intake.settle(60)
    assert (intake.offset or 0, taken) == (11, [6, 5, 8, 10])
    intake.put([_update(8, 1)], 11)
    await intake.settle(60)
    assert (intake.offset or 0, taken) == (9, [6, 5, 8, 10, 8])
    await intake.close()


async def test_an_album_is_taken_in_as_one() -> None:
    """Whatever of it comes within a moment, and what is said next; so it is acknowledged, too."""
    taken, moments = list[list[int]](), asyncio.Semaphore(0)

    async def take(whole: Sequence[Update]) -> None:
        taken.append([each.update_id for each in whole])

    async def sleep(_: float) -> None:
        await moments.acquire()

    intake = UpdateIntake(read, take, sleep)
    intake.put([_update(1, 1), _update(2, 1, "g"), _update(3, 2)], None)
    await intake.settle(0.1)
    assert (taken, intake.offset) == ([[1], [3]], 2)
    intake.put([_update(4, 1, "g")], 2)
    moments.release()
    await intake.settle(0.1)
    assert len(taken) == 2
    moments.release()
    await intake.settle(60)
    assert (taken[2:], intake.offset) == ([[2, 4]], 5)
    intake.put([_update(5, 1, "h"), _update(6, 1, "h"), _update(7, 1, "i"), _update(8, 1)], 5)
    intake.put([_update(number, 3, "j") for number in range(9, 19)], 9)
    await intake.settle(60)
    assert sorted(taken[3:]) == [[5, 6], [7], [8], list(range(9, 19))]
    await intake.close()


def read(came: Sequence[dict[str, Any]]) -> list[Update]:
    """Those that are messages."""
    return [Update.de_json(each, None) for each in came if "message" in each]


def _update(number: int, chat: int, album: str = "") -> dict[str, Any]:
    said = {"message_id": number, "date": 0, "chat": {"id": chat, "type": "private"}, "text": "x"}
    said |= {"media_group_id": album} if album else {}
    return {"update_id": number, "message": said}


@pytest.mark.patient
@pytest.mark.crash
async def test_a_home_is_killed_while_a_file_is_on_its_way(tmp_path: Path, city: City) -> None:
    """The line with the file and the other chat's stand in the ledger once, answered once."""
    maya, ana, ben = await people(city)
    token = {"TELEGRAM_TOKEN_MAYA": maya.token}
    chats = [await city.private(ana, maya), await city.private(ben, maya)]
    order = Order(tokens=token, telegram=city.base)
    async with alive(tmp_path, order) as home:
        await city.say(ana, maya, "read this [k1]", document=PAPER)
        await city.until(lambda: held(city))
        await city.say(ben, maya, "one [k2]")
        await city.heard(chats[1], by=maya)
        await city.say(ana, maya, "done? [k3]")
        await home.kill()
        assert await city.waiting(maya) == 3
        await home.start()
        await city.until(lambda: nothing_waits(city, maya))
        await city.until(lambda: _answered(city, maya))
    async with on_telegram(tmp_path, token, city.base) as again:
        assert await heard(again) == [["one [k2]"], ["read this [k1]", "done? [k3]"]]
    assert await city.doubled() == []


async def _answered(city: City, maya: Bot) -> bool:
    lines = [mark for line in await city.lines(by=maya) for mark in marks(line.text)]
    assert len(lines) == len(set(lines))
    return set(lines) == {1, 2, 3}
