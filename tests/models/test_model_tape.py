"""Tapes: what was recorded comes back, and nothing else ever does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.events import Attempt
from loopforge.core.text.erasable_text import Words
from loopforge.errors import ModelError
from loopforge.models.model_tape import Recording, Replaying, key_of
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import ModelReply, Pictured, Question, Route


def question(text: str, **more: Any) -> Question:
    """A question that ends so."""
    return Question(messages=(("system", "You are Maya."), ("user", text)), **more)


class Counting(ScriptedModels):
    """A scripted model that answers the same question differently each time."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        reply = await super().ask(question, lambda piece: None)
        text = f"answer {len(self.asked)}"
        hear(text)
        attempt = Attempt(model="m", outcome="answered", took=3, detail=Words("raw error"))
        return ModelReply(outcome=reply.outcome, text=text, model="m", attempts=(attempt,))


async def test_a_run_comes_back(tmp_path: Path) -> None:
    """The same questions in another order get the same answers, asked again the next ones."""
    tape = tmp_path / "run.jsonl"
    recording = Recording(Counting(), tape)
    for text in ("one", "two", "one"):
        await recording.ask(question(text), lambda _: None)
    replaying = Replaying(tape)
    heard: list[str] = []
    texts = [
        (await replaying.ask(question(text), heard.append)).text for text in ("two", "one", "one")
    ]
    assert texts == heard == ["answer 2", "answer 1", "answer 3"]
    assert len(tape.read_text().splitlines()) == 3


async def test_a_reply_comes_back_whole(tmp_path: Path) -> None:
    """Attempts, their private details, usage and parsed data survive the tape."""
    tape = tmp_path / "run.jsonl"
    schema = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
    answer = ScriptedAnswer(text="Hm.", pieces=3, fallback=True)
    recorded = await Recording(ScriptedModels(lambda _: answer), tape).ask(
        question("hi", schema=schema), lambda _: None
    )
    heard: list[str] = []
    replayed = await Replaying(tape).ask(question("hi", schema=schema), heard.append)
    assert replayed == recorded
    assert len(heard) == 3
    assert replayed.data == {"say": "Hm."}


async def test_a_miss_is_an_error(tmp_path: Path) -> None:
    """A question that is not on the tape, or once too often, is an error and never a live call."""
    tape = tmp_path / "run.jsonl"
    await Recording(ScriptedModels(), tape).ask(question("one"), lambda _: None)
    replaying = Replaying(tape)
    with pytest.raises(ModelError, match="does not hold this question"):
        await replaying.ask(question("two"), lambda _: None)
    await replaying.ask(question("one"), lambda _: None)
    with pytest.raises(ModelError, match="2 times"):
        await replaying.ask(question("one"), lambda _: None)


def test_a_broken_tape_names_its_line(tmp_path: Path) -> None:
    """A line that is no entry, and a tape that is not there, are errors that say so."""
    tape = tmp_path / "run.jsonl"
    tape.write_text('{"key": 3}\n')
    with pytest.raises(ModelError, match="line 1"):
        Replaying(tape)
    with pytest.raises(ModelError, match="cannot be read"):
        Replaying(tmp_path / "none.jsonl")


async def test_counts_and_facts(tmp_path: Path) -> None:
    """A recording counts as the model does; a tape estimates and says what it is."""
    tape = tmp_path / "run.jsonl"
    tape.touch()
    models = ScriptedModels(window=77)
    recording = Recording(models, tape)
    assert recording.facts(Route()) == models.facts(Route())
    assert await recording.count(Route(), ["x" * 35]) == [10]
    assert Replaying(tape).facts(Route()).name == "tape"
    assert await Replaying(tape).count(Route(), ["x" * 35]) == [10]


routes = st.builds(Route, tier=st.integers(1, 4), model=st.sampled_from(["", "a"]))
questions = st.builds(
    Question,
    messages=st.lists(st.tuples(st.sampled_from(["user", "system"]), st.text(max_size=3))).map(
        tuple
    ),
    max_tokens=st.integers(1, 3),
    route=routes,
    fits=st.sampled_from(["any", "small", "large"]),
)


@given(questions, questions)
def test_keys_tell_questions_apart(one: Question, other: Question) -> None:
    """Two questions have the same key exactly when they are equal."""
    assert (key_of(one) == key_of(other)) == (one == other)


def test_old_tapes_hold() -> None:
    """A question has the key it had before there were pictures and models that fit; with them, another."""
    plain = question("one")
    assert key_of(plain) == "ed01633fea481b49d1d9ae069b7f61fc"
    seen = question("one", pictures=(Pictured(message=1, hash="ab" * 32, media="image/png"),))
    assert key_of(seen) != key_of(plain)
    assert key_of(question("one", fits="small")) != key_of(plain)
