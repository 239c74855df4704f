"""What is in the air of a room, as a platform shows it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from loopforge.core.events import Body
from loopforge.core.room_vocabulary import Heard, PlaceJoined, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived, TurnEnded
from loopforge.errors import SendFailed
from loopforge.io.platforms.emoji_reactions import Mark
from loopforge.io.platforms.typing_updates import LiveSpeech, RoomWatch
from loopforge.models.scripted_model import ScriptedAnswer
from tests.rooms.conftest import living


class Stage:
    """A platform that notes what it was to show."""

    name = "x"

    def __init__(self, refuses: int = 0) -> None:
        self.refuses = refuses
        self.drafts: list[LiveSpeech] = []
        self.withdrawn: list[LiveSpeech] = []

    async def typing(self, place: str, mate: str) -> None:
        """See UpdateStage."""

    async def draft(self, speech: LiveSpeech, text: str) -> float:
        """See UpdateStage."""
        self.drafts.append(speech)
        return 0

    async def withdraw(self, speech: LiveSpeech) -> None:
        """See UpdateStage."""
        self.withdrawn.append(speech)
        if self.refuses:
            self.refuses -= 1
            raise SendFailed("It is away.")

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Sequence[Mark]) -> None:
        """See Marker."""


async def test_a_turn_that_began_before_a_room_was_watched_is_a_reply_too(tmp_path: Path) -> None:
    """A program that starts goes on with a turn at once: others spoke after the line it answers."""
    slow = ScriptedAnswer(text="Once upon a time, in a city.", pieces=3, wait=5, pause=5)
    async with living(tmp_path, lambda _: slow) as home:
        await home.enter("ana", "ben", mates=("maya",))
        said: list[Body] = [
            PlaceJoined(place="x:1", name=Words("general"), kind="group"),
            Heard(person=home.people["ana"], text=Words("maya, tell me"), surface="terminal"),
            Heard(person=home.people["ben"], text=Words("Ana, it rains"), surface="terminal"),
        ]
        facts = [home.app.stamp.fact(each, actor="person:ana") for each in said]
        await home.app.ledger.append(f"room:{home.room}", facts)
        while not await home.bodies(Perceived):
            await home.clock.advance(0.1)
        watch = RoomWatch(home.app.front, stage := Stage(), home.clock, again=5, marks=False)
        watch.room(home.room)
        while not stage.drafts:
            await home.clock.advance(1)
        await watch.close()
    assert {speech.answers for speech in stage.drafts} == {facts[1].id}


@pytest.mark.parametrize(
    ("then", "refused", "gone"),
    [([], 0, 1), ([Said(mate="maya", turn="t1", text=Words("It is four."))], 0, 0), ([], 2, 3)],
    ids=["silent", "said", "away"],
)
async def test_what_a_turn_showed_that_ends_as_a_room_begins_to_be_watched(
    tmp_path: Path, then: list[Body], refused: int, gone: int
) -> None:
    """Its draft goes where it said nothing; where it said a line, that stands in the draft's place.

    A platform that is away for a while leaves no draft standing until the next start.
    """
    async with living(tmp_path, wake=False) as home:
        await home.enter("ana", mates=("maya",))
        joined = PlaceJoined(place="x:1", name=Words("general"), kind="group")
        stamp, room = home.app.stamp, f"room:{home.room}"
        await home.app.ledger.append(room, [stamp.fact(joined, actor="person:ana")])
        stage = Stage(refused)
        watch = RoomWatch(home.app.front, stage, home.clock, again=5, marks=False)
        watch.room(home.room)
        ends: list[Body] = [*then, TurnEnded(turn="t1", outcome="done")]
        await home.app.ledger.append(room, [stamp.fact(each, actor="mate:maya") for each in ends])
        await home.clock.advance(600 if refused else 1)
        await watch.close()
    assert stage.withdrawn == [LiveSpeech("commons", "x:1", "t1", "maya")] * gone


async def test_a_room_that_is_named_once_nothing_is_watched(tmp_path: Path) -> None:
    """What comes in while a platform is left begins no watch, which nobody would end."""
    async with living(tmp_path, wake=False) as home:
        await home.enter("ana", mates=("maya",))
        watch = RoomWatch(home.app.front, Stage(), home.clock, again=5, marks=False)
        await watch.close()
        watch.room(home.room)
        names = {task.get_name() for task in asyncio.all_tasks()}
    assert f"watch {home.room}" not in names
