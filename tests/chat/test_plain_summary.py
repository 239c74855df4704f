"""The story of a record: plain sentences, each for a thing that is recorded."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

import loopforge.policies
from loopforge.chat.speaking.room_rules import SCREEN
from loopforge.chat.why.flight_record import (
    AskedStep,
    CallingLine,
    LineRecord,
    PlannedAct,
    RecordedCall,
    RecordedDelivery,
    RecordedPlan,
    ShownEdit,
    ShownPrompt,
    SpeakerCandidate,
    SpokenPart,
    TriggerReason,
    TurnRecord,
)
from loopforge.chat.why.plain_summary import CALLS, PURPOSES, clock, span, why_story
from loopforge.core.policy import ResultOutcome

AT = datetime(2026, 11, 21, 14, 3, tzinfo=UTC)


def candidate(mate: str, score: int, verdict: str, **reasons: int) -> SpeakerCandidate:
    """A mate that was weighed."""
    told = tuple(
        TriggerReason(name=name, points=points, meaning="") for name, points in reasons.items()
    )
    return SpeakerCandidate(
        mate=mate,
        name=mate.capitalize(),
        score=score,
        verdict=verdict,
        summons="conversation",
        reasons=told,
    )


def record(**more: object) -> TurnRecord:
    """A turn of Maya's, called by Ana."""
    fields: dict[str, object] = {
        "turn": "t",
        "room": "commons",
        "seq": 9,
        "at": AT,
        "mate": "maya",
        "name": "Maya",
        "mind": "0" * 16,
        "policy": "talk/1",
        "summons": "mention",
        "step": 0,
        "shown": ShownPrompt(lines=(SpokenPart(kind="heard", text="hi", id="a"),), rest="{}"),
        "caller": CallingLine(id="a", who="Ana", text="hi", seq=8, at=AT),
        "outcome": "done",
    }
    return TurnRecord(**(fields | more))  # type: ignore[arg-type]


def told(**more: object) -> str:
    """The whole story."""
    return "\n".join(why_story(record(**more), clock(UTC)))


def test_a_mention_is_reason_enough() -> None:
    """Who was called with an @ has 100 of 100, and the story says so first."""
    text = told(candidates=(candidate("maya", 100, "speak", mention=100),))
    assert text.startswith(
        "Ana’s line at 14:03 called Maya with an @. That alone is reason enough: 100 of 100."
    )


def test_without_a_call_the_points_are_told() -> None:
    """Nobody called: score, reasons, what that was enough for, and who was passed over."""
    weights = (candidate("maya", 45, "ask", line=20, interest=25), candidate("otto", 5, "pass"))
    text = told(summons="conversation", candidates=weights)
    assert "Nobody called Maya." in text
    assert "45 of 100 points of cause (line +20, interest +25)" in text
    assert "enough to be asked whether it has anything to say" in text
    assert "Otto was weighed and passed over." in text


def test_a_turn_of_work_has_words_of_its_own() -> None:
    """In a task nobody calls, and a turn that uses tools does not fall silent."""
    text = told(summons="task", caller=None)
    assert text.startswith("Maya was at work on a task, and took its next turn.")
    assert "said nothing" not in text


def test_each_end_of_a_use_of_a_tool_has_words() -> None:
    """Whoever reads why finds a sentence, and not how the record calls it."""
    assert {*CALLS} == {"", *get_args(ResultOutcome)}
    ends = [RecordedCall(nth=1, tool="shell", arguments="{}", outcome=one) for one in CALLS]
    text = told(requests=tuple(ends))
    assert "It wanted the tool shell, which was not used." in text
    assert "It used the tool shell, and nobody knows whether that happened." in text
    assert "which refused" not in text


def test_a_greeting_is_told_as_the_first_word() -> None:
    """Where nobody had spoken, the story says that, and not how few lines were shown."""
    text = told(summons="greeting", caller=None, shown=ShownPrompt(lines=(), rest="{}"))
    assert text.startswith(
        "Somebody came in where nobody had spoken yet, and Maya greets those who do."
    )
    assert "Nothing had been said in this conversation yet." in text
    assert "0 lines" not in text


def test_what_was_let_go_is_told() -> None:
    """Lines that left the window are named with their number and the reason."""
    edit = ShownEdit(
        kind="withheld", what="older lines", by="room", why="they no longer fit", count=3
    )
    shown = ShownPrompt(
        lines=(SpokenPart(kind="heard", text="hi", id="a"),), rest="{}", edits=(edit,)
    )
    text = told(shown=shown)
    assert "Maya was shown 1 line." in text
    assert "Not shown: 3 × older lines, because they no longer fit." in text


def test_refusals_and_oddities_are_told() -> None:
    """What the guard refused is told with its sentence; so is what is odd about the plan."""
    act = PlannedAct(act="use_tool", allowed=False, rule="grant", why="Its file does not grant it.")
    intent = RecordedPlan(
        intent="talk",
        mode="guardrail",
        rule="be honest",
        narrative="I try.",
        plan="{}",
        acts=(act,),
        notes=("It does nothing at all.",),
    )
    text = told(intent=intent)
    assert "It followed the rule “be honest”. In its own words: “I try.”" in text
    assert "The guard refused its wish to use tool. Its file does not grant it." in text
    assert "Odd: it does nothing at all." in text


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ("timed_out", "Question 1 went wrong: the model took too long."),
        ("cancelled", "Question 1 went wrong: a person said stop."),
        ("", "To question 1 no answer is recorded."),
    ],
)
def test_trouble_with_models_is_told(outcome: str, sentence: str) -> None:
    """An answer that did not come is no secret."""
    asked = AskedStep(nth=1, purpose="talk", prompt=(), outcome=outcome)
    assert sentence in told(requests=(asked,))


def test_a_hidden_caller_stays_hidden() -> None:
    """A caller that the reader may not see is neither named nor dated."""
    caller = CallingLine(id="", who="somebody", text="[said before you came]", hidden=True)
    text = told(caller=caller)
    assert "A line that you may not see called Maya" in text
    assert "Ana" not in text


def test_a_persons_line_has_a_story() -> None:
    """Who had cause, what they did, and who stayed out of it."""
    line = LineRecord(
        id="a",
        room="commons",
        seq=8,
        at=AT,
        who="Ana",
        text="hi",
        state="weighed",
        candidates=(candidate("maya", 45, "ask"), candidate("otto", 5, "pass")),
    )
    text = "\n".join(why_story(line, clock(UTC)))
    assert "Ana said this at 14:03. It was weighed for 2 mates." in text
    assert "Maya had 45 of 100 points of cause and was asked" in text
    assert "Too little cause to speak: Otto (5)." in text


def test_spans_read_well() -> None:
    """Milliseconds, seconds, minutes."""
    assert (span(40), span(1250), span(125_000)) == ("40 ms", "1.2 seconds", "2 minutes 5 seconds")


def test_a_place_is_called_by_its_name() -> None:
    """What went to a place of a platform arrived there, not at a number."""
    line = RecordedDelivery(
        surface="discord:157", what="line", of="l", state="accepted", stages=(), place="plaza"
    )
    assert "Its line arrived: plaza." in told(deliveries=(line,))
    home = replace(line, surface=SCREEN, place="")
    assert "Its line arrived: a page or terminal of this home." in told(deliveries=(home,))


def test_what_any_mind_asks_for_is_told_in_words() -> None:
    """Of rooms and of tasks; what robots ask is told on the Factory's pages."""
    folder = Path(loopforge.policies.__file__).parent
    asked = {
        purpose
        for file in folder.rglob("*.py")
        if not file.name.startswith("robot_")
        for purpose in re.findall(r'purpose="(\w+)"', file.read_text("utf-8"))
    }
    assert len(asked) > 10
    assert asked <= PURPOSES.keys()
