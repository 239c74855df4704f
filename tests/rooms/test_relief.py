"""The fallback mate: who is called and cannot run is answered for, and answers again later."""

from pathlib import Path

import pytest

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.delivery_states import Queued
from loopforge.core.events import Event
from loopforge.core.model_trouble import MEND, OWNER, Cause, fixes_for_owner
from loopforge.core.room_vocabulary import StoodDown, StoodIn, Told, TurnDropped
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living, write_mates

BROKEN = "---\nname: Maya\nrole: [mate\n---\nYou are Maya.\n"
ELSEWHERE = "---\nname: Maya\nrole: mate\ntier: 2\n---\nYou are Maya.\n"


def anew(question: Question) -> str:
    """Something that was not said before."""
    return f"Yes, for the {len(str(question.messages))}th time."


async def mended(home: Home) -> list[str]:
    """What the owner alone was told of these."""
    return [fixes_for_owner(one.mend) for one in await home.bodies(Told)]


async def stands(home: Home) -> list[str]:
    """Who stood in and down, in order."""
    found = []
    for event in await home.events():
        match event.body:
            case StoodIn(mate=mate, by=by):
                found.append(f"{by} for {mate}")
            case StoodDown(mate=mate):
                found.append(f"{mate} again")
            case _:
                pass
    return found


async def begun(path: Path) -> None:
    """A home whose room has maya and zuzu."""
    write_mates(path)
    async with living(path, anew) as home:
        await home.enter("ana", "ben", mates=("maya", "zuzu"))


async def test_a_mate_whose_file_is_broken_is_answered_for_and_answers_again(
    tmp_path: Path,
) -> None:
    """The room is told once, with the reason; the fallback comes for that alone, and goes again."""
    await begun(tmp_path)
    whole = (tmp_path / "mates" / "maya.md").read_text()
    (tmp_path / "mates" / "maya.md").write_text(BROKEN)
    async with living(tmp_path, anew, seed=8, fallback_mate="merlin") as home:
        await home.enter("ana", "ben")
        await home.hears("ana", "@maya are you there?")
        await home.hears("ana", "@maya and now?")
        assert await home.said() == ["merlin", "merlin"]
        assert await home.told() == [
            "Maya cannot answer just now (its file has a mistake), so Merlin answers."
        ]
        assert await mended(home) == [OWNER["file"].format(model="maya.md, line 3")]
        assert "merlin" in (await home.app.rooms.state("commons")).mates
        seen = [e for e in await home.events() if e.kind == "turn.perceived"]
        assert "you answer what is said to maya" in str(seen[0].body)
        (tmp_path / "mates" / "maya.md").write_text(whole)
        await home.clock.advance(1)
        await home.hears("ana", "@maya back?")
        assert (await home.said())[-1] == "maya"
        assert (await stands(home))[-1] == "maya again"
        assert "merlin" not in (await home.app.rooms.state("commons")).mates
        (tmp_path / "mates" / "maya.md").unlink()
        await home.clock.advance(1)
        await home.hears("ana", "@maya gone?")
        assert (await home.said())[-1] == "merlin"
        assert (await home.told())[-1] == (
            "Maya cannot answer just now (its file is gone), so Merlin answers."
        )


async def test_a_guest_goes_with_the_mate_it_stood_in_for(tmp_path: Path) -> None:
    """A mate without a file is sent out by its name, and nobody answers for it any more."""
    await begun(tmp_path)
    (tmp_path / "mates" / "maya.md").unlink()
    async with living(tmp_path, anew, seed=8, fallback_mate="merlin") as home:
        await home.hears("ana", "@maya are you there?")
        assert await home.said() == ["merlin"]
        await home.does("ana", "remove", "@Maya")
        state = await home.app.rooms.state("commons")
        assert (list(state.mates), state.stand_ins) == (["zuzu"], {})
        assert "answers for" not in await home.does("ana", "status")


async def test_a_fallback_that_is_not_for_guests_does_not_stand_in_for_them(tmp_path: Path) -> None:
    """A guest in the browser is told that the mate cannot answer; for others the fallback does."""
    await begun(tmp_path)
    (tmp_path / "mates" / "maya.md").unlink()
    async with living(tmp_path, anew, seed=8, fallback_mate="merlin", guest_mates="maya") as home:
        await home.hears("ben", "@maya are you there?", surface="web")
        assert (await home.said(), await home.told()) == (
            [],
            ["Maya cannot answer just now: its file is gone."],
        )
        await home.hears("ana", "@maya and for me?")
        assert await home.said() == ["merlin"]


async def test_another_fallback_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    """Who stood in for a mate as a guest goes when somebody else does so."""
    await begun(tmp_path)
    write_mates(tmp_path, ("otto",))
    (tmp_path / "mates" / "maya.md").unlink()
    for seed, fallback in ((8, "merlin"), (9, "otto")):
        async with living(tmp_path, anew, seed=seed, fallback_mate=fallback) as home:
            await home.hears("ana", "@maya are you there?")
            state = await home.app.rooms.state("commons")
            assert sorted(state.mates) == sorted(["maya", "zuzu", fallback])


async def test_a_mate_that_no_model_answers_for_is_answered_for(tmp_path: Path) -> None:
    """Where its model cannot be reached and the fallback's can; nobody is asked to say it again."""
    reachable: set[int] = {1}

    def script(question: Question) -> ScriptedAnswer:
        there = question.route.tier in reachable
        return ScriptedAnswer(
            text=anew(question) * there, outcome="answered" if there else "failed"
        )

    write_mates(tmp_path, maya=ELSEWHERE)
    async with living(tmp_path, script, fallback_mate="merlin") as home:
        await home.enter("ana", "ben", mates=("maya", "zuzu"))
        for text in ("@maya one", "@maya two"):
            await home.hears("ana", text)
        assert await home.said() == ["merlin", "merlin"]
        assert await home.told() == [
            "Maya cannot answer just now (no model answered), so Merlin answers."
        ]
        reachable.add(2)
        await home.hears("ana", "@maya three")
        assert await home.said() == ["merlin", "merlin", "maya"]
        assert await stands(home) == ["merlin for maya", "merlin for maya", "maya again"]


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        ("empty", "the model's answer was empty"),
        ("busy", "the model is too busy just now"),
        ("unreachable", MEND),
    ],
)
async def test_why_the_fallback_answers_is_told_by_its_cause(
    tmp_path: Path, cause: Cause, why: str
) -> None:
    """A model that was reached and gave no answer is not told to be out of reach."""

    def script(question: Question) -> ScriptedAnswer:
        there = question.route.tier == 1
        failed = ScriptedAnswer(outcome="failed", cause=cause, asks=3600)
        return ScriptedAnswer(text=anew(question)) if there else failed

    write_mates(tmp_path, maya=ELSEWHERE)
    async with living(tmp_path, script, fallback_mate="merlin") as home:
        await home.enter("ana", "ben", mates=("maya", "zuzu"))
        await home.hears("ana", "@maya one")
        assert await home.said() == ["merlin"]
        assert await home.told() == [f"Maya cannot answer just now ({why}), so Merlin answers."]


async def test_without_a_fallback_the_room_is_told_why(tmp_path: Path) -> None:
    """Once for each cause, where it is called; whoever runs is called as ever."""
    await begun(tmp_path)
    (tmp_path / "mates" / "maya.md").write_text(BROKEN)
    answer = ScriptedAnswer(outcome="failed")
    async with living(tmp_path, lambda _: answer, seed=8) as home:
        await home.enter("ana", "ben")
        await home.hears("ana", "@maya hello @zuzu")
        assert await home.said() == []
        assert await stands(home) == []
        broken, unreached = await home.told()
        assert broken == "Maya cannot answer just now: its file has a mistake."
        assert "maya.md, line 3" in (await mended(home))[0]
        assert unreached.startswith("Zuzu gave no answer (no model answered).")
        await home.says("ana", "I wonder")
        await home.hears("ana", "@maya please")
        assert len(await home.told()) == 2
        (tmp_path / "mates" / "maya.md").unlink()
        await home.clock.advance(1)
        await home.hears("ana", "maya?")
        assert (await home.told())[2] == "Maya cannot answer just now: its file is gone."
        (tmp_path / "mates" / "maya.md").write_text("---\nname: Mary\n---\nYou are Mary.\n")
        await home.clock.advance(1)
        await home.hears("ana", "@maya?")
        told = (await home.told())[3]
        assert told == "Maya cannot answer just now: its file says another name."
        assert "maya.md (it is @mary now; a line `handle: maya`" in (await mended(home))[-1]
        lost = await home.bodies(TurnDropped)
        assert [body.why for body in lost] == ["it cannot run"] * 4


async def test_what_a_broken_mate_does_not_say_reaches_the_place(tmp_path: Path) -> None:
    """The place that called it is sent the notice; a line to all goes to a mate that runs."""
    await begun(tmp_path)
    (tmp_path / "mates" / "maya.md").write_text(BROKEN)
    async with living(tmp_path, anew, seed=8) as home:
        await home.enter("ana")
        spot = ChannelSpot(key="pigeon:1", name="the loft", kind="group")
        await home.app.front.rooms.join_place(spot, ("maya", "zuzu"), "commons")
        await home.hears("ana", "mates, good morning", called=True)
        assert await home.said() == ["zuzu"]
        await home.hears("ana", "@maya and you?")
        told = next(e for e in await home.events() if isinstance(e.body, Told))
        sent = await home.bodies(Queued)
        assert ("pigeon:1", told.id) in [(out.surface, out.of) for out in sent]


async def test_a_fallback_that_nothing_reaches_either_says_so_once(tmp_path: Path) -> None:
    """It is stood in for by nobody, and no turn follows another for ever."""
    write_mates(tmp_path, maya=ELSEWHERE)
    answer = ScriptedAnswer(outcome="failed")
    async with living(tmp_path, lambda _: answer, fallback_mate="merlin") as home:
        await home.enter("ana", "ben", mates=("maya", "zuzu"))
        await home.hears("ana", "@maya hello")
        assert await home.said() == []
        assert len(await home.told()) == 2
        assert (await home.told())[1].startswith("Merlin gave no answer")


async def test_a_turn_that_was_handed_over_is_taken_after_a_crash(tmp_path: Path) -> None:
    """The hand-over is a fact: a process that dies after it leaves the turn to the next one."""
    await begun(tmp_path)
    (tmp_path / "mates" / "maya.md").write_text(BROKEN)
    line: list[Event] = []
    slow = ScriptedAnswer(text="Yes.", wait=1000)
    async with living(tmp_path, lambda _: slow, seed=8, fallback_mate="merlin") as home:
        await home.enter("ana", "ben")
        line.append(await home.says("ana", "@maya hello"))
        await home.clock.advance(5)
        assert await stands(home) == ["merlin for maya"]
        assert await home.said() == []
    async with living(tmp_path, anew, seed=9, fallback_mate="merlin") as home:
        await home.rest()
        assert await home.said() == ["merlin"]
        assert await stands(home) == ["merlin for maya"]
