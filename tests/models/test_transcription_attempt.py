"""One attempt at a voice note, against a server that is as strict as OpenAI's."""

import asyncio
import io
import wave
from typing import Any

import pytest

from loopforge.errors import Unknown
from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.model_spec import ModelSpec, Price, Secret
from loopforge.models.transcription.transcription_attempt import Transcriber
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question, QuestionPicture, Route
from loopforge.runtime.system_clock import SystemClock
from tests.models.hearing import KEY, LARGEST, MODEL, OGG, Hearing, Reply, heard, hearing


class Shelf:
    """Kept sounds, by hash."""

    def __init__(self, **kept: bytes) -> None:
        self.kept = kept

    async def get(self, hash: str) -> bytes:
        """The bytes. Raises Unknown."""
        if hash not in self.kept:
            raise Unknown("gone")
        return self.kept[hash]


async def tried(
    server: Hearing, data: bytes = OGG, media: str = "audio/ogg", key: str = KEY, **spec: Any
) -> tuple[AttemptOutcome, list[str]]:
    """What comes of a note, and what was heard while it came."""
    told = ModelSpec(
        name="ears",
        provider="openai",
        id=str(spec.pop("id", MODEL)),
        base_url=server.address,
        key=Secret(key),
        hears=True,
        **spec,
    )
    pieces: list[str] = []
    note = QuestionPicture(message=0, hash="note", media=media)
    question = Question(messages=(("user", ""),), route=Route(model="ears"), pictures=(note,))
    async with BackgroundTasks() as tasks:
        ears = Transcriber(told, SystemClock(), tasks, Shelf(note=data) if data else Shelf())
        try:
            return await ears.attempt(question, pieces.append), pieces
        finally:
            await ears.close()


async def test_a_note_is_written_down() -> None:
    """The sound goes out whole, by a name that tells its kind alone; its words come back."""
    async with hearing() as server:
        came, pieces = await tried(server)
        assert (came.outcome, came.text) == ("answered", "Maya, how warm is the oven?")
        assert pieces == [came.text]
        (form,) = server.asked
        assert (form["file"], form["filename"]) == (OGG, b"note.ogg")
        assert server.wrong == []


@pytest.mark.parametrize(
    ("usage", "spec", "cost"),
    [
        ({"type": "duration", "seconds": 90}, {"minute_price": 0.006}, "0.009"),
        (
            {"type": "tokens", "input_tokens": 1000, "output_tokens": 100},
            {"price": Price(read=2.5, written=10)},
            "0.0035",
        ),
        ({"type": "duration", "seconds": "many"}, {"minute_price": 0.006}, ""),
        ({}, {}, ""),
    ],
)
async def test_what_it_costs(usage: dict[str, Any], spec: dict[str, Any], cost: str) -> None:
    """Minutes or tokens are paid by the table's price; without one it is counted as unpriced."""
    async with hearing() as server:
        server.last = heard("Hello there.", **usage)
        came, _ = await tried(server, **spec)
        assert came.usage.cost == cost
        assert came.usage.written > 0, "so that it is counted, priced or not"


async def test_no_more_tokens_are_believed_than_a_record_holds() -> None:
    """A server that counts beyond all bounds is counted at a thousand million."""
    async with hearing() as server:
        server.last = heard("Hello.", input_tokens=9999999999999999999, output_tokens=10**30)
        came, _ = await tried(server)
        assert (came.usage.read, came.usage.written) == (10**9, 10**9)


@pytest.mark.parametrize(
    ("reply", "cause", "again", "wait"),
    [
        (Reply(429, {"error": "slow down"}, (("Retry-After", "7"),)), "busy", True, 7.0),
        (Reply(500, b"<html>oops"), "broken", True, None),
        (Reply(401, {}), "key", False, None),
        (Reply(200, b"<html>not JSON"), "garbled", False, None),
        (Reply(200, b'{"words": "hello"}'), "garbled", False, None),
        (Reply(200, b"[1, 2]"), "garbled", False, None),
        (Reply(200, b'{"text": "' + b"a" * 250_000 + b'"}'), "garbled", False, None),
    ],
)
async def test_a_server_that_fails(
    reply: Reply, cause: str, again: bool, wait: float | None
) -> None:
    """Whatever it answers is an outcome with its cause, and is tried again where that helps."""
    async with hearing() as server:
        server.replies = [reply]
        came, _ = await tried(server)
        assert (came.cause, came.again, came.wait, came.text) == (cause, again, wait, "")


async def test_what_the_server_does_not_take() -> None:
    """Another kind of file, one too large and a model that it has not are told apart."""
    async with hearing() as server:
        came, _ = await tried(server, b"no sound at all")
        assert (came.cause, came.ours) == ("unheard", True)
        came, _ = await tried(server, OGG + bytes(LARGEST))
        assert (came.cause, came.ours) == ("unheard", True)
        came, _ = await tried(server, id="parrot")
        assert (came.cause, came.lasting) == ("unknown", True)
        came, _ = await tried(server, key="sk-another")
        assert came.cause == "key"
        came, _ = await tried(server, b"")
        assert (came.outcome, came.ours) == ("failed", True), "the note is not kept any more"


async def test_it_is_tried_out_with_a_sound_of_silence() -> None:
    """Who asks it in words whether it is well has it hear half a second of nothing."""
    async with hearing() as server, BackgroundTasks() as tasks:
        server.last = heard("")
        spec = ModelSpec(
            name="ears",
            provider="openai",
            id=MODEL,
            base_url=server.address,
            key=Secret(KEY),
            hears=True,
        )
        ears = Transcriber(spec, SystemClock(), tasks)
        came = await ears.attempt(Question(messages=(("user", "Hello?"),)), lambda _: None)
        await ears.close()
        assert (came.outcome, server.wrong) == ("answered", [])
        with wave.open(io.BytesIO(server.asked[0]["file"])) as sound:
            assert sound.getnframes() / sound.getframerate() == 0.5


async def test_silence_is_an_answer() -> None:
    """A note in which nothing is said has no words, and nothing failed."""
    async with hearing() as server:
        server.last = heard("  ")
        assert (await tried(server))[0].outcome == "answered"


async def test_a_server_that_never_answers() -> None:
    """It is left when its time is up; and who stops waiting closes the connection at once."""
    async with hearing() as server:
        server.last = Reply(held=asyncio.Event())
        came, _ = await tried(server, total_seconds=0.05)
        assert (came.outcome, came.cause) == ("timed_out", "silent")
        server.begun.clear()
        async with BackgroundTasks() as tasks:
            asking = tasks.spawn(tried(server), "a note")
            await server.begun.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking


async def test_no_server() -> None:
    """Where nobody listens, it cannot be reached."""
    came, _ = await tried(Hearing(address="http://127.0.0.1:9/v1"))
    assert (came.outcome, came.cause, came.again) == ("failed", "unreachable", True)
