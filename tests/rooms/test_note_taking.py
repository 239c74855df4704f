"""In idle time a mate looks back on a talk, and keeps what its lines really say."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.memories.memory_service import MemoryReader
from loopforge.chat.remembering.note_taking import NoteState, NoteWorld
from loopforge.chat.service.memory_notice import NOTICE
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import KeepingSet
from loopforge.core.room_vocabulary import MateJoined, MateLeft, PlaceJoined
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import TurnEnded
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.runtime.ports.memory_port import KeptItem
from tests.rooms.conftest import Home, living
from tests.sim_clock import SimClock

HOURS = 5 * 3600
Notes = dict[str, list[dict[str, Any]]]
NOTES: Notes = {
    "notes": [{"text": "Ana promised to bring quince jam", "lines": []}],
    "facts": [
        {"about": "ana", "subject": "home", "text": "Ana lives in Riga", "lines": []},
        {"about": "ana", "subject": "job", "text": "Ana flies spaceships", "lines": []},
    ],
    "wishes": [{"about": "ana", "text": "Talk slowly with Ana", "lines": []}],
    "core": [
        {"text": "I enjoy being patient.", "lines": []},
        {"text": "I learned that Ana likes quince jam.", "lines": []},
    ],
}


def noting(notes: Notes) -> Callable[[Question], dict[str, Any]]:
    """A model that notes this, and hums in talk."""

    def answer(question: Question) -> dict[str, Any]:
        if "Note what will matter" in question.messages[0][1]:
            return notes
        return {"say": "Hm.", "mode": "context", "rule": "", "narrative": "I hum."}

    return answer


@asynccontextmanager
async def noted(path: Path, notes: Notes = NOTES, keep: str = "all") -> AsyncIterator[Home]:
    """A home in which mates look back on talks."""
    environ = {"LOOPFORGE_MEMORY_KEEP": keep}
    async with living(path, noting(notes), environ=environ) as home:
        yield home


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """One in which they keep what they note."""
    async with noted(tmp_path) as home:
        yield home


async def talk(home: Home, *more: str) -> None:
    """A talk of ana with maya, which ends."""
    for line in (
        "@maya I live in Riga now, talk slowly with me",
        "@maya I promise to bring you quince jam",
        "nice weather",
        *more,
    ):
        await home.hears("ana", line)
    await home.passes(HOURS)


async def held(home: Home, mate: str = "maya") -> dict[str, KeptItem]:
    """What a mate keeps now, by its words."""
    items = await home.app.memory.store.items(mate)
    return {str(one.text): one for one in items if one.state == "held"}


async def turns(home: Home) -> list[Event]:
    """What became of the turns in which maya looked back."""
    return await home.app.ledger.read("memory:maya", kinds=["turn.ended"])


async def test_what_matters_of_a_talk_is_kept_when_it_has_ended(home: Home) -> None:
    """Each in its layer, about whom it names, on the lines that say so; nothing that none says."""
    await talk(home)
    kept = await held(home)
    assert "Ana flies spaceships" not in kept
    assert kept["Ana promised to bring quince jam"].layer == "final"
    home_fact = kept["Ana lives in Riga"]
    assert (home_fact.layer, home_fact.about) == ("fact", (home.people["ana"],))
    line = await home.app.ledger.event(home_fact.evidence[0].line)
    assert "Riga" in str(getattr(line.body, "text", ""))
    assert kept["Talk slowly with Ana"].layer == "instruction"
    assert kept["I enjoy being patient."].travels
    assert not kept["I learned that Ana likes quince jam."].travels
    (judged,) = await home.app.ledger.read("memory:maya", kinds=["turn.judged"])
    refused = [one for one in judged.body.verdicts if not one.allowed]  # type: ignore[attr-defined]
    assert [one.rule for one in refused] == ["evidence"]


@pytest.mark.parametrize("ends", [["new"], ["new", "new"], ["end"]])
async def test_a_talk_that_somebody_ends_is_looked_back_on(home: Home, ends: list[str]) -> None:
    """Also where the next one begins at once: its lines have left the page, and are kept of alike."""
    first = await home.hears("ana", "@maya the locker opens with rhubarb")
    await home.hears("ana", "@maya I live in Rome now, talk slowly with me")
    moved = await home.hears("ana", "@maya I promise to bring you quince jam")
    await home.hears("ana", "nice weather")
    for end in ends:
        await home.does("ana", end)
    await home.hears("ana", "@maya good morning")
    rooms = home.app.front.rooms
    await rooms.delete(home.room, home.people["ana"], first.id)
    assert not await held(home)
    await home.passes(200)
    kept = await held(home)
    assert kept["Ana promised to bring quince jam"].evidence[0].line == moved.id
    assert kept["I enjoy being patient."].layer == "core"
    asked = "".join(str(one.messages) for one in home.models.asked if noting(NOTES)(one) is NOTES)
    assert "quince jam" in asked
    assert ("rhubarb" in asked, "good morning" in asked) == (False, False)


async def test_signs_that_nobody_sees_are_not_kept(tmp_path: Path) -> None:
    """A model may write anything: what no database holds, and what turns a line around."""
    odd = {"text": "Ana promised\0 to bring \x1b[31m\u202equince jam", "lines": []}
    async with noted(tmp_path, {**NOTES, "notes": [odd], "facts": []}) as home:
        await talk(home)
        assert "Ana promised to bring quince jam" in await held(home)


@pytest.mark.parametrize(
    ("back", "minutes"), [(True, [0, 10, 30, 70]), (False, [0, 10, 30, 70, 150, 310])]
)
async def test_a_talk_for_which_no_model_answered_is_looked_at_again(
    tmp_path: Path, back: bool, minutes: list[int]
) -> None:
    """Each time after twice as long, six times at most; once it is back, what matters is kept."""
    away = [True]

    def answer(question: Question) -> dict[str, Any] | ScriptedAnswer:
        if away[0] and "Note what will matter" in question.messages[0][1]:
            return ScriptedAnswer(outcome="failed", cause="busy")
        return noting(NOTES)(question)

    async with living(tmp_path, answer, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:
        await talk(home)  # and the hour after it
        away[0] = not back
        for _ in range(9):
            await home.passes(HOURS / 5)
        looks = [each.at - (await turns(home))[0].at for each in await turns(home)]
        assert [one.total_seconds() // 60 for one in looks] == minutes
        assert ("Ana promised to bring quince jam" in await held(home)) is back


@pytest.mark.parametrize(("bad", "kept"), [(1, True), (3, True), (9, False)])
async def test_a_look_that_came_to_no_form_is_had_again(
    tmp_path: Path, bad: int, kept: bool
) -> None:
    """It is asked once more at once, and later again; each answer stands on record."""
    left = [bad]

    def answer(question: Question) -> dict[str, Any] | ScriptedAnswer:
        if left[0] and question.charge.stream == "memory:maya":
            left[0] -= 1
            return ScriptedAnswer(outcome="malformed", text="Sure! {")
        return noting(NOTES)(question)

    async with living(tmp_path, answer, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:
        await talk(home)
        assert ("Ana promised to bring quince jam" in await held(home)) is kept
        said = await home.app.ledger.read("memory:maya", kinds=["turn.answered"])
        came = [one.body.outcome for one in said]  # type: ignore[attr-defined]
        assert came == ["malformed"] * min(bad, 4) + ["answered"] * kept


async def test_a_new_fact_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """Of the same subject about the same person; the old one says until when it held."""
    notes = {**NOTES, "facts": NOTES["facts"][:1]}
    async with noted(tmp_path, notes) as home:
        await talk(home)
        notes["facts"] = [
            {"about": "ana", "subject": "home", "text": "Ana moved to Oslo", "lines": []}
        ]
        await talk(home, "@maya I moved to Oslo")
        items = {str(one.text): one for one in await home.app.memory.store.items("maya")}
        assert items["Ana lives in Riga"].state == "superseded"
        assert items["Ana lives in Riga"].until is not None
        assert items["Ana moved to Oslo"].state == "held"


async def test_a_talk_that_goes_on_is_noted_when_it_is_quiet(home: Home) -> None:
    """After enough lines, and a lull; not again for the same lines; nobody waits for it."""
    for nth in range(16):
        await home.hears("ana", f"@maya I live in Riga, {nth}")
    assert not await turns(home)
    await home.clock.advance(200)
    assert len(await turns(home)) == 1
    assert "Ana lives in Riga" in await held(home)
    await home.clock.advance(600)
    assert len(await turns(home)) == 1


@pytest.mark.parametrize("scope", ["room", "person", "home"])
async def test_it_can_be_switched_off(scope: str, tmp_path: Path) -> None:
    """For a room no turn is taken; of a person no line is looked at; for the home, neither."""
    async with noted(tmp_path, keep="asked" if scope == "home" else "all") as home:
        await home.enter("ana")
        ana = home.people["ana"]
        of = {"room": "room:commons", "person": f"person:{ana}", "home": "room:other"}[scope]
        await home.app.memory.store.set_keeping(KeepingSet(scope=of, kept="off", by=ana))
        await talk(home)
        assert not any("Ana" in text for text in await held(home))
        asked = [q for q in home.models.asked if "Note what will" in q.messages[0][1]]
        assert not any("quince" in text for q in asked for _, text in q.messages)


async def test_a_group_of_a_platform_is_not_remembered_until_somebody_says_so(home: Home) -> None:
    """Then it is."""
    await home.enter("ana")
    place = PlaceJoined(place="discord:1", name=Words("general"), kind="group")
    await home.app.ledger.append("room:commons", [home.app.stamp.fact(place, actor="room")])
    await talk(home)
    assert not await held(home)
    await home.hears("ana", "@maya remember that I live in Riga")
    assert not await held(home)
    setting = KeepingSet(scope="room:commons", kept="on", by=home.people["ana"])
    await home.app.memory.store.set_keeping(setting)
    await home.hears("ana", "@maya remember that I live in Riga")
    assert await held(home)


async def test_a_talk_that_waits_to_be_looked_back_on_costs_no_look_at_every_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits until it is quiet looks once in a minute and a half at most, however much is said."""
    looks, due = list[str](), NoteWorld.due

    async def counted(world: NoteWorld, state: NoteState) -> Any:
        looks.append(state.mate)
        return await due(world, state)

    monkeypatch.setattr(NoteWorld, "due", counted)
    async with noted(tmp_path) as home:
        for nth in range(20):
            await home.hears("ana", f"@maya I live in Riga, {nth}")
        looks.clear()
        for nth in range(20):
            await home.hears("ana", f"@maya I live in Oslo, {nth}")
        assert looks.count("maya") <= 2


async def test_somebody_who_speaks_halts_it(tmp_path: Path) -> None:
    """The reply does not wait; the talk is looked back on later, and what it says is kept."""
    slow = ScriptedAnswer(data=NOTES, wait=60)

    def answer(question: Question) -> ScriptedAnswer | dict[str, Any]:
        said = noting(NOTES)(question)
        return slow if said is NOTES else said

    environ = {"LOOPFORGE_MEMORY_KEEP": "all"}
    async with living(tmp_path, answer, environ=environ) as home:
        for nth in range(16):
            await home.hears("ana", f"@maya I live in Riga, {nth}")
        await home.clock.advance(100)
        before = home.clock.now()
        await home.hears("ana", "@maya are you there?")
        assert (home.clock.now() - before).total_seconds() < 30
        await home.clock.advance(400)
        outcomes = [e.body.outcome for e in await turns(home) if isinstance(e.body, TurnEnded)]
        assert outcomes == ["stopped", "done"]
        assert "Ana lives in Riga" in await held(home)


@pytest.mark.parametrize("whole", [False, True], ids=["line", "room"])
async def test_what_is_taken_back_meanwhile_is_not_written_down(
    whole: bool, tmp_path: Path
) -> None:
    """A look at a talk ends where a line of it, or the room, is deleted: no answer quotes it."""
    secret = NOTES | {"notes": [{"text": "The locker opens with rhubarb-4711", "lines": []}]}

    def answer(question: Question) -> ScriptedAnswer | dict[str, Any]:
        said = noting(secret)(question)
        knows = said is secret and "rhubarb" in str(question.messages)
        return ScriptedAnswer(data=secret, wait=60) if knows else noting(NOTES)(question)

    async with living(tmp_path, answer, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:
        line = await home.hears("ana", "@maya my locker opens with rhubarb-4711")
        for nth in range(15):
            await home.hears("ana", f"@maya I live in Riga, {nth}")
        await home.clock.advance(100)
        assert await home.app.ledger.read("memory:maya", kinds=["turn.perceived"])
        assert not await turns(home)
        ana = home.people["ana"]
        if whole:
            await home.app.closing.close_room(home.room, ana)
        else:
            await home.app.front.rooms.delete(home.room, ana, line.id)
        await home.clock.advance(400)
        assert home.holding(b"rhubarb") == []
        assert ("Ana lives in Riga" in await held(home)) is not whole


async def test_it_is_taken_up_after_a_crash(tmp_path: Path) -> None:
    """What had been looked at is not looked at again by the next program."""
    async with noted(tmp_path) as home:
        await talk(home)
        clock, before = home.clock, await held(home)
    environ = {"LOOPFORGE_MEMORY_KEEP": "all"}
    async with living(tmp_path, noting(NOTES), clock=clock, seed=9, environ=environ) as home:
        await home.clock.advance(HOURS)
        assert (await held(home)).keys() == before.keys()
        assert len(await turns(home)) == 1


async def test_people_are_told_once_that_a_room_is_remembered(home: Home) -> None:
    """When something is first kept, and again where somebody came since."""
    await talk(home)
    told = await home.told()
    assert told.count(NOTICE) == 1
    await talk(home, "@maya I live in Riga, and in Bonn")
    assert (await home.told()).count(NOTICE) == 1
    await home.enter("bo")
    NOTES["notes"].append({"text": "Ana lives in Bonn", "lines": []})
    await talk(home, "@maya I live in Riga, and in Bonn")
    NOTES["notes"].pop()
    assert (await home.told()).count(NOTICE) == 2


async def test_a_room_teaches_its_words_and_people_take_them_away(tmp_path: Path) -> None:
    """A word that stands in two lines is kept with them, shown in the next talk, and let go."""
    words = [
        {"subject": "Snorkel", "text": "the old delivery van", "lines": []},
        {"subject": "weather", "text": "what Ana talks of", "lines": []},
    ]
    async with noted(tmp_path, {"words": words}) as home:
        await home.enter("ben")
        await talk(home, "the snorkel is broken again", "who drives Snorkel today?")
        kept = await held(home)
        text = "“Snorkel”: the old delivery van"
        assert list(kept) == [text]
        assert (kept[text].layer, len(kept[text].evidence)) == ("word", 2)
        await home.hears("ben", "@maya where is it?")
        prompt = str(home.models.asked[-1].messages)
        assert prompt.count(text) == 1
        assert prompt.index(text) < prompt.index("where is it?")
        ben = MemoryReader(person=home.people["ben"])
        memories, number = home.app.memory.memories, kept[text].seq
        belief = await memories.find(ben, "maya", number)
        assert (belief.lets_go, len(belief.evidence)) == (True, 2)
        await memories.drop(ben, belief)
        await home.hears("ben", "@maya and now?")
        assert text not in str(home.models.asked[-1].messages)


async def test_a_mate_that_came_back_looks_back_on_what_it_said_before(home: Home) -> None:
    """At the end of the talk, although it said nothing more once it was there again."""
    for line in ("@maya I live in Riga now", "@maya I promise to bring you quince jam"):
        await home.hears("ana", line)
    await home.app.rooms.add(home.room, "", MateLeft(mate="maya"))
    await home.app.rooms.add(home.room, "", MateJoined(mate="maya"))
    await home.hears("ana", "nice weather")
    await home.hears("ana", "the train was late")
    await home.passes(HOURS)
    assert "Ana lives in Riga" in await held(home)


async def test_a_mate_that_was_sent_out_looks_back_on_what_it_heard_alone(tmp_path: Path) -> None:
    """What is said in the room after that is not for it, although the talk goes on."""
    later = "Ana bakes a cake with fireworks"
    notes = {**NOTES, "notes": [*NOTES["notes"], {"text": later, "lines": []}]}
    async with noted(tmp_path, notes) as home:
        for line in ("I live in Riga now", "I promise to bring you quince jam"):
            await home.hears("ana", f"@maya {line}")
        for nth in range(14):
            await home.says("ana", f"nice weather, the {nth}th time")
        await home.does("ana", "remove", "maya")
        await home.hears("ana", "now that she is gone: I bake a cake with fireworks")
        await home.passes(600)
        kept = await held(home)
        assert "Ana lives in Riga" in kept
        assert later not in kept
        looks = [str(one.messages) for one in home.models.asked if "You are Maya" in str(one)]
        assert not [text for text in looks if "fireworks" in text]
        await home.hears("ana", "it is the best cake there is")
        await home.clock.advance(600)
        assert len(await turns(home)) == 1


async def test_a_talk_that_ended_before_the_home_did_is_looked_at(tmp_path: Path) -> None:
    """Also where no model answered until it ended; and once."""
    down = True

    def think(question: Question) -> ScriptedAnswer:
        if "Note what will matter" in question.messages[0][1]:
            return ScriptedAnswer(outcome="failed") if down else ScriptedAnswer(data=NOTES)
        return ScriptedAnswer(data=noting(NOTES)(question))

    keep = {"LOOPFORGE_MEMORY_KEEP": "all"}
    async with living(tmp_path, think, environ=keep) as home:
        await talk(home)
        before = len(await turns(home))
        now = home.clock.now()
    down = False
    for seed, later in ((8, timedelta(hours=9)), (9, timedelta(hours=12))):
        clock = SimClock(now + later)
        async with living(tmp_path, think, clock=clock, seed=seed, environ=keep) as home:
            await home.passes(HOURS)
            assert len(await turns(home)) == before + 1
            assert "Ana promised to bring quince jam" in await held(home)
