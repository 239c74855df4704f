"""Mates speak up by themselves: after a silence, at an hour, where the room lets them, once."""

import asyncio
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from loopforge.chat.reminders import unprompted_turns
from loopforge.chat.room.room_state import fold
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import PersonJoined, PlaceJoined, Weighed
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Perceived
from loopforge.errors import InputError
from loopforge.runtime.ports import Question
from loopforge.schedule.quiet_hours import quiet_until
from tests.rooms.conftest import Home, living
from tests.sim_clock import SimClock
from tests.strategies import Chronicle

FILE = "---\nname: Maya\nrole: mate\nunprompted: {times}\n---\nYou are Maya.\n"


def maya(path: Path, times: str) -> None:
    """A home whose only mate speaks up at these times."""
    (path / "mates").mkdir(parents=True)
    (path / "mates" / "maya.md").write_text(FILE.format(times=times))


async def past(home: Home, hours: float) -> None:
    """So many hours go by."""
    await home.clock.until(asyncio.ensure_future(home.clock.sleep(hours * 3600)))  # noqa: TID251
    await home.rest()


async def woken(home: Home) -> list[str]:
    """By what mates were woken, in order."""
    weights = [weight for body in await home.bodies(Weighed) for weight in body.weights]
    return [one.summons for one in weights if one.summons in ("silence", "hour")]


async def test_after_a_silence_a_mate_is_asked_for_a_word_once(tmp_path: Path) -> None:
    """It is told why, its line costs energy, and nobody is woken anew until a person has spoken."""
    maya(tmp_path, "after 3 hours")
    cups = count(1)
    says = {"speak": True}
    async with living(tmp_path, lambda _: says | {"say": f"Cup {next(cups)}."}) as home:
        await home.hears("ana", "@maya good night")
        before = (await home.app.rooms.state(home.room)).energy.left
        await past(home, 2.9)
        assert await woken(home) == []
        await past(home, 0.2)
        assert await woken(home) == ["silence"]
        assert await home.said() == ["maya", "maya"]
        assert (await home.app.rooms.state(home.room)).energy.left == before - 1
        asked = str(home.models.asked[-1].messages)
        assert "nobody has spoken for 3 hours" in asked
        (turn,) = [body for body in await home.bodies(Perceived) if body.summons == "silence"]
        assert turn.mate == "maya"
        await past(home, 30)
        assert await woken(home) == ["silence"]
        await home.hears("ana", "@maya hello again")
        await past(home, 3.1)
        assert await woken(home) == ["silence", "silence"]


async def test_a_mate_that_is_not_for_guests_does_not_speak_up_to_them(tmp_path: Path) -> None:
    """After a guest's line it is not woken; once the owner has spoken, it is."""
    maya(tmp_path, "after 1 hour")
    async with living(tmp_path, guest_mates="none") as home:
        await home.hears("ana", "good night", surface="web")
        await past(home, 30)
        assert await woken(home) == []
        await home.hears("ana", "good night, all", surface="web", owner=True)
        await past(home, 1.1)
        assert await woken(home) == ["silence"]


async def test_it_may_stay_silent_and_nobody_is_told(tmp_path: Path) -> None:
    """A mate that has nothing to say leaves no line, and is not asked again."""
    maya(tmp_path, "after 1 hour")

    def script(question: Question) -> dict[str, object] | str:
        silent = "nobody has spoken" in str(question.messages)
        return {"speak": False, "say": ""} if silent else "Good night."

    async with living(tmp_path, script) as home:
        await home.hears("ana", "@maya good night")
        lines = await home.lines()
        await past(home, 9)
        assert await woken(home) == ["silence"]
        assert await home.lines() == lines


async def test_at_an_hour_and_never_in_quiet_hours(tmp_path: Path) -> None:
    """What falls into somebody's quiet hours waits for their end."""
    maya(tmp_path, "after 2 hours, at 08:30")
    clock = SimClock(datetime(2026, 11, 21, 21, 0, tzinfo=UTC))
    async with living(tmp_path, clock=clock, quiet_hours="22:00-07:00") as home:
        await home.hears("ana", "@maya good night")
        await past(home, 9.9)
        assert await woken(home) == []
        await past(home, 0.2)
        assert (await woken(home), home.clock.now().hour) == (["silence"], 7)
    early = tmp_path / "early"
    maya(early, "at 08:30")
    clock = SimClock(datetime(2026, 11, 21, 21, 0, tzinfo=UTC))
    async with living(early, clock=clock) as home:
        await home.hears("ana", "@maya good night")
        await past(home, 11.4)
        assert await woken(home) == []
        await past(home, 0.2)
        assert await woken(home) == ["hour"]


async def test_a_home_that_is_up_again_in_quiet_hours(tmp_path: Path) -> None:
    """A silence that was long enough before they began waits for their end, too."""
    maya(tmp_path, "after 2 hours")
    clock = SimClock(datetime(2026, 11, 21, 17, 0, tzinfo=UTC))
    async with living(tmp_path, clock=clock) as home:
        await home.hears("ana", "@maya good evening")
    clock = SimClock(datetime(2026, 11, 21, 23, 0, tzinfo=UTC))
    async with living(tmp_path, clock=clock, seed=8, quiet_hours="22:00-07:00") as home:
        await past(home, 7.9)
        assert await woken(home) == []
        await past(home, 0.2)
        assert await woken(home) == ["silence"]


async def test_only_where_the_room_lets_it(tmp_path: Path) -> None:
    """Groups of platforms do not by themselves; a command decides; stop and no energy forbid it."""
    maya(tmp_path, "after 1 hour")
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya hello")
        state = await home.app.rooms.state(home.room)
        place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
        await home.app.rooms.add(home.room, "", place)
        assert not state.lets_unprompted
        await past(home, 2)
        assert await woken(home) == []
        await home.does("ana", "stop")
        assert "by themselves; as their files say: Maya after 1 hour" in await home.does(
            "", "unprompted", "on"
        )
        with pytest.raises(InputError, match="on, or"):
            await home.does("", "unprompted", "often")
        await past(home, 3)
        assert await woken(home) == []
        await home.does("", "energy", "0 0")
        await home.hears("ana", "hm")
        await past(home, 3)
        assert await woken(home) == []


async def test_who_speaks_just_then_is_answered_and_nobody_woken(tmp_path: Path) -> None:
    """Between the look and the waking a person spoke: the silence is over."""
    maya(tmp_path, "after 3 hours")
    async with living(tmp_path, lambda _: {"say": "Tea."}) as home:
        await home.hears("ana", "@maya good night")
        decide, spoken = home.app.ledger.decide, list[Event]()

        async def late(stream: str, head: Any, attempt: Any) -> Any:
            if "UnpromptedTurns" in attempt.__qualname__ and not spoken:
                spoken.append(await home.says("ana", "I am back"))
            return await decide(stream, head, attempt)

        home.app.ledger.decide = late  # type: ignore[method-assign]
        await past(home, 3.1)
        assert spoken
        assert await woken(home) == []


class Nights:
    """Everybody's quiet hours are the same."""

    def quiet(self, person: str) -> tuple[str, str]:
        """Of this person."""
        return "22:00-07:00", "UTC"


def test_quiet_hours_are_read_once_for_all_who_keep_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A room of hundreds looks at one pair of hours, and once more where it moved something."""
    looks, looked = list[datetime](), quiet_until

    def counted(at: datetime, hours: Any, zone: Any) -> datetime:
        looks.append(at)
        return looked(at, hours, zone)

    monkeypatch.setattr(unprompted_turns, "quiet_until", counted)
    story = Chronicle(people=1, mates=1)
    for nth in range(300):
        story.add(PersonJoined(person=f"p{nth}", name=public_words(f"P {nth}"), surface="web"))
    parts: Any = (None, None, None, {}, Nights())
    turns, utc = unprompted_turns.UnpromptedTurns(*parts), ZoneInfo("UTC")
    night = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
    woken = turns._awake(fold(story.events), night, utc)
    assert woken == datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
    assert len(looks) <= 2
