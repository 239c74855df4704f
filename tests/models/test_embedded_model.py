"""The embedded model, through the same client as any other server."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopforge.errors import ModelError
from loopforge.models.embedded.embedded_model import (
    EmbeddedModel,
    EmbeddedProvider,
    SharedTokens,
    threads,
    weights_path,
)
from loopforge.models.model_router import SOON, TieredModels
from loopforge.models.model_tiers import read_tiers
from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.schema_check import schema_violation
from loopforge.policies.prompt_building import form_of
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question, Route
from loopforge.runtime.system_clock import SystemClock
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock

pytestmark = pytest.mark.model

SCHEMA = form_of(
    {
        "mode": {"type": "string", "enum": ["context", "guardrail"]},
        "rule": {"type": "string", "maxLength": 20},
        "narrative": {"type": "string", "maxLength": 60},
        "speak": {"type": "boolean"},
    }
)


@asynccontextmanager
async def embedded_models(window: int = 4096) -> AsyncIterator[TieredModels]:
    """The models of a home without any key."""
    dice = SeededDice(7)
    embedded = EmbeddedModel(dice, window=window)
    models = TieredModels(read_tiers({}, {}, {}), SystemClock(), dice, embedded=embedded)
    try:
        yield models
    finally:
        await models.close()


def question(*lines: str, **more: Any) -> Question:
    """Lines said to Maya."""
    messages = (("system", "You are Maya, a gardener."), *(("user", line) for line in lines))
    return Question(messages=messages, **{"max_tokens": 24, **more})


ROLES = ("user", "assistant")


async def test_it_answers_like_any_server() -> None:
    """It streams an answer, counts tokens, costs nothing, and reads a known prompt only once."""
    async with embedded_models() as models:
        heard: list[str] = []
        first = await models.ask(question("ana: what grows in november?"), heard.append)
        again = await models.ask(question("ana: what grows in november?"), lambda _: None)
        facts = models.facts(Route(tier=4))
    assert first.outcome == "answered"
    assert first.text == "".join(heard)
    assert len(heard) > 1
    assert (first.model, first.fallback, first.usage.cost) == ("embedded", False, "0")
    assert again.usage.cached >= again.usage.read - 2
    assert (facts.embedded, facts.small, facts.tools) == (True, True, False)


async def test_what_is_to_be_copied_is_copied() -> None:
    """Where the answer shall follow what stands before it, nothing is held against repeating."""
    shown = ("Write nine.py, a Python script which prints 99", "print(99)")
    nearest = ("Write a Python script hello.py that prints 7, and run it", "print(7)")
    asked = Question(
        messages=(
            ("system", "You write what stands in one file, and nothing else."),
            *(
                (who, text)
                for pair in (shown, nearest)
                for who, text in zip(ROLES, pair, strict=True)
            ),
            ("user", "Write a Python script hello.py that prints 42, and run it"),
        ),
        max_tokens=20,
        exact=True,
    )
    async with embedded_models() as models:
        reply = await models.ask(asked, lambda _: None)
    assert reply.text == "print(42)"


@pytest.mark.patient
async def test_every_answer_under_a_schema_fits_it() -> None:
    """Its answers are held to the schema while they are written, bounds of length included."""
    async with embedded_models() as models:
        for nth in range(3):
            asked = question(f"ana: {nth} and what now?", schema=SCHEMA, max_tokens=200)
            reply = await models.ask(asked, lambda _: None)
            assert reply.outcome == "answered", reply.attempts
            assert reply.data == json.loads(reply.text)
            assert schema_violation(SCHEMA, reply.data) == ""


@pytest.mark.patient
async def test_mates_that_alternate_keep_their_prompts() -> None:
    """Three mates with prompts of their own, in turn: each finds its own prefix again."""
    async with embedded_models() as models:
        lines: list[str] = []
        missed = 0
        for turn in range(6):
            mate = ("Maya", "Merlin", "Ada")[turn % 3]
            lines.append(f"ana: line {turn} about {mate} and the long way to the garden")
            asked = Question(
                messages=(
                    ("system", f"You are {mate}. " + f"{mate} is unlike anybody else. " * 5),
                    *(("user", line) for line in lines),
                ),
                max_tokens=1,
            )
            reply = await models.ask(asked, lambda _: None)
            if turn >= 3:
                new = sum(await models.count(Route(), lines[-3:]))
                missed += reply.usage.read - reply.usage.cached - new
    assert missed < 3 * 24  # what joins messages in the prompt, and no more


async def test_it_counts_with_its_own_tokenizer() -> None:
    """Counts are exact, several texts in one request, special words being plain text."""
    async with embedded_models() as models:
        counts = await models.count(
            Route(), ["hello there", "", "a <|endoftext|> b", "hello there"]
        )
    assert counts[0] == counts[3] == 2
    assert counts[1] == 0
    assert counts[2] > 3


async def test_strangers_are_turned_away() -> None:
    """Its server wants the key that only this process has, for questions and for tokens."""
    embedded = EmbeddedModel(SeededDice(3))
    address = await embedded.address()
    async with httpx.AsyncClient(base_url=address.url, trust_env=False) as stranger:
        for path in ("/v1/chat/completions", "/tokenize", "/props", "/slots"):
            assert (await stranger.post(path, json={})).status_code == 401
    await embedded.close()
    assert address.url.startswith("http://127.0.0.1:")
    assert address.key.reveal() not in repr(address)


async def test_stopping_frees_it() -> None:
    """When an answer is cancelled, the model stops writing it and takes the next question."""
    tasks = BackgroundTasks()
    async with embedded_models() as models:
        heard = asyncio.Queue[str]()
        long = question("ana: tell a long story", max_tokens=3000)
        asking = tasks.spawn(models.ask(long, heard.put_nowait), "asking")
        await heard.get()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        reply = await models.ask(question("ana: hi"), lambda _: None)
    assert reply.outcome == "answered"


async def test_too_long_a_prompt_is_a_failure_with_its_reason() -> None:
    """A prompt that does not fit the window fails plainly, and the model stays well."""
    async with embedded_models() as models:
        long = await models.ask(question("word " * 7000), lambda _: None)
        short = await models.ask(question("ana: hi"), lambda _: None)
    assert long.outcome == "failed"
    assert "exceed" in str(long.attempts[0].detail)
    assert [attempt.outcome for attempt in long.attempts] == ["failed"]
    assert short.outcome == "answered"


@pytest.mark.patient
async def test_prompts_that_do_not_fit_together_wait_for_each_other() -> None:
    """Three prompts share room for two: each is answered, those asked at once and those before."""
    async with embedded_models(window=256) as models:
        long = [question(f"ana: {nth} " + "and what then? " * 40) for nth in range(3)]
        before = [await models.ask(each, lambda _: None) for each in long[:2]]
        at_once = await asyncio.gather(*(models.ask(each, lambda _: None) for each in long))
    assert [reply.outcome for reply in (*before, *at_once)] == ["answered"] * 5
    assert min(reply.usage.read for reply in at_once) > 160


async def test_who_waits_for_room_gets_it_in_turn() -> None:
    """A large one is not passed by small ones that came later."""
    shared, order = SharedTokens(10), []
    first = asyncio.Event()

    async def hold(name: str, tokens: int, until: asyncio.Event | None = None) -> None:
        await shared.acquire(tokens)
        order.append(name)
        if until:
            await until.wait()
        shared.release(tokens)

    async with asyncio.TaskGroup() as group:
        group.create_task(hold("first", 6, first))
        await asyncio.sleep(0)
        group.create_task(hold("larger than all", 99))
        group.create_task(hold("small", 1))
        for _ in range(9):
            await asyncio.sleep(0)
        assert order == ["first"]
        first.set()
    assert order == ["first", "larger than all", "small"]


async def test_room_is_waited_for_no_longer_than_for_a_first_word() -> None:
    """Where others hold all of it, the next model has its share of the time; nothing is held then."""
    clock, embedded = SimClock(datetime(2026, 11, 21, tzinfo=UTC)), EmbeddedModel(SeededDice(7))
    spec = read_tiers({}, {}, {}).choose(Route())[0]
    async with BackgroundTasks() as tasks:
        voice = EmbeddedProvider(spec, embedded, clock, tasks)
        async with embedded.shared.hold_all():
            waiting = tasks.spawn(voice.attempt(question("ana: hi"), lambda _: None, 30), "waits")
            await clock.advance(31)
            assert waiting.done()
        tried = await waiting
        assert (tried.outcome, tried.ours, tried.cause) == ("timed_out", True, "busy")
        async with embedded.shared.hold_all():
            assert not embedded.begun


async def test_preloading_and_closing_at_once() -> None:
    """Loading in advance asks nothing; closing while it loads waits and leaves nothing behind."""
    for waited in (0.0, 2 * SOON):
        clock = SimClock(datetime(2026, 11, 21, tzinfo=UTC))
        models = TieredModels(read_tiers({}, {}, {}), clock, SeededDice(7))
        models.preload()
        await clock.advance(waited)
        await models.close()


async def test_the_client_of_the_first_model_is_opened_in_advance() -> None:
    """A moment after the start the library of a provider is loaded, before anybody asks."""
    clock = SimClock(datetime(2026, 11, 21, tzinfo=UTC))
    models = TieredModels(read_tiers({}, {}, {"OPENAI_API_KEY": "sk-none"}), clock, SeededDice(7))
    models.preload()
    with models._pool.voice(models.tiers.choose(Route())[0]) as voice:
        assert isinstance(voice, Provider)
    await clock.advance(SOON)
    async with asyncio.timeout(120):
        while voice._wire is None:
            await asyncio.sleep(0.01)
    await models.close()


def test_what_is_not_installed_says_how() -> None:
    """Where the package with the weights is missing, the error says what to install."""
    assert weights_path().suffix == ".gguf"
    with pytest.raises(ModelError, match="Run `loopforge up --model`"):
        weights_path("no_such_package")


@pytest.mark.parametrize("name", ["broken.gguf", "no-text-\udcff.gguf"])
async def test_weights_that_cannot_be_loaded(tmp_path: Path, name: str) -> None:
    """A broken file, or a path that is none, fails the question with a sentence; counts are estimated."""
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + b"?" * 1000)
    embedded = EmbeddedModel(SeededDice(1), path=tmp_path / name)
    tiers = read_tiers({}, {}, {})
    models = TieredModels(tiers, SystemClock(), SeededDice(1), embedded=embedded)
    reply = await models.ask(question("ana: hi"), lambda _: None)
    counts = await models.count(Route(), ["x" * 35])
    await models.close()
    assert reply.outcome == "failed"
    assert "could not be loaded" in str(reply.attempts[0].detail)
    assert counts == [10]


@pytest.mark.patient
def test_it_writes_nothing_to_the_terminal() -> None:
    """Loading, answering, failing and ending leave stdout and stderr empty, at the level of fds."""
    code = """
import asyncio
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import read_tiers
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.runtime.ports import Question

async def main():
    models = TieredModels(read_tiers({}, {}, {}), SystemClock(), SystemDice())
    for text in ("hi", "word " * 6000):
        await models.ask(Question(messages=(("user", text),), max_tokens=3), lambda _: None)
    await models.close()

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_it_leaves_a_core_to_others() -> None:
    """It computes with at least one thread and at most four."""
    assert 1 <= threads() <= 4


LOADED = """
import asyncio, sys
from pathlib import Path
from loopforge.models.embedded.embedded_model import EmbeddedModel, weights_path
from loopforge.runtime.system_clock import SystemDice

async def load():
    model = EmbeddedModel(SystemDice(), path=weights_path() if sys.argv[1] else None)
    await model.address()
    print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
    await model.close()

asyncio.run(load())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system tells no sizes")
def test_the_small_one_keeps_what_it_has_read_in_half_the_memory() -> None:
    """The same weights as a file of one's own, which keeps 16 bits of each number, take more."""
    small, own = (
        int(subprocess.check_output([sys.executable, "-c", LOADED, way])) for way in ("", "own")
    )
    assert own - small > 40_000_000
