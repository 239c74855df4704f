"""Another file's model answers while the home runs: nothing that was asked is lost on the way."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.app import App, open_app
from loopforge.home import make_home
from loopforge.models.embedded.embedded_model import weights_path
from loopforge.models.embedded_switch import EmbeddedSwitch
from loopforge.models.files.model_library import free_memory
from loopforge.models.model_router import TieredModels
from loopforge.runtime.ports import ModelReply, Question, Route
from loopforge.settings import load_settings

pytestmark = pytest.mark.model


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[tuple[App, TieredModels, EmbeddedSwitch]]:
    """A home without a key, with two files in its library: one is a model, the other is not."""
    make_home(path)
    (path / "data/models").mkdir(parents=True)
    shutil.copyfile(weights_path(), path / "data/models/mine.gguf")
    (path / "data/models/broken.gguf").write_bytes(weights_path().read_bytes()[:50_000])
    async with open_app(load_settings(path, environ={}), follow=0) as app:
        assert isinstance(app.models, TieredModels)
        assert app.switch is not None
        yield app, app.models, app.switch


async def answer(models: TieredModels, most: int = 8) -> ModelReply:
    """What it says to a question."""
    question = Question(messages=(("user", "Tell me of the sea."),), max_tokens=most)
    return await models.ask(question, lambda _: None)


@pytest.mark.patient
async def test_it_answers_from_the_next_question_on(tmp_path: Path) -> None:
    """What the one before is asked it answers; then it is gone, and everything names the new one."""
    async with running(tmp_path) as (app, models, switch):
        assert (await answer(models)).outcome == "answered"
        before = models.embedded
        asked = asyncio.gather(*(answer(models, 24) for _ in range(3)))
        await app.live.change("embedded_file", "mine", "test")
        assert app.live.now.embedded_file == ""
        assert await switch.settled() == ""
        assert app.live.now.embedded_file == "mine"
        assert models.embedded.path == tmp_path / "data/models/mine.gguf"
        assert [reply.outcome for reply in await asked] == ["answered"] * 3
        assert (await answer(models)).text
        assert models.tiers.choose(Route())[0].id == "mine"
        assert len(await models.count(Route(), ["a word"])) == 1
        async with before.shared.hold_all():
            assert not before.begun
        await app.live.change("embedded_file", None, "test")
        assert await switch.settled() == ""
        assert (await answer(models)).outcome == "answered"
        assert models.embedded.path is None


async def test_what_cannot_be_loaded_changes_nothing(tmp_path: Path) -> None:
    """The one before goes on answering, and it is said why; so it is where memory lacks for two."""
    async with running(tmp_path) as (app, models, switch):
        await answer(models)
        await app.live.change("embedded_file", "broken", "test")
        assert "could not be loaded" in await switch.settled()
        assert (app.live.now.embedded_file, switch.later) == ("", False)
        assert (await answer(models)).outcome == "answered"
        await app.live.change("embedded_file", None, "test")
        assert await switch.settled() == ""
        vast = tmp_path / "data/models/vast.gguf"
        with vast.open("wb") as file:
            file.write(weights_path().read_bytes()[:50_000])
            file.truncate(2**42)
        await app.live.change("embedded_file", "vast", "test")
        assert "GB of memory beside the model that answers now" in await switch.settled()
        assert switch.later
        assert (await answer(models)).outcome == "answered"


@pytest.mark.patient
async def test_the_last_one_wanted_wins(tmp_path: Path) -> None:
    """Who changes their mind while one is loaded has the other."""
    async with running(tmp_path) as (app, models, switch):
        await answer(models)
        await app.live.change("embedded_file", "mine", "test")
        await app.live.change("embedded_file", None, "test")
        assert await switch.settled() == ""
        assert models.embedded.path is None
        assert (await answer(models)).outcome == "answered"


def test_this_machine_tells_how_much_memory_is_free() -> None:
    """As far as it is told at all."""
    free = free_memory()
    assert free is None or free > 0
