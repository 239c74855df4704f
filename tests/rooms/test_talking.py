"""A room with people and mates, from a line heard to a line said and delivered."""

from pathlib import Path

from loopforge.chat.why.flight_record import LineRecord
from loopforge.chat.why.record_building import build_why_record
from loopforge.core.room_vocabulary import Said
from loopforge.core.turn_events import Asked, Perceived, Planned
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living, write_mates


def speaker(question: Question) -> str:
    """Which mate a question was put to, by its character."""
    _, _, who = question.messages[0][1].partition("You are ")
    return who.split(".")[0].lower() if who else "the room"


async def test_a_mate_answers_when_it_is_mentioned(home: Home) -> None:
    """A mention makes that mate speak, and only that one; the turn is whole in the ledger."""
    await home.hears("ana", "@maya good morning")
    assert await home.said() == ["maya"]
    kinds = await home.kinds("turn.")
    assert kinds[:2] == ["turn.perceived", "turn.asked"]
    assert kinds[-1] == "turn.ended"
    assert {"turn.answered", "turn.planned", "turn.judged"} <= set(kinds)


async def test_every_plan_states_mode_and_narrative(home: Home) -> None:
    """In a chat too a plan says by which mode it came about, and what it was for."""
    await home.hears("ana", "@maya @merlin hello")
    plans = await home.bodies(Planned)
    assert len(plans) >= 2
    assert all(plan.mode in ("guardrail", "context") for plan in plans)
    assert all(str(plan.narrative) for plan in plans)


async def test_each_mate_sees_what_was_said_earlier_in_the_round(tmp_path: Path) -> None:
    """Of two mates called by one line, the second is shown what the first one said."""
    async with living(tmp_path, lambda question: f"{speaker(question)} was here") as home:
        await home.hears("ana", "@maya and @merlin, what do you say?")
        assert await home.said() == ["maya", "merlin"]
        to_merlin = next(q for q in home.models.asked if speaker(q) == "merlin")
        assert any("maya was here" in text for _, text in to_merlin.messages)


async def test_a_person_never_sees_notes_and_narratives(home: Home) -> None:
    """A note to itself is in the mate's own next prompt, and nowhere else."""
    async with living(
        home.path / "two",
        lambda question: {
            "note": "ana likes towers" if speaker(question) == "merlin" else "",
            "narrative": "I keep that.",
            "say": f"Ah, says {speaker(question)}.",
        },
    ) as other:
        await other.hears("ana", "@merlin I like towers")
        await other.hears("ana", "@merlin and @maya, what do I like?")
        assert "ana likes towers" not in " ".join(await other.lines())
        prompts = {speaker(q): str(q.messages) for q in other.models.asked}
        assert "your note to yourself: ana likes towers" in prompts["merlin"]
        assert "ana likes towers" not in prompts["maya"]
        assert "I keep that." in prompts["merlin"]


async def test_a_mate_may_take_another_step_and_is_bounded(tmp_path: Path) -> None:
    """Continue makes the next step; after the most steps in a row the guard refuses another."""
    script = {"say": "", "note": "thinking", "again": True, "narrative": "more"}
    async with living(tmp_path, lambda question: script, max_steps=3) as home:
        await home.hears("ana", "@maya think hard")
        steps = [one.step for one in await home.bodies(Perceived)]
        assert steps == [0, 1, 2]
        assert await home.said() == []


async def test_mates_called_in_a_row_each_answer_their_own_line(tmp_path: Path) -> None:
    """Of lines weighed as one, each mate's answer cites the one that called it."""
    async with living(tmp_path, lambda _: "Well.") as home:
        first = await home.says("ana", "@maya hello")
        second = await home.hears("ana", "@merlin and you?")
        turns = await home.bodies(Perceived)
        assert [(one.mate, one.line) for one in turns[:2]] == [
            ("maya", first.id),
            ("merlin", second.id),
        ]
        said = await home.bodies(Said)
        assert [one.reply_to for one in said[:2]] == [first.id, second.id]
        for line, mate in ((first, "maya"), (second, "merlin")):
            record = await build_why_record(home.app.ledger, line.id)
            assert isinstance(record, LineRecord)
            assert mate in {one.mate for one in record.candidates if one.outcome == "answered"}


async def test_lines_that_follow_quickly_are_answered_together(home: Home) -> None:
    """What a person says in several lines is gathered and answered once."""
    for text in ("@maya", "I have", "three things"):
        await home.says("ana", text)
        await home.clock.advance(0.2)
    await home.rest()
    assert await home.said() == ["maya"]
    asked = [q for q in home.models.asked if "three things" in str(q.messages)]
    assert asked


async def test_a_line_that_arrives_while_a_mate_answers_is_answered_next(tmp_path: Path) -> None:
    """Nothing is lost: a line heard during a turn gets its own answer, and order is kept."""
    script = ScriptedAnswer(text="Well.", wait=30)
    async with living(tmp_path, lambda question: script) as home:
        await home.says("ana", "@maya first?")
        await home.clock.advance(10)
        await home.hears("bo", "@merlin second?")
        spoken = [line for line in await home.lines() if not line.startswith("*")]
        assert spoken == [
            "ana: @maya first?",
            "bo: @merlin second?",
            "maya: Well.",
            "merlin: Well.",
        ]


async def test_words_are_delivered_when_a_terminal_has_shown_them(home: Home) -> None:
    """A mate's line is queued with it and accepted when a surface says that it was seen."""
    await home.hears("ana", "@maya hello")
    said = next(e for e in await home.events() if isinstance(e.body, Said))
    assert len(await home.app.ledger.outbox()) == 1
    await home.app.front.seen("commons", home.people["ana"], said.seq)
    assert await home.app.ledger.outbox() == []
    assert (await home.kinds("delivery."))[-1] == "delivery.accepted"


async def test_a_mate_is_edited_without_a_restart(home: Home) -> None:
    """The next turn of a mate whose file changed is that of the new character."""
    await home.hears("ana", "@maya hello")
    write_mates(home.path, (), maya="---\nname: Maya\n---\nYou are Maya the second.\n")
    await home.hears("ana", "@maya and now?")
    assert any("You are Maya the second." in str(q.messages) for q in home.models.asked)
    began = await home.bodies(Perceived)
    minds = {body.mind for body in began if body.mate == "maya"}
    assert len(minds) == 2


async def test_the_policy_of_a_room_can_be_swapped(home: Home) -> None:
    """After /policy the room's mates think with another mind; the ledger names it."""
    await home.enter("ana")
    assert "stub" in await home.does("ana", "policy", "stub")
    await home.hears("ana", "@maya echo this")
    assert (await home.lines())[-1] == "maya: ana, I heard you say: @maya echo this"
    await home.does("ana", "policy", "chain")
    await home.hears("ana", "@merlin think")
    began = await home.bodies(Perceived)
    assert [body.policy for body in began if body.summons != "title"] == ["stub/1", "chain/3"]
    purposes = [one.purpose for one in await home.bodies(Asked)]
    assert purposes[:3] == ["plan", "critique", "final"]


async def test_a_private_room_has_one_mate(home: Home) -> None:
    """A room opened for one mate holds that one alone, and it answers every line."""
    home.room = "with-maya"
    await home.enter("ana", mates=("maya",))
    await home.hears("ana", "nobody in particular")
    assert await home.said() == ["maya"]
