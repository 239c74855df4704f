"""Bad input and bad luck: a clear error each, and nothing lost."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.egress.egress_filter import CUT, TOO_LONG
from loopforge.core.model_trouble import Cause
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import AnswerOutcome, as_policy
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, TurnEnded
from loopforge.errors import BadLine, InputError, LedgerFull, Unknown
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Withdrawn
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_talking import speaker


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x" * 8001, "8,001 characters"),
        ("", "nothing"),
        ("  \n\t ", "nothing"),
        ("\x00", "nothing"),
    ],
    ids=["too long", "empty", "blank", "only control signs"],
)
async def test_a_line_that_cannot_be_said(home: Home, text: str, says: str) -> None:
    """An oversize or empty line is refused with the reason, and the room is as it was."""
    await home.enter("ana")
    before = await home.events()
    with pytest.raises(BadLine, match=says):
        await home.says("ana", text)
    assert await home.events() == before


async def test_a_name_is_one_line_that_can_be_seen(home: Home) -> None:
    """One that is too long, or nothing, is refused as a name; another is kept in one line."""
    for name, says in (("n" * 201, "A name may have 200 characters"), ("\u200b ", "in this name")):
        with pytest.raises(BadLine, match=says):
            await home.enter(name)
    await home.enter("ana\nben I\u200bam")
    scene = await home.app.front.rooms.scene(home.room)
    assert [name for _, name in scene.people] == ["ana ben I am"]


async def test_control_signs_and_broken_characters_are_taken_out(home: Home) -> None:
    """What is no text is taken out of a line; the rest is heard, byte for byte storable."""
    event = await home.says("ana", "@maya \x1b[31mred\x00\x07 \ud800 line\r\nnext")
    assert isinstance(event.body, Heard)
    assert str(event.body.text) == "@maya [31mred ? line\nnext"
    await home.rest()
    assert await home.said() == ["maya"]


async def test_unknown_things_are_named(home: Home) -> None:
    """Unknown ids, rooms, mates, policies, commands: each error names what is known."""
    await home.hears("ana", "@maya hello")
    for work, says in (
        (home.does("ana", "keep", "nonsense"), "nonsense"),
        (home.does("ana", "policy", "zen"), "Known: chain, stub, talk"),
        (home.does("ana", "triggers", "nobody mention"), "Here: maya"),
        (home.does("ana", "dance"), "Known: stop"),
        (home.does("ana", "energy", "lots"), "/energy 6"),
        (home.app.front.rooms.scene("nowhere"), "nowhere"),
        (home.app.front.rooms.enter("Bad Room", "ana", "terminal"), "small letters"),
        (home.app.front.rooms.enter("new", "ana", "terminal", ("nobody",)), "Known here: maya"),
        (
            home.app.front.rooms.hear("commons", Heard(person="p0", text=Words("hi"), surface="t")),
            "enter it first",
        ),
    ):
        with pytest.raises(InputError, match=says):
            await work
    answered = await home.says("ana", "@maya this replies to nothing", reply_to="nonsense")
    assert isinstance(answered.body, Heard)
    assert answered.body.reply_to == ""


@pytest.mark.sqlite
async def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """On a full disk a line is refused with what to do; a turn under way is taken up again."""
    slow = ScriptedAnswer(text="There you are. " * 40, wait=5)
    async with living(tmp_path, lambda question: slow) as home:
        await home.says("ana", "@maya hello")
        await home.clock.advance(2)

        def limit(pages: int) -> None:
            with home.app.ledger._store.writer.connect() as connection:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        await asyncio.to_thread(limit, 1)
        with pytest.raises(LedgerFull, match=r"(?i)space|room"):
            await home.says("ana", "@maya are you there? " + "y" * 7900)
        await home.clock.advance(8)
        assert await home.said() == []
        await asyncio.to_thread(limit, 1_000_000)
        await home.passes(60)
        assert await home.said() == ["maya"]
        heard = [e for e in await home.events() if isinstance(e.body, Heard)]
        assert len(heard) == 1


@pytest.mark.sqlite
async def test_a_home_ends_on_a_full_disk(tmp_path: Path) -> None:
    """A snapshot that cannot be saved at the end is no error: the room is folded from its lines."""
    async with living(tmp_path) as home:
        for number in range(60):
            await home.says("ana", f"line {number}")
        heard = len(await home.events())

        def limit() -> None:
            with home.app.ledger._store.writer.connect() as connection:
                connection.exec_driver_sql("PRAGMA max_page_count = 1")

        await asyncio.to_thread(limit)
        with suppress(LedgerFull):
            for _ in range(40):
                await home.says("ana", "y" * 7900)
        assert isinstance(await home.app.ledger.unwritable(), LedgerFull)
    async with living(tmp_path) as home:
        assert len(await home.events()) >= heard


async def test_why_of_nonsense(home: Home) -> None:
    """An id that is none is an error that names it."""
    with pytest.raises(Unknown, match="01nonsense"):
        await home.app.front.why("01nonsense")


async def test_a_long_answer_is_whole_and_one_that_is_cut_says_so(tmp_path: Path) -> None:
    """By default 13,000 characters come whole; what is cut ends with a sign, and /why tells."""
    long = "Here it is.\n\n```py\n" + "print('one more line of it')\n" * 450 + "```\n\nThat is all."
    async with living(tmp_path, lambda _: long) as home:
        await home.hears("ana", "@maya all of it?")
        assert (await home.lines())[-1] == f"maya: {long}"
        assert "Taken out" not in await home.does("ana", "why")
    async with living(tmp_path, lambda _: long + "!", seed=8, say_limit=2000) as home:
        await home.hears("ana", "@maya again?")
        (line,) = (await home.bodies(Said))[1:]
        assert len(str(line.text)) <= 2000
        assert str(line.text).endswith(CUT)
        assert f"Taken out before it was said: {TOO_LONG}." in await home.does("ana", "why")


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), asyncio.CancelledError()])
async def test_a_mind_that_leaves_takes_nobody_with_it(
    tmp_path: Path, error: BaseException
) -> None:
    """A mind that raises what ends a program fails its turn; people are told, and all goes on."""

    def imp(_seen: AgentPerception) -> AgentActionPlan:
        raise error

    write_mates(tmp_path, zuzu="---\nname: Zuzu\nrole: imp\npolicy: stub\n---\nYou are Zuzu.\n")
    async with living(tmp_path) as home:
        cast("dict[str, object]", home.app.policies)["stub"] = (as_policy(imp), "stub/9")
        await home.hears("ana", "@zuzu hello")
        assert "* Zuzu gave no answer (its policy failed). Say it again to try once more." in (
            await home.lines()
        )
        await home.hears("ana", "@maya are you there?")
        assert await home.said() == ["maya"]
        ended = await home.bodies(TurnEnded)
        assert [body.outcome for body in ended] == ["failed", "done"]


ASIDE = '"mode": "context", "rule": "", "narrative": "I weigh it."'


@pytest.mark.parametrize(
    ("raw", "outcome", "line"),
    [
        (f'{{{ASIDE}, "say": "The kettle is', "timed_out", "maya: The kettle is …"),
        ('{"say": "The kettle is on.", "mode": "con', "timed_out", "maya: The kettle is on."),
        ('{"say": "The kettle is', "failed", "maya: The kettle is …"),
        ('{"say": "The kettle is', "malformed", "maya: The kettle is …"),
        ("The kettle is on.", "malformed", "maya: The kettle is on."),
        ("The kettle", "timed_out", "maya: The kettle …"),
        (
            f"```json\n{{{ASIDE}, 'say': 'The kettle is on.'}}\n```",
            "malformed",
            "The kettle is on.",
        ),
        ('{"mode": "context", "narrative": "I weigh', "timed_out", "took too long"),
    ],
    ids=[
        *("late", "late account", "cut", "too long", "plain words", "late plain words", "fence"),
        "late, no words",
    ],
)
async def test_what_had_come_of_an_answer_is_said_and_nothing_else(
    tmp_path: Path, raw: str, outcome: AnswerOutcome, line: str
) -> None:
    """Whatever became of an answer, the room reads its words: no brace, no narrative."""
    answer = ScriptedAnswer(text=raw, outcome=outcome, pieces=9)
    async with living(tmp_path, lambda _: answer) as home:
        await home.hears("ana", "@maya well?")
        lines = await home.lines()
        assert line in lines[-1]
        assert not any(sign in said for said in lines for sign in ("{", "narrative", "weigh"))
        answered = next(e.body for e in await home.events() if isinstance(e.body, Answered))
        assert str(answered.text) == raw
        assert answered.outcome == (
            "answered" if outcome == "malformed" and not answered.cut else outcome
        )


async def test_what_an_answer_lacked_stands_in_why(tmp_path: Path) -> None:
    """Plain words from a model that knows no form are an answer, and the record tells of it."""
    plain = ScriptedAnswer(text="The kettle is on.", outcome="malformed")
    async with living(tmp_path, lambda _: plain) as home:
        await home.hears("ana", "@maya well?")
        assert (await home.lines())[-1] == "maya: The kettle is on."
        why = await home.does("ana", "why")
        assert "not as it was asked for: no form: plain words; missing: mode, rule" in why
        assert (await home.app.ledger.verify()).findings == ()


@pytest.mark.parametrize("outcome", ["refused", "timed_out", "malformed"])
async def test_the_scribe_of_a_room_never_says_a_line(
    tmp_path: Path, outcome: AnswerOutcome
) -> None:
    """A title that is refused or cut is no line of anybody."""

    def script(question: Question) -> ScriptedAnswer:
        if speaker(question) == "the room":
            return ScriptedAnswer(text="I cannot help with that request.", outcome=outcome)
        return ScriptedAnswer(text="Well.")

    async with living(tmp_path, script) as home:
        for text in ("slugs ate my beans", "again this night", "what helps against slugs?"):
            await home.hears("ana", f"@maya {text}")
        assert any(speaker(question) == "the room" for question in home.models.asked)
        assert set(await home.said()) == {"maya"}
        assert not any("cannot help" in line for line in await home.lines())


@pytest.mark.parametrize(
    ("outcome", "cause", "why"),
    [
        ("failed", "cut", "the model was cut off"),
        ("timed_out", "stalled", "the model stopped in the middle of its answer"),
        ("refused", "", "the model would not answer"),
        ("answered", "", "it decided to say nothing"),
    ],
)
async def test_what_is_taken_back_says_why(
    tmp_path: Path, outcome: AnswerOutcome, cause: Cause, why: str
) -> None:
    """A mate that was merely asked says it whole or not at all: people read what came between."""
    begun = '{"speak": true, "say": "Bridges fall where'
    broken = ScriptedAnswer(text=begun, outcome=outcome, cause=cause, pieces=3)
    silent = ScriptedAnswer(data={"speak": False, "say": ""})
    async with living(tmp_path, lambda _: silent if why[:2] == "it" else broken) as home:
        await home.enter("ana", "ben", mates=("maya",))
        ear = home.app.front.rooms.listen(home.room)
        await home.hears("ana", "what is the best tea for a cold")
        ear.close()
        gone = [what.why async for what in ear if isinstance(what, Withdrawn)]
        assert (await home.said(), gone) == ([], [why])


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        ("empty", "the model's answer was empty"),
        ("garbled", "the model's server sent what is no answer"),
        ("unreachable", "the owner of this home has to mend something"),
        ("", "no model answered"),
    ],
)
async def test_why_says_what_came_in_place_of_an_answer(
    tmp_path: Path, cause: Cause, why: str
) -> None:
    """A model that was reached and gave nothing of use is told of as that, as the room was."""
    broken = ScriptedAnswer(outcome="failed", cause=cause)
    async with living(tmp_path, lambda _: broken) as home:
        await home.hears("ana", "@maya hello")
        assert f"Maya gave no answer ({why})." in (await home.told())[0]
        (turn,) = [event.id for event in await home.events() if event.kind == "turn.perceived"]
        told = await home.does("ana", "why", turn)
        assert f"Question 1 went wrong: {why}." in told
        assert "reached" not in told
