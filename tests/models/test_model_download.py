"""Fetching a model's file from a place that breaks off, lies, leads elsewhere or refuses."""

import asyncio
import hashlib
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from loopforge.errors import InputError, ModelError, Unknown
from loopforge.models.files import model_download
from loopforge.models.files.gguf_file import check_gguf
from loopforge.models.files.model_download import (
    DownloadProgress,
    RemoteFile,
    download_model_file,
    look_up,
)
from loopforge.models.files.model_library import ModelLibrary, known_files, machine_memory
from tests.models.hub import BODY, PATH, Hub, hub


async def fetched(place: Hub, folder: Path) -> Path:
    """Look it up and fetch it."""
    file = await look_up(f"{place.url}{PATH}")
    await download_model_file(file, folder / "m.gguf", DownloadProgress())
    return folder / "m.gguf"


def parts(folder: Path) -> list[Path]:
    """What is there of fetches that did not end."""
    return sorted(folder.glob("*.part"))


async def test_a_file_comes_whole(tmp_path: Path) -> None:
    """Size and hash are asked for, it comes, and nothing lies beside it."""
    with hub() as place:
        path = await fetched(place, tmp_path)
    assert path.read_bytes() == BODY
    assert parts(tmp_path) == []


async def test_bytes_may_come_from_another_host(tmp_path: Path) -> None:
    """The first place tells the hash and leads on; where it leads is only believed by the hash."""
    with hub(linked=False) as other, hub(elsewhere=other.url) as place:
        assert (await fetched(place, tmp_path)).read_bytes() == BODY
    assert other.asked == ["GET"]


async def test_what_breaks_off_goes_on(tmp_path: Path) -> None:
    """Twice the connection ends; each time it is asked for the rest."""
    with hub(breaks=[100_000, 200_000]) as place:
        assert (await fetched(place, tmp_path)).read_bytes() == BODY
    assert place.asked == ["HEAD", "GET", "GET bytes=100000-", "GET bytes=300000-"]


async def test_a_place_that_ignores_ranges_begins_anew(tmp_path: Path) -> None:
    """What came before is thrown away, not doubled."""
    with hub(breaks=[100_000], ranges=False) as place:
        assert (await fetched(place, tmp_path)).read_bytes() == BODY


async def test_what_came_before_a_crash_is_used(tmp_path: Path) -> None:
    """A later program asks for the rest only."""
    with hub() as place:
        file = await look_up(f"{place.url}{PATH}")
        (tmp_path / f"m.gguf.{file.sha256[:16]}.part").write_bytes(BODY[:5000])
        assert (await fetched(place, tmp_path)).read_bytes() == BODY
    assert place.asked[-1] == "GET bytes=5000-"


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"body": bytes(len(BODY))}, "is not the file that was promised"),
        ({"size": 1000}, "sent more than the 1,000 bytes"),
        ({"size": len(BODY) + 9}, "did not go on after"),
        ({"linked": False}, "does not tell the SHA-256"),
        ({"status": [(404, "")]}, "has no file at"),
        ({"status": [(403, "")]}, "`loopforge model add FILE`"),
        ({"status": [(429, "3600")]}, "asked again in 60 minutes"),
        ({"status": [(500, "")]}, "answered 500"),
        ({"breaks": [0] * 9}, "did not go on after 0 of"),
    ],
)
async def test_what_is_wrong_is_never_used(tmp_path: Path, how: dict[str, Any], told: str) -> None:
    """One sentence; no file of that name."""
    with hub(**how) as place, pytest.raises(ModelError, match=told):
        await fetched(place, tmp_path)
    assert not (tmp_path / "m.gguf").exists()


async def test_who_is_told_to_come_again_does(tmp_path: Path) -> None:
    """Too many requests, then busy, then the file."""
    with hub(status=[(429, "0"), (503, "0")]) as place:
        assert (await fetched(place, tmp_path)).read_bytes() == BODY


async def test_a_disk_that_is_too_small_is_told_first(tmp_path: Path) -> None:
    """Nothing is asked for."""
    with hub() as place:
        file = RemoteFile(url=place.url + PATH, size=shutil.disk_usage(tmp_path).total, sha256="a")
        with pytest.raises(ModelError, match="Make room"):
            await download_model_file(file, tmp_path / "m.gguf", DownloadProgress())
    assert place.asked == []


async def test_nobody_there(tmp_path: Path) -> None:
    """A place that does not answer is told by its address."""
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9 cannot be reached"):
        await look_up(f"http://127.0.0.1:9{PATH}")


async def test_what_is_promised_and_is_no_model_does_not_stay(tmp_path: Path) -> None:
    """A place may keep its word and still have something else: nothing of that is left."""
    page = b"<html>" + bytes(1000)
    promised = hashlib.sha256(page).hexdigest()
    with hub(body=page, size=len(page), promised=promised) as place:
        made = library(tmp_path, place)
        with pytest.raises(ModelError, match=r"qwen2\.5-0\.5b\.gguf is no model"):
            await made.fetch("qwen2.5-0.5b")
    assert list((tmp_path / "models").iterdir()) == []


async def test_nobody_is_followed_out_of_encryption() -> None:
    """What begins with https goes on with https; nothing is asked for without."""
    with hub() as other:
        async with model_download._client("https://hub.example") as http:
            with pytest.raises(ModelError, match="without encryption"):
                await http.get(other.url)
    assert other.asked == []


def library(folder: Path, place: Hub) -> ModelLibrary:
    """A library whose smallest model is at this place."""
    return ModelLibrary(folder, place.url, memory=4_000_000_000)


async def test_two_fetches_at_once_are_one_and_it_can_be_cancelled(tmp_path: Path) -> None:
    """The second waits for the first; another program is refused; cancelled, what came stays."""
    with hub(hold=threading.Event()) as place:
        made = library(tmp_path, place)
        task = made.start("qwen2.5-0.5b")
        assert made.start("qwen2.5-0.5b") is task
        await asyncio.to_thread(place.begun.wait, 60)
        assert place.asked == ["HEAD", "GET"]
        with pytest.raises(ModelError, match="by another at this moment"):
            await library(tmp_path, place).fetch("qwen2.5-0.5b")
        row = next(row for row in made.rows() if row.name == "qwen2.5-0.5b")
        assert (row.going, row.size) == (True, len(BODY))
        await made.cancel("qwen2.5-0.5b")
        assert task.cancelled()
        assert place.hold is not None
        place.hold.set()
        assert len(parts(tmp_path / "models")) == 1
        await made.fetch("qwen2.5-0.5b")
    assert made.path("qwen2.5-0.5b").read_bytes() == BODY
    made.remove("qwen2.5-0.5b")
    assert list((tmp_path / "models").iterdir()) == []


async def test_what_fits_and_what_does_not(tmp_path: Path) -> None:
    """By the memory of the machine; names that nobody knows are refused, and those that climb."""
    with hub() as place:
        made = library(tmp_path, place)
    fits = {row.name for row in made.rows() if row.fits}
    assert fits == {"qwen2.5-0.5b", "smollm2-1.7b", "qwen2.5-1.5b"}
    assert machine_memory() > 100_000_000
    made.folder.mkdir(parents=True)
    (part := made.folder / "qwen2.5-0.5b.gguf.1.part").write_bytes(b"half")
    for name in ("nothing", "../loopforge", "*", "qwen2.5-0.[5]b"):
        with pytest.raises(Unknown):
            made.start(name)
        with pytest.raises(Unknown):
            made.remove(name)
    assert part.exists()


def test_the_catalogue_says_what_people_choose_by() -> None:
    """Every entry is a GGUF with a licence, and more memory than its file is large."""
    for known in known_files().values():
        assert known.at.endswith(".gguf")
        assert known.licence
        assert known.memory > known.size


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"<html>", "no model in llama.cpp's format"),
        (b"GGUF", "ends after 4 bytes"),
        (b"GGUF" + bytes([9, 0, 0, 0]) + BODY[8:24], "version 9"),
        (BODY[:8] + bytes(16), "names 0 tensors"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, head: bytes, told: str) -> None:
    """By its first bytes, in one sentence."""
    (tmp_path / "x.gguf").write_bytes(head)
    with pytest.raises(InputError, match=told):
        check_gguf(tmp_path / "x.gguf")
