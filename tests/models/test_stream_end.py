"""How streams end, over real HTTP, and whether that was the end of the answer."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question
from tests.models.server import Behaviour
from tests.models.test_model_attempt import ask, piece, question, talking
from tests.models.test_native_tools import CALLED, with_tools
from tests.sim_clock import SimClock


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n"])
async def test_a_server_that_gives_no_reason_to_finish(end: bytes) -> None:
    """Some never do: an answer behind which OpenAI's sign of the end stands is whole."""
    said = piece({"content": "Hi!"})
    tried = await ask("chat", Behaviour(raw=said + end))
    assert (tried.outcome, tried.text, tried.detail, tried.cut) == ("answered", "Hi!", "", False)
    assert (await ask("chat", Behaviour(raw=said))).cause == "cut"
    assert (await ask("chat", Behaviour(raw=end))).outcome == "failed"


@pytest.mark.parametrize(
    ("said", "asked", "end"),
    [
        (Behaviour(), question(), 5),
        (Behaviour(finish="length"), question(), 5),
        (Behaviour(pieces=(), calls=CALLED), with_tools(), 5),
    ],
    ids=("words", "cut short", "tools"),
)
async def test_a_server_that_keeps_an_answer_open_behind_its_end(
    said: Behaviour, asked: Question, end: int
) -> None:
    """It is what it is said to be, once the time for more words is up; nothing of it broke off."""
    clock, tasks = SimClock(datetime(2026, 11, 1, tzinfo=UTC)), BackgroundTasks()
    plain = await ask("chat", said, asked)
    open_behind = replace(said, stall=end)
    async with talking("chat", open_behind, clock=clock, first_token_seconds=60.0) as (server, it):
        await it.ready()
        asking = tasks.spawn(it.attempt(asked, lambda _: None), "asking")
        while not server.waiting:
            await asyncio.sleep(0)
        await clock.advance(120)
        tried = await asking
        await server.left.wait()
    for field in ("outcome", "text", "data", "detail", "cut"):
        assert getattr(tried, field) == getattr(plain, field), field
