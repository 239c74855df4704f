"""Tapes: what was recorded comes back, and nothing else ever does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Attempt
from loopforge.errors import BadRun, ModelLost
from loopforge.models.model_tape import Tape, key_of
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import ModelReply, Question, QuestionPicture, Route


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
    path = tmp_path / "run.jsonl"
    recording = Tape(path, Counting())
    for text in ("one", "two", "one"):
        await recording.ask(question(text), lambda _: None)
    replaying = Tape(path)
    heard: list[str] = []
    texts = [
        (await replaying.ask(question(text), heard.append)).text for text in ("two", "one", "one")
    ]
    assert texts == heard == ["answer 2", "answer 1", "answer 3"]
    assert len(path.read_text().splitlines()) == 3


async def test_a_reply_comes_back_whole(tmp_path: Path) -> None:
    """Attempts, their private details, usage and parsed data survive the tape; so do old pieces."""
    path = tmp_path / "run.jsonl"
    schema = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
    answer = ScriptedAnswer(text="Hm.", pieces=3, fallback=True)
    asked = question("hi", schema=schema)
    recorded = await Tape(path, ScriptedModels(lambda _: answer)).ask(asked, lambda _: None)
    heard: list[str] = []
    replayed = await Tape(path).ask(asked, heard.append)
    assert replayed == recorded
    assert replayed.data == {"say": "Hm."}
    assert heard == [replayed.text]
    path.write_text(path.read_text().replace('"pieces":[]', '"pieces":["H","m."]'))
    await Tape(path).ask(asked, heard.append)
    assert heard[1:] == ["H", "m."]


async def test_a_miss_is_told_and_never_a_live_call(tmp_path: Path) -> None:
    """A question that is not on the tape, or once too often, fails, and `trouble` says so."""
    path = tmp_path / "run.jsonl"
    await Tape(path, ScriptedModels()).ask(question("one"), lambda _: None)
    for text in ("two", "one"):
        tape = Tape(path)
        await tape.ask(question("one"), lambda _: None)
        assert tape.trouble == ""
        assert (await tape.ask(question(text), lambda _: None)).outcome == "failed"
        assert "does not hold a question" in tape.trouble


async def test_what_stops_a_sweep_is_not_taped(tmp_path: Path) -> None:
    """A model that has to be mended leaves nothing on the tape: it is asked again afterwards."""

    def dead(_: Question) -> str:
        raise ModelLost("Its key is refused.")

    path = tmp_path / "run.jsonl"
    with pytest.raises(ModelLost):
        await Tape(path, ScriptedModels(dead)).ask(question("one"), lambda _: None)
    assert (await Tape(path, ScriptedModels()).ask(question("one"), lambda _: None)).text


def test_a_broken_tape_names_its_line(tmp_path: Path) -> None:
    """A line that is no entry, and a tape that is not there, are errors that say so."""
    path = tmp_path / "run.jsonl"
    path.write_text('{"key": 3}\n')
    with pytest.raises(BadRun, match="line 1"):
        Tape(path)
    with pytest.raises(BadRun, match="not there"):
        Tape(tmp_path / "none.jsonl")


async def test_counts_and_facts(tmp_path: Path) -> None:
    """What is known of a model belongs to its tape; counts are estimated, then and now."""
    path = tmp_path / "run.jsonl"
    models = ScriptedModels(window=77)
    recording = Tape(path, models)
    assert recording.facts(Route()) == Tape(path).facts(Route()) == models.facts(Route())
    assert Tape(path).facts(Route(model="a")).name == "tape"
    assert await recording.count(Route(), ["x" * 35]) == [10]


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
    seen = question(
        "one", pictures=(QuestionPicture(message=1, hash="ab" * 32, media="image/png"),)
    )
    assert key_of(seen) != key_of(plain)
    assert key_of(question("one", fits="small")) != key_of(plain)
