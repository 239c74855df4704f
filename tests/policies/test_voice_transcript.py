"""transcript: a mind that writes down voice notes."""

import pytest

from loopforge.core.perception import Line, Picture
from loopforge.core.policy import Answer, AnswerOutcome
from loopforge.core.room_vocabulary import StaySilent, Transcribe
from loopforge.core.text.erasable_text import Words
from loopforge.policies.listening.voice_transcript import transcript
from tests.playbook import PROMPTS, Playbook, heard, shown


def note(name: str) -> Line:
    """A voice note as a mind is given it."""
    sound = Picture(name=Words(name), hash=Words(name), media="audio/ogg", size=400)
    return Line(kind="file", who=Words(name), picture=sound)


def test_each_note_is_asked_about_by_itself() -> None:
    """What is heard in all of them is one act, in their order; the line's own words are not asked."""
    book = Playbook(transcript(PROMPTS), shown(heard("ana", "listen"), note("one"), note("two")))
    book = book.asks("transcript")
    assert "listen" not in book.prompt
    book = book.told(Answer("answered", " First this. ")).asks("transcript")
    plan = book.told(Answer("answered", "Then that.")).plans()
    assert plan.acts == (Transcribe(text="First this.\n\nThen that."),)


def test_one_note_of_two_that_fails_does_not_take_the_other_along() -> None:
    """What was heard in the other one is written down, and that there is one that was not."""
    book = Playbook(transcript(PROMPTS), shown(note("one"), note("two"))).asks("transcript")
    book = book.told(Answer("failed")).asks("transcript")
    told = "[a voice note that could not be written down]\n\nThat."
    assert book.told(Answer("answered", "That.")).plans().acts == (Transcribe(text=told),)


@pytest.mark.parametrize("outcome", ["refused", "timed_out", "malformed", "failed"])
def test_a_note_that_nobody_could_write_down(outcome: AnswerOutcome) -> None:
    """Whatever came in its place is not taken for what was said."""
    book = Playbook(transcript(PROMPTS), shown(note("one")))
    plan = book.asks("transcript").told(Answer(outcome, "Sorry, no.")).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]
    assert plan.meta == {"trouble": outcome}


def test_silence() -> None:
    """Where nothing is said in it, nothing is written down, and it is told so."""
    book = Playbook(transcript(PROMPTS), shown(note("one"))).asks("transcript")
    plan = book.told(Answer("answered", " \n")).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]
    assert plan.meta == {"trouble": "silence"}
