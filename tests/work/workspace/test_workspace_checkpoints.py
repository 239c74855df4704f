"""Checkpoints in a folder and in a bucket of a real server: the same contract."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.errors import ArtifactError, BadSettings, Unknown
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from loopforge.work.workspace.workspace_checkpoints import (
    CheckpointArchive,
    CheckpointEntry,
    WorkspaceCheckpoint,
)
from loopforge.work.workspace.workspace_settings import (
    archive_place,
    checked_bucket,
    workspaces_of,
)
from tests.moto_server import BucketServer, bucket_server


@pytest.fixture(scope="module")
def running() -> Iterator[BucketServer]:
    """A server for all tests of this file."""
    with bucket_server() as server:
        yield server


@pytest.fixture
def server(running: BucketServer, monkeypatch: pytest.MonkeyPatch) -> BucketServer:
    """The same, where a client looks for it."""
    for name, value in running.variables.items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture(params=["folder", "bucket"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointArchive:
    """An empty one, in each kind of place."""
    if request.param == "folder":
        return CheckpointArchive(tmp_path / "checkpoints")
    server = request.getfixturevalue("server")
    name = f"b{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:20]}"
    server.make(name)
    return CheckpointArchive(f"s3://{name}/work")


def made(number: int, files: dict[str, bytes]) -> WorkspaceCheckpoint:
    """A checkpoint of these files."""
    entries = (
        CheckpointEntry(
            path=path, kind="file", hash=hashlib.sha256(data).hexdigest(), size=len(data)
        )
        for path, data in files.items()
    )
    at = datetime(2026, 5, 4, tzinfo=UTC)
    return WorkspaceCheckpoint(number=number, at=at, note="", entries=(*entries,))


async def save(archive: CheckpointArchive, task: str, number: int, files: dict[str, bytes]) -> None:
    """Keep it."""
    await archive.save(task, made(number, files), files.__getitem__)


async def test_what_is_saved_is_loaded_and_each_file_is_kept_once(
    archive: CheckpointArchive,
) -> None:
    """Of two checkpoints with a file in common, in order, the bytes as they were."""
    assert await archive.numbers("t") == []
    await save(archive, "t", 1, {"a": b"same", "b/c": b"\0" * 100_000, "copy": b"same"})
    await archive.save("t", made(2, {"a": b"same"}), lambda path: pytest.fail(path))
    assert await archive.numbers("t") == [1, 2]
    first = await archive.load("t", 1)
    assert first == made(1, {"a": b"same", "b/c": b"\0" * 100_000, "copy": b"same"})
    assert len(await archive.hashes("t")) == 2
    assert [await archive.fetch("t", entry.hash) for entry in first.entries] == [
        b"same",
        b"\0" * 100_000,
        b"same",
    ]
    with pytest.raises(Unknown, match="no checkpoint 3"):
        await archive.load("t", 3)


async def test_a_forgotten_task_is_gone_and_others_stay(archive: CheckpointArchive) -> None:
    """Also one whose name begins like another's."""
    for task in ("t", "t2", "other"):
        await save(archive, task, 1, {"a": task.encode()})
    await archive.forget("t")
    await archive.forget("t")
    assert list(await archive.tasks()) == ["other", "t2"]
    assert await archive.hashes("t") == frozenset()
    assert (await archive.load("t2", 1)).number == 1


async def test_pruning_keeps_what_the_rest_needs(archive: CheckpointArchive) -> None:
    """The newest, and their files."""
    for number in range(1, 5):
        await save(archive, "t", number, {"a": b"always", "b": str(number).encode()})
    await archive.prune("t", 2)
    assert await archive.numbers("t") == [3, 4]
    assert len(await archive.hashes("t")) == 3


async def test_a_file_that_changed_while_it_was_saved_makes_no_checkpoint(
    archive: CheckpointArchive,
) -> None:
    """It is said which one; the numbers stay as they were."""
    with pytest.raises(ArtifactError, match="a was changed"):
        await archive.save("t", made(1, {"a": b"before"}), lambda _: b"after")
    assert await archive.numbers("t") == []


async def test_a_file_that_was_broken_off_is_put_there_anew(tmp_path: Path) -> None:
    """The power failed while it was kept: the next checkpoint that needs it heals those before it."""
    archive = CheckpointArchive(tmp_path)
    await save(archive, "t", 1, {"a": b"whole"})
    (entry,) = made(1, {"a": b"whole"}).entries
    (tmp_path / "t" / "files" / entry.hash[:2] / entry.hash).write_bytes(b"")
    await save(archive, "t", 2, {"b": b"whole"})
    assert await archive.fetch("t", entry.hash) == b"whole"


@pytest.mark.patient
async def test_a_workspace_that_is_lost_comes_back_from_a_bucket(
    server: BucketServer, open_place: Path
) -> None:
    """By the setting S3_ARTIFACT_BUCKET alone; forgetting the task empties the bucket."""
    server.make("artifacts")
    settings = load_settings(open_place, environ={"S3_ARTIFACT_BUCKET": "artifacts/home"})
    assert archive_place(settings) == "s3://artifacts/home"
    workspaces = workspaces_of(settings, SystemClock())
    place = workspaces.of("thread-1")
    ended = await place.run("mkdir d; echo 1 > d/a; git init -q r; ln -s d/a l")
    assert ended.code == 0
    await place.checkpoint()
    place.files.remove()
    back = await workspaces.recovered("thread-1")
    assert (await back.run("cat l; git -C r status --short")).output == b"1\n"
    await workspaces.forget("thread-1")
    assert list(await CheckpointArchive("s3://artifacts/home").tasks()) == []
    assert not (open_place / "data" / "checkpoints").exists()


async def test_a_bucket_that_is_away_is_said_and_nothing_is_lost(
    open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server died: the checkpoint fails in words, the workspace stays as it is."""
    with bucket_server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        server.make("artifacts")
        settings = load_settings(open_place, environ={"S3_ARTIFACT_BUCKET": "artifacts"})
        place = workspaces_of(settings, SystemClock()).of("t")
        await place.run("echo 1 > a")
        await place.checkpoint()
        server.kill()
        await place.run("echo 2 > a")
        for attempt in (place.checkpoint(), place.restore(1), place.undo()):
            with pytest.raises(ArtifactError, match=r"in s3://artifacts cannot be reached"):
                await attempt
        assert place.files.read("a", 9) == b"2\n"


def test_a_bucket_is_named_in_three_ways() -> None:
    """By name, with a path, as a URL; what is none is refused with where it was set."""
    assert checked_bucket("mine", "x") == "s3://mine"
    assert checked_bucket("mine/a/b/", "x") == "s3://mine/a/b"
    assert checked_bucket("s3://mine/a", "x") == "s3://mine/a"
    assert checked_bucket("", "x") == ""
    for bad in ("gs://mine", "Mine", "a b", "mine?x=1", "/mine"):
        with pytest.raises(BadSettings, match=r"loopforge\.toml, line 3"):
            checked_bucket(bad, "loopforge.toml, line 3")
