"""Drafts are looked at a dozen times a second, whatever comes how fast."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest

from loopforge.core.policy import Ask, Message
from loopforge.policies.answer_form import AnswerForm
from loopforge.policies.small_prompt import trim_small_answer
from loopforge.runtime.draft_stream import APART, DraftStream
from loopforge.runtime.mind_containment import call_contained
from loopforge.runtime.ports import ANEW
from tests.playbook import heard, shown
from tests.runtime.conftest import Stage

SEEN = shown(heard("ana", "@maya hello"), model="full")
PART = Ask((Message("user", ("hi",)),), AnswerForm(SEEN).schema(), True, "say")


async def test_a_runaway_answer_is_looked_at_a_dozen_times_a_second(stage: Stage) -> None:
    """Of two hundred pieces a second no more than twelve become drafts; the last one is whole."""
    looks: list[tuple[float, str]] = []
    drafts = DraftStream(
        PART, lambda text: looks.append((stage.clock.ticks(), text)), stage.clock, stage.tasks
    )
    drafts('{"say": "')
    for number in range(200):
        drafts(f"word{number} ")
        if number % 10 == 9:
            await stage.clock.advance(10 / 200)
    drafts.end()
    assert 6 <= len(looks) <= 1 / APART + 2
    texts = [text for _, text in looks]
    assert texts[-1].endswith("word199 ")
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))


async def test_a_pause_shows_what_came_before_it(stage: Stage) -> None:
    """The last piece before a pause is shown though nothing follows it."""
    looks: list[str] = []
    drafts = DraftStream(PART, looks.append, stage.clock, stage.tasks)
    for piece in ('{"say": "One', " two", " three"):
        drafts(piece)
    assert looks == ["One"]
    await stage.clock.advance(1)
    assert looks == ["One", "One two three"]


async def test_an_answer_that_begins_anew_is_read_anew(stage: Stage) -> None:
    """What came before ANEW is no part of the words, nor of the record."""
    looks: list[str] = []
    drafts = DraftStream(PART, looks.append, stage.clock, stage.tasks)
    for piece in ('{"narrative": "I gr', ANEW, '{"say": "Hi', " ana"):
        drafts(piece)
    drafts.end()
    assert looks == ["Hi", "Hi ana"]
    assert "".join(drafts.raw) == '{"say": "Hi ana'


async def test_a_draft_shows_what_will_be_said(stage: Stage) -> None:
    """Of a small model that goes round in circles a draft has each sentence once, as the line will."""
    looks: list[str] = []
    part = Ask(PART.messages, aloud=True, shown=partial(trim_small_answer, seen=SEEN))
    drafts = DraftStream(part, looks.append, stage.clock, stage.tasks)
    for piece in ("Maya: Good", " morning.", " I bake.", " I bake.", " I bake. I bake."):
        drafts(piece)
        await stage.clock.advance(1)
    drafts.end()
    assert looks == ["Good", "Good morning.", "Good morning. I bake."]


def _raises(error: BaseException) -> Callable[[str], str]:
    def shows(_words: str) -> str:
        raise error

    return shows


def _spins(_words: str) -> str:
    while True:
        pass


@pytest.mark.parametrize(
    "shows", [_raises(ValueError("no")), _raises(SystemExit(3)), _raises(GeneratorExit()), _spins]
)
async def test_a_mind_that_fails_at_its_draft(
    stage: Stage, shows: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is shown, the answer comes, and it is not tried again: one could end the host."""
    monkeypatch.setattr(call_contained, "__defaults__", (0.2,))
    tried: list[str] = []

    def counted(words: str) -> str:
        tried.append(words)
        return shows(words)

    looks: list[str] = []
    part = Ask(PART.messages, aloud=True, shown=counted)
    drafts = DraftStream(part, looks.append, stage.clock, stage.tasks)
    drafts("Good")
    await stage.clock.advance(1)
    drafts(" morning.")
    drafts.end()
    assert looks == []
    assert tried == ["Good"]
    assert "".join(drafts.raw) == "Good morning."


async def test_after_a_stop_nothing_more_is_shown(stage: Stage) -> None:
    """A look that was still to come does not."""
    looks: list[str] = []
    drafts = DraftStream(PART, looks.append, stage.clock, stage.tasks)
    drafts('{"say": "One')
    drafts(" two")
    drafts.stop()
    await stage.clock.advance(1)
    assert looks == ["One"]
