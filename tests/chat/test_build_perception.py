"""What is remembered between two looks at a room changes nothing of what is seen."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.room_state import fold
from loopforge.chat.room.turn_queue import DueTurn
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns import build_perception
from loopforge.chat.turns.build_perception import LineCounter, PerceptionBuilder, ShownContext
from loopforge.core.context_window import ContextEntry, as_lines
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.mates.mate_file import Mate
from loopforge.core.text.erasable_text import Words, set_words_text
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import Route
from loopforge.runtime.turn_record import PLACES
from loopforge.tools.tool_registry import ToolRegistry
from tests.sim_clock import SimClock
from tests.strategies import Chronicle

START = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)


def entry(seq: int, who: str = "ana") -> ContextEntry:
    """A line of a person, or of maya; one an hour."""
    said = who == "maya"
    return ContextEntry(
        id=f"line-{seq}",
        seq=seq,
        kind="said" if said else "heard",
        at=START + timedelta(hours=seq),
        who=who,
        name=Words("" if said else "Ana"),
        text=Words(f"line {seq}"),
        narrative=Words(f"I say line {seq}." if said else ""),
    )


CHANGES = st.lists(st.sampled_from(("line", "own", "purge", "mark", "rename", "cut")), max_size=20)


@given(CHANGES)
def test_lines_that_are_extended_are_the_lines_made_anew(changes: Sequence[str]) -> None:
    """However a room grows, is purged, marked or renamed, the held lines equal fresh ones."""
    entries: tuple[ContextEntry, ...] = (entry(0),)
    shown, name = ShownContext(UTC), "Maya"
    for seq, change in enumerate(changes, 1):
        cuts: dict[str, float] = {}
        match change:
            case "line":
                entries = (*entries, entry(seq))
            case "own":
                entries = (*entries, entry(seq, "maya"))
            case "purge":
                entries = entries[len(entries) // 2 :]
            case "mark":
                entries = (msgspec.structs.replace(entries[0], mark="keep"), *entries[1:])
            case "rename":
                name += "a"
            case _:
                cuts = {entries[-1].id: 0.5}
        lines = shown.lines("room:commons", "maya", entries, {"maya": name}, cuts)
        assert lines == as_lines(entries, "maya", {"maya": Words(name)}, UTC, cuts)


def test_a_forgotten_text_is_not_held() -> None:
    """Lines that are held refer to the entries' own words, also when a text had been cut."""
    shown, entries = ShownContext(UTC), (entry(1), entry(2))
    for cuts in ({}, {"line-1": 0.5}):
        shown.lines("room:commons", "maya", entries, {}, cuts)
    for one in entries:
        set_words_text(one.text, None)
    lines = shown.lines("room:commons", "maya", entries, {}, {})
    assert [str(line.text) for line in lines if line.kind == "heard"] == ["[forgotten]"] * 2


def test_lines_of_rooms_that_are_idle_are_let_go() -> None:
    """Of very many rooms, those that were last at work have their lines held."""
    shown, entries = ShownContext(UTC), (entry(1),)
    first = shown.lines("room:idle", "maya", entries, {}, {})
    assert shown.lines("room:idle", "maya", entries, {}, {})[-1] is first[-1]
    for number in range(PLACES):
        shown.lines(f"room:{number}", "maya", entries, {}, {})
    anew = shown.lines("room:idle", "maya", entries, {}, {})
    assert anew == first
    assert anew[-1] is not first[-1]


async def test_of_lines_of_other_mates_their_reasons_are_not_counted() -> None:
    """A mate is shown why it said its own lines alone, and so many tokens are counted."""
    line = msgspec.structs.replace(
        entry(1), kind="said", who="zuzu", narrative=Words("I weighed it for a long, long time.")
    )
    counter = LineCounter(ScriptedModels())
    own, other = [(await counter.entries(Route(), mate, [line]))[line.id] for mate in ("zuzu", "m")]
    assert own > other


async def test_counts_that_were_let_go_are_asked_anew() -> None:
    """More lines than are remembered are counted all the same, the oldest once more."""
    counter = LineCounter(ScriptedModels())
    many = [entry(seq) for seq in range(build_perception.REMEMBERED)]
    before = await counter.entries(Route(), "maya", many)
    after = await counter.entries(Route(), "maya", [*many, entry(build_perception.REMEMBERED)])
    assert len(after) == build_perception.REMEMBERED + 1
    assert before.items() <= after.items()
    assert before == await counter.entries(Route(), "maya", many)


async def test_what_is_said_while_a_view_is_made_was_not_withheld() -> None:
    """A line that came after the look began is in the next view, and is none that did not fit."""
    story, clock = Chronicle(), SimClock(START)
    story.hear("well, maya?")
    state = fold(story.events)

    class Slow(ScriptedModels):
        """Somebody speaks while lines are counted."""

        async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
            state.apply(story.hear("are you there?"))
            return await super().count(route, texts)

    async def left(_: Charge) -> str:
        """No budget binds anybody."""
        return ""

    maya = Mate(name="Maya", handle="maya", role="", prompt="You are Maya.", hash="0" * 16)
    viewer = PerceptionBuilder(Slow(), ToolRegistry(), clock, RoomRules(), {"maya": maya}, left)
    due = DueTurn(mate="maya", lines=(story.lines[0],), summons="name")
    seen = await viewer.view(state, maya, due)
    assert [line.id for line in seen.perception.lines if line.id] == story.lines[:1]
    assert len(story.lines) > 1
    assert seen.edits == ()


async def test_counts_of_two_rooms_at_once_do_not_miss_each_other() -> None:
    """What was known when a room asked is told, though another's lines took its place meanwhile."""

    class Slow(ScriptedModels):
        """Somebody else's lines are counted while one's own are."""

        counter: LineCounter
        others = True

        async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
            if len(texts) == 1 and self.others:
                self.others = False
                more = range(2, build_perception.REMEMBERED + 2)
                await self.counter.entries(route, "maya", [entry(seq) for seq in more])
            return await super().count(route, texts)

    models = Slow()
    models.others = False
    counter = models.counter = LineCounter(models)
    await counter.entries(Route(), "maya", [entry(0)])
    models.others = True
    assert {*await counter.entries(Route(), "maya", [entry(0), entry(1)])} == {"line-0", "line-1"}
