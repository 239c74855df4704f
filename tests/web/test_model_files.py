"""Larger models that run here, by buttons: fetched, cancelled, taken, used, removed; owner only."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from loopforge.models.embedded.embedded_model import weights_path
from loopforge.models_opening import open_models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.models.hub import BODY, hub
from tests.web.conftest import Guest, Town, town, words

FILES = "/admin/models/files"
SMALLEST = {"name": "qwen2.5-0.5b"}


@pytest.mark.patient
@pytest.mark.model
async def test_one_that_is_used_answers_at_once(tmp_path: Path) -> None:
    """It is loaded beside the one that answers; what it takes of memory is said before."""
    models = open_models(load_settings(tmp_path, environ={}), SystemClock(), SystemDice())
    try:
        async with town(tmp_path, models=models) as home:
            olu, name = await home.owner(), weights_path().stem
            await olu.post(f"{FILES}/add", {"path": str(weights_path())})
            assert "Memory about 0.4 GB" in words(await olu.get(FILES))
            used = await olu.post(f"{FILES}/use", {"name": name})
            assert f"{name} answers from now on" in words(used)
            assert f", as {name}" in words(await olu.get("/admin/models"))
            assert "is in use" in words(await olu.post(f"{FILES}/remove", {"name": name}))
            back = await olu.post(f"{FILES}/use", {"name": ""})
            assert "The small model answers from now on" in words(back)
    finally:
        await models.close()


async def send(guest: Guest, name: str, body: bytes | AsyncIterator[bytes]) -> httpx.Response:
    """Send a file as the page's script does."""
    headers = {"x-csrftoken": await guest.token(), "accept": "application/json"}
    at = f"{FILES}/upload"
    return await guest.http.post(at, params={"name": name}, content=body, headers=headers)


def left(home: Town) -> list[Path]:
    """What lies in the library."""
    return sorted((home.path / "data/models").glob("*"))


async def test_one_is_fetched_while_the_list_tells_of_it(tmp_path: Path) -> None:
    """What it needs before; how far it is; cancelled and fetched again; gone."""
    with hub(hold=threading.Event()) as place:
        environ = {"LOOPFORGE_EMBEDDED_FILES_FROM": place.url}
        async with town(tmp_path, environ=environ) as home:
            olu = await home.owner()
            page = words(await olu.get("/admin/models"))
            assert "Qwen2.5 0.5B Instruct can be fetched" in page
            assert "Licence Apache License 2.0" in page
            assert "is being fetched" in words(await olu.post(f"{FILES}/fetch", SMALLEST))
            await asyncio.to_thread(place.begun.wait, 60)
            listed = await olu.get(FILES)
            assert 'hx-trigger="every 2s"' in listed.text
            assert "of 3 MB" in words(listed)
            assert "is not fetched any more" in words(await olu.post(f"{FILES}/cancel", SMALLEST))
            assert place.hold is not None
            place.hold.set()
            await olu.post(f"{FILES}/fetch", SMALLEST)
            while "every 2s" in (await olu.get(FILES)).text:
                pass
            assert "on this machine" in words(await olu.get(FILES))
            refused = await olu.post(f"{FILES}/use", SMALLEST)
            assert "could not be loaded" in words(refused)
            assert "is gone" in words(await olu.post(f"{FILES}/remove", SMALLEST))


@pytest.mark.model
async def test_a_file_of_ones_own_is_taken_and_chosen(tmp_path: Path) -> None:
    """By its path; it is loaded once before it is chosen, and the choice taken back."""
    async with town(tmp_path) as home:
        olu = await home.owner()
        name = weights_path().stem
        taken = await olu.post(f"{FILES}/add", {"path": str(weights_path())})
        assert f"{name} is here." in words(taken)
        used = await olu.post(f"{FILES}/use", {"name": name})
        assert f"{name} answers from the next start" in words(used)
        assert load_settings(home.path, environ={}).embedded_file == name
        assert "is in use" in words(await olu.post(f"{FILES}/remove", {"name": name}))
        await olu.post(f"{FILES}/use", {"name": ""})
        assert load_settings(home.path, environ={}).embedded_file == ""
        assert "is gone" in words(await olu.post(f"{FILES}/remove", {"name": name}))


async def test_a_file_is_sent_by_a_browser(tmp_path: Path) -> None:
    """As the bytes that it is, to the disk as it comes; by its name it stands in the library."""
    async with town(tmp_path) as home:
        olu = await home.owner()
        sent = await send(olu, "mine.gguf", BODY)
        assert sent.status_code == 200
        assert "mine is here." in words(await olu.get(sent.json()["to"]))
        assert (home.path / "data/models/mine.gguf").read_bytes() == BODY
        again = await send(olu, "mine.gguf", BODY)
        assert "mine is here already" in again.json()["error"]


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("film.mp4", b"ftyp" + bytes(2_000_000), "begins with the letters GGUF"),
        ("short.gguf", BODY[:10], "ends after 10 bytes"),
        ("none.gguf", b"", "begins with the letters GGUF"),
        ("../up.gguf", BODY, "The file's name cannot be used"),
        (".gguf", BODY, "The file's name cannot be used"),
    ],
)
async def test_of_a_wrong_file_nothing_stays(
    tmp_path: Path, name: str, body: bytes, told: str
) -> None:
    """One sentence, and no trace."""
    async with town(tmp_path) as home:
        olu = await home.owner()
        sent = await send(olu, name, body)
        assert sent.status_code == 400
        assert told in sent.json()["error"]
        assert left(home) == []


async def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """A browser that goes away in the midst of it; and a program that was killed there."""
    async with town(tmp_path) as home:
        olu = await home.owner()

        async def half() -> AsyncIterator[bytes]:
            yield BODY[:1_000_000]
            while not left(home):
                await olu.get(FILES)
            raise ConnectionAbortedError

        with pytest.raises(ConnectionAbortedError):
            await send(olu, "half.gguf", half())
        while left(home):
            await olu.get(FILES)
    (tmp_path / "data/models/dead.gguf.copy.part").write_bytes(BODY)
    async with town(tmp_path) as home:
        assert left(home) == []


async def test_nobody_else_sends_one(tmp_path: Path) -> None:
    """For a guest there is no such page, and without the token of the page nothing is read."""
    async with town(tmp_path) as home:
        olu = await home.owner()
        gus = await home.guest("gus", by=olu)
        assert (await send(gus, "a.gguf", BODY)).status_code == 404
        bare = await olu.http.post(f"{FILES}/upload?name=a.gguf", content=BODY)
        assert bare.status_code == 403
        assert left(home) == []


@pytest.mark.parametrize(
    ("verb", "given", "told"),
    [
        ("add", {"path": "model.gguf"}, "Give the whole path"),
        ("add", {"path": __file__}, "begins with the letters GGUF"),
        ("use", {"name": "../../x"}, "No model's file"),
        ("fetch", {"name": "nothing"}, "There is no model 'nothing' to fetch"),
        ("burn", SMALLEST, "no such thing"),
    ],
)
async def test_what_cannot_be_done_is_told(
    tmp_path: Path, verb: str, given: dict[str, str], told: str
) -> None:
    """On the page, in one sentence."""
    async with town(tmp_path) as home:
        olu = await home.owner()
        refused = await olu.post(f"{FILES}/{verb}", given)
        assert refused.status_code == 400
        assert told in words(refused)
