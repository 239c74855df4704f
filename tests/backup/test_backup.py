"""A home is backed up while it runs, and is itself again elsewhere: on either database, verified."""

import dataclasses
import os
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.backup.backup_retention import prune_backups, times_to_keep
from loopforge.backup.backup_schedule import BackupSchedule
from loopforge.backup.backup_store import MANIFEST, BackupManifest, BackupStore
from loopforge.backup.make_backup import LAST, LastBackup, back_up, last_backup, note_erasures
from loopforge.backup.restore_backup import (
    RestoredHome,
    fetch_verified_backup,
    newest_backup,
    restore_home,
    unpack_home,
)
from loopforge.backup.sealed_keys import files_in
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.errors import BackupError, BadSettings, InputError, LedgerBehind, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.schema_migration import NEWEST
from loopforge.ledger_opening import ARTIFACTS, open_ledger_of
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.plugins.setting_checks import parse_retention_rule
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemClock
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings, with_ledger
from tests.full_disk import full_disk
from tests.moto_server import bucket_server
from tests.rooms.conftest import START, Home, living
from tests.sim_clock import SimClock
from tests.still import still

PICTURE = b"\x89PNG a slug"
OWN = (
    "roles/python-coder.md",
    "repositories/parser.toml",
    "experiments/mine.toml",
    "tools/written/greet.json",
    "data/mcp/odd.json",
    "data/runs/one/rows.jsonl",
    "data/sweeps/mine/tapes/one.jsonl",
)
"""Files of a home that nothing else makes anew."""


async def talk(home: Home) -> str:
    """Ana gives a picture, and Maya answers; the picture's hash."""
    hash = await home.app.artifacts.put(PICTURE)
    file = File(name=Words("slug.png"), size=len(PICTURE), text=public_words(""), hash=Words(hash))
    await home.hears("ana", "@maya look, \x00 half a pair \ud83d", files=(file,))
    return hash


async def backed_up(home: Home, store: BackupStore) -> tuple[str, BackupManifest]:
    """Make a backup of a home that runs."""
    return await back_up(home.app.settings, home.app.ledger, store, home.clock)


async def restored(
    store: BackupStore, path: Path, folder: Path, name: str = "", url: str = ""
) -> tuple[Settings, RestoredHome]:
    """A new home from a backup; its settings, and how it came back."""
    folder.mkdir()  # noqa: ASYNC240  quick
    clock = SimClock(datetime(2027, 1, 1, tzinfo=UTC))
    manifest = await fetch_verified_backup(store, name or await newest_backup(store), folder)
    unpack_home(folder, path)
    (path / "data").mkdir(exist_ok=True)
    settings = with_ledger(load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"}), url)
    return settings, await restore_home(settings, store, manifest, folder, clock)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home with three mates that runs."""
    async with living(tmp_path / "home") as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> BackupStore:
    """A folder for backups."""
    return BackupStore(str(tmp_path / "kept"), SimClock(datetime(2026, 11, 21, tzinfo=UTC)))


@pytest.mark.parametrize("way", ["file", "url"])
async def test_a_home_is_itself_again(home: Home, tmp_path: Path, way: str) -> None:
    """Lines, files, mates and settings come back, every hash is right, and the talk goes on."""
    (home.path / "loopforge.toml").write_text("history_lines = 7\n")
    await home.app.live.change("line_limit", "70", "terminal")
    zuzu = home.path / "mates/zuzu.md"
    zuzu.rename(tmp_path / "zuzu.md").chmod(0o600)
    zuzu.symlink_to(tmp_path / "zuzu.md")  # as people do whose mates lie in a repository of theirs
    for path in OWN:
        (home.path / path).parent.mkdir(parents=True, exist_ok=True)
        (home.path / path).write_text(f"{path}\n")
    hash = await talk(home)
    place = tmp_path / "kept"
    (place / "files").mkdir(parents=True)  # a bucket has no folders; file:// makes none
    store = BackupStore(str(place) if way == "file" else place.as_uri(), home.clock)
    name, manifest = await backed_up(home, store)
    assert (await store.names(), manifest.files) == ([name], (hash,))
    lines = await home.lines()
    await home.says("ana", "said after it was made")

    settings, done = await restored(store, tmp_path / "new", tmp_path / "parts")
    assert (settings.history_lines, settings.line_limit, done) == (7, 70, (0, 0))
    assert [(tmp_path / "new" / path).read_text() for path in OWN] == [f"{path}\n" for path in OWN]
    assert sorted(path.name for path in (tmp_path / "new/mates").iterdir()) == [
        "maya.md",
        "merlin.md",
        "zuzu.md",
    ]
    again_zuzu = tmp_path / "new/mates/zuzu.md"
    assert (again_zuzu.is_symlink(), oct(again_zuzu.stat().st_mode)) == (False, "0o100600")
    async with living(tmp_path / "new") as again:
        assert (await again.app.ledger.verify(anchors=manifest.heads)).sound
        again.people = home.people
        assert await again.lines() == lines
        assert await again.app.artifacts.get(hash) == PICTURE
        await again.says("ana", "@maya are you still there?")
        await again.rest()
        assert (await again.said())[-1] == "maya"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../out", "0"),
        ("/tmp/out", "0"),
        ("mates", "2"),
        ("data/loopforge.db", "0"),
        ("mates/../data/web.secret", "0"),
        ("matesx/a.md", "0"),
        (".", "0"),
    ],
)
def test_nothing_is_put_outside_a_home(tmp_path: Path, name: str, kind: str) -> None:
    """A backup that somebody made up writes only what backups hold: no file elsewhere, no link.

    Nor a database with triggers of its own, into which the ledger would be read.
    """
    odd = tarfile.TarInfo(name)
    odd.type, odd.linkname = kind.encode(), str(tmp_path)
    with tarfile.open(tmp_path / "home.tar.gz", "w:gz") as tar:
        tar.addfile(odd)
    with pytest.raises(BackupError, match="is no file of a home"):
        unpack_home(tmp_path, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.sqlite
@pytest.mark.postgres
async def test_from_sqlite_to_postgresql_and_back(
    home: Home, store: BackupStore, tmp_path: Path, postgres_url: str
) -> None:
    """The same rows on either database, texts that one cannot store as they are among them."""
    await talk(home)
    await backed_up(home, store)
    wide, _ = await restored(store, tmp_path / "wide", tmp_path / "p1", url=postgres_url)
    second = BackupStore(str(tmp_path / "second"), home.clock)
    async with open_ledger_of(wide) as ledger:
        assert (await ledger.verify()).sound
        await back_up(wide, ledger, second, home.clock)
    back, _ = await restored(second, tmp_path / "back", tmp_path / "p2")
    assert back.database_url.startswith("sqlite")
    async with open_ledger_of(back) as ledger:
        assert (await ledger.verify()).sound
        exported = [line async for line in ledger.export()]
    assert exported == [line async for line in home.app.ledger.export()]


async def test_a_ledger_that_is_not_empty_takes_no_backup(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """Neither a folder with files nor a ledger with events is written over."""
    await talk(home)
    await backed_up(home, store)
    with pytest.raises(InputError, match="is not empty"):
        await restored(store, home.path, tmp_path / "p1")
    url = home.app.settings.database_url
    with pytest.raises(InputError, match="a ledger already"):
        await restored(store, tmp_path / "new", tmp_path / "p2", url=url)
    assert (await home.app.ledger.verify()).sound


async def test_what_was_forgotten_since_is_forgotten_again(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """An erasure is noted beside the backups; no older one brings back a word or a file of it."""
    hash = await talk(home)
    first, _ = await backed_up(home, store)
    await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="ana"))
    await home.clock.advance(60)
    await backed_up(home, store)
    settings, done = await restored(store, tmp_path / "new", tmp_path / "parts", first)
    assert done.forgotten > 0
    async with open_ledger_of(settings) as ledger:
        assert (await ledger.verify()).sound
        told = "".join([line async for line in ledger.export()])
        assert "half a pair" not in told
    files = Artifacts(settings.data / ARTIFACTS, home.clock)
    assert not await files.has(hash)


async def test_a_damaged_backup_is_found(home: Home, store: BackupStore, tmp_path: Path) -> None:
    """One flipped byte, a part that is gone, a newer format: each is said, nothing is restored."""
    await talk(home)
    name, manifest = await backed_up(home, store)
    part = Path(store.where) / name / "ledger.jsonl.gz"
    whole = part.read_bytes()
    part.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    with pytest.raises(BackupError, match="is not what was written there"):
        await restored(store, tmp_path / "new", tmp_path / "p1")
    part.unlink()
    with pytest.raises(BackupError, match="is gone from"):
        await restored(store, tmp_path / "new", tmp_path / "p2")
    changed = (
        (Path(store.where) / name / "backup.json").read_text().replace(f'"{NEWEST}"', '"9999"')
    )
    (Path(store.where) / name / "backup.json").write_text(changed)
    with pytest.raises(LedgerBehind, match="newer Loopforge"):
        await restored(store, tmp_path / "new", tmp_path / "p3")
    assert not (tmp_path / "new").exists()
    (Path(store.where) / name / "backup.json").unlink()
    with pytest.raises(Unknown, match="no backup"):
        await newest_backup(store)
    assert manifest.events > 0


async def test_where_the_newest_backup_is_damaged_the_one_before_is_named(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """A damaged ledger or manifest of the newest backup is told with the one before, which holds."""
    await talk(home)
    first, _ = await backed_up(home, store)
    await home.clock.advance(60)
    last, _ = await backed_up(home, store)
    for part in ("ledger.jsonl.gz", MANIFEST):
        flip(Path(store.where) / last / part)
        with pytest.raises(BackupError, match=f"kept --name {first}`"):
            await restored(store, tmp_path / "new", tmp_path / part)
    await restored(store, tmp_path / "new", tmp_path / "parts", first)
    flip(Path(store.where) / first / MANIFEST)
    with pytest.raises(BackupError, match=r"^((?!--name).)*$"):
        await fetch_verified_backup(store, first, tmp_path / "parts")


def flip(path: Path) -> None:
    """Alter the last byte of a file."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 0x80]))


@pytest.mark.parametrize("how", ["damaged", "gone", "misnamed"])
async def test_a_file_that_is_lost_keeps_no_home_away(
    home: Home, store: BackupStore, tmp_path: Path, how: str
) -> None:
    """Where a picture in a backup is damaged, or gone, all else is restored, and it is told."""
    hash = await talk(home)
    await backed_up(home, store)
    path = tmp_path / "kept/files" / hash[:2] / hash
    if how == "misnamed":
        [listed] = (tmp_path / "kept").glob("*/backup.json")
        listed.write_text(listed.read_text().replace(hash, f"{hash[:-1]}?"))
    else:
        flip(path) if how == "damaged" else path.unlink()
    settings, done = await restored(store, tmp_path / "new", tmp_path / "parts")
    assert done == (0, 1)
    async with open_ledger_of(settings) as ledger:
        assert (await ledger.verify()).sound


async def test_a_file_that_is_damaged_in_the_home_keeps_no_backup_away(
    home: Home, store: BackupStore
) -> None:
    """A backup is made without it and names it; the one that has it whole keeps it."""
    hash = await talk(home)
    flip(home.path / "data" / ARTIFACTS / hash[:2] / hash)
    name, manifest = await backed_up(home, store)
    assert (await store.names(), manifest.files, manifest.damaged) == ([name], (), (hash,))


async def test_what_is_restored_holds_nothing_forgotten_at_any_moment(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """Where an erasure cannot be read no ledger comes about."""
    await talk(home)
    await backed_up(home, store)
    await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="ana"))
    await note_erasures(home.app.ledger, store)
    for noted in (tmp_path / "kept/erased").iterdir():
        flip(noted)
    with pytest.raises(BackupError, match="would come back"):
        await restored(store, tmp_path / "new", tmp_path / "parts")
    assert not list((tmp_path / "new").glob("data/*.db"))


DAYS = [datetime(2026, 11, 22, tzinfo=UTC) - timedelta(days=n) for n in range(400)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1 day", [0]),
        ("3 days", [0, 1, 2]),
        ("2 days, 3 weeks", [0, 1, 7, 14]),
        ("1 day, 3 months", [0, 22, 53]),
        ("2 years", [0, 326]),
        ("0 days", [0]),
    ],
)
def test_which_backups_are_kept(text: str, days: list[int]) -> None:
    """The newest one of each of the last so many days, weeks and months; the newest always."""
    assert times_to_keep(DAYS, parse_retention_rule(text)) == {DAYS[n] for n in days}


@pytest.mark.parametrize(
    "text", ["", "seven days", "7", "7 days 4 weeks", "-1 days", "7 days, 3 days"]
)
def test_a_rule_that_is_none(text: str) -> None:
    """What cannot be read is refused, with an example."""
    with pytest.raises(BadSettings, match="such as 7 days, 4 weeks"):
        parse_retention_rule(text)


async def test_files_go_with_the_last_backup_that_holds_them(
    home: Home, store: BackupStore
) -> None:
    """Files lie there once for all backups, and as long as one needs them."""
    hash = await talk(home)
    for _ in range(2):
        await backed_up(home, store)
        await home.clock.advance(24 * 3600)
    assert await store.files.hashes() == [hash]
    await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="ana"))
    name, _ = await backed_up(home, store)
    assert len(await prune_backups(store, parse_retention_rule("2 days"))) == 1
    assert await store.files.hashes() == [hash]
    await prune_backups(store, parse_retention_rule("1 day"))
    assert (await store.names(), await store.files.hashes()) == ([name], [])


async def test_what_was_never_finished_is_not_kept(home: Home, tmp_path: Path) -> None:
    """Parts of a backup whose making was killed a day ago go; those of one at work stay."""
    place = tmp_path / "backups"
    store = BackupStore(str(place), home.clock)
    now = home.clock.now()
    killed, at_work = (f"{now - timedelta(hours=ago):%Y%m%dT%H%M%S%fZ}" for ago in (30, 1))
    for name, part in ((killed, "home.tar.gz"), (killed, "ledger.jsonl.gz#1"), (at_work, "#1")):
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / part).write_bytes(b"half of it")
    made, _ = await backed_up(home, store)
    assert await prune_backups(store, parse_retention_rule("1 day")) == []
    assert sorted(each.name for each in place.iterdir()) == sorted([at_work, made, "files"])


class Hurried(BackupStore):
    """Somebody else prunes whenever a part is written to it."""

    async def write(self, path: str, data: bytes | Path) -> None:
        """See BackupStore."""
        await prune_backups(BackupStore(self.where, SimClock(START)), parse_retention_rule("1 day"))
        await super().write(path, data)


async def test_two_backups_at_once_take_nothing_from_each_other(
    home: Home, tmp_path: Path, store: BackupStore
) -> None:
    """A file that only an unfinished backup needs stays, whoever prunes meanwhile."""
    hash = await talk(home)
    await backed_up(home, store)
    async with living(tmp_path / "second", clock=home.clock) as second:
        await home.clock.advance(24 * 3600)
        await backed_up(second, store)
        await home.clock.advance(60)
        _, manifest = await backed_up(home, Hurried(store.where, home.clock))
    assert manifest.files == (hash,)
    assert await store.files.hashes() == [hash]


async def test_what_cannot_be_finished_leaves_nothing(
    home: Home, tmp_path: Path, store: BackupStore
) -> None:
    """A full disk where backups lie holds no half of one."""
    await talk(home)

    class Full(BackupStore):
        async def write(self, path: str, data: bytes | Path) -> None:
            if path.endswith(MANIFEST):
                raise BackupError("The disk is full.")
            await super().write(path, data)

    with pytest.raises(BackupError, match="full"):
        await backed_up(home, Full(store.where, home.clock))
    assert [each.name for each in (tmp_path / "kept").iterdir()] == ["files"]


@asynccontextmanager
async def scheduled(
    home: Home, place: Path, clock: Clock | None = None
) -> AsyncIterator[BackupStore]:
    """A home that makes its own backups, once a day, by its own clock or another."""
    settings = dataclasses.replace(home.app.settings, backup_to=str(place), backup_keep="2 days")
    still(home.clock, home.app.ledger)
    async with BackgroundTasks() as tasks:
        BackupSchedule(settings, home.app.ledger, clock or home.clock).open(tasks)
        yield BackupStore(str(place), home.clock)


@pytest.mark.xdist_group("moto")
async def test_a_bucket_that_is_not_there_is_said(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that the disk is full, nor all that the client knows of its try."""
    with bucket_server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        store = BackupStore("s3://nothing-there/backups", home.clock)
        with pytest.raises(BackupError, match="cannot be reached") as told:
            await backed_up(home, store)
    assert "Debug source" not in str(told.value)
    assert str(told.value).endswith("for a bucket its region and its keys.")


async def test_a_home_makes_its_own_backups(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At once, then once a day, as many as are kept; what is forgotten is noted at once."""
    await talk(home)
    async with scheduled(home, tmp_path / "kept") as store:
        await home.clock.advance(60)
        assert [one.message for one in caplog.records if one.levelname == "WARNING"] == []
        [first] = await store.names()
        await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="ana"))
        await home.clock.advance(60)
        assert len(await store.erased()) > 0
        await home.clock.advance(3 * 24 * 3600)
        assert len(await store.names()) == 2
        assert first not in await store.names()
    last = last_backup(home.app.settings)
    assert last is not None
    assert last.name == (await store.names())[-1]
    async with scheduled(home, tmp_path / "kept") as store:
        await home.clock.advance(60)
        assert (await store.names())[-1] == last.name, "it was made less than a day ago"


async def test_a_machine_that_slept_makes_up_for_its_backup(home: Home, tmp_path: Path) -> None:
    """It counts by the clock, not by the hours in which the machine was awake."""

    class Slept(SystemClock):
        ahead = timedelta()

        def now(self) -> datetime:
            return home.clock.now() + self.ahead

        async def sleep(self, seconds: float) -> None:
            await home.clock.sleep(seconds)

    def made() -> datetime:
        last = last_backup(home.app.settings)
        assert last is not None
        return last.at

    await talk(home)
    clock, day = Slept(), timedelta(days=1)
    async with scheduled(home, tmp_path / "kept", clock):
        await home.clock.advance(60)
        first = made()
        clock.ahead = day
        await home.clock.advance(3600)
        assert made() >= first + day
        clock.ahead = timedelta()  # it was wrong for a while
        await home.clock.advance(3600)
        now = made()
        assert first < now <= home.clock.now()
        await home.clock.advance(22 * 3600)
        assert made() == now


async def test_a_backup_that_cannot_be_read_costs_no_other(home: Home, tmp_path: Path) -> None:
    """One that is damaged goes when its time is over; none is made anew each hour because of it."""
    hash = await talk(home)
    async with scheduled(home, tmp_path / "kept") as store:
        await home.clock.advance(60)
        [first] = await store.names()
        damaged = tmp_path / "kept" / first / MANIFEST
        damaged.write_bytes(damaged.read_bytes().replace(b"0", b"\xb0", 1))  # no longer UTF-8
        await home.clock.advance(24 * 3600)
        assert len(await store.names()) == 2
        assert await store.files.hashes() == [hash]
        await home.clock.advance(24 * 3600)
        assert len(await store.names()) == 2
        assert first not in await store.names()


async def test_what_was_forgotten_while_the_home_was_down_is_noted(
    home: Home, tmp_path: Path
) -> None:
    """As it starts, and not only by its next backup."""
    await talk(home)
    async with scheduled(home, tmp_path / "kept"):
        await home.clock.advance(60)
    await home.app.ledger.erase(ErasureRequest(person=home.people["ana"], by="ana"))
    async with scheduled(home, tmp_path / "kept") as store:
        await home.clock.advance(60)
        assert len(await store.erased()) > 0


async def test_a_backup_that_cannot_be_made_is_tried_again(home: Home, tmp_path: Path) -> None:
    """A place that is away costs nothing but an hour."""
    place = tmp_path / "kept"
    place.write_text("a file stands where the folder should be")
    async with scheduled(home, place) as store:
        await home.clock.advance(60)
        place.unlink()
        await home.clock.advance(3600)
        assert len(await store.names()) == 1


async def test_a_clock_that_was_wrong_keeps_no_backup_away(home: Home, tmp_path: Path) -> None:
    """A last one of years ahead, by a clock that is right again, is followed at once."""
    ahead = LastBackup(home.clock.now() + timedelta(days=800), str(tmp_path), "ahead")
    (home.app.settings.data / LAST).write_bytes(msgspec.json.encode(ahead))
    async with scheduled(home, tmp_path / "kept") as store:
        await home.clock.advance(60)
        assert len(await store.names()) == 1


def test_a_last_backup_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """What the disk made of that note keeps no home from starting."""
    settings = load_settings(tmp_path, environ={})
    settings.data.mkdir()
    for data in (b"", b"{", b'{"where": "\xb0"}'):
        (settings.data / LAST).write_bytes(data)
        assert last_backup(settings) is None


async def test_a_full_disk_ends_no_schedule(home: Home, tmp_path: Path) -> None:
    """A home that had no room to pack its backup makes it an hour later, when there is some."""
    async with scheduled(home, tmp_path / "kept") as store:
        with full_disk(100):
            await home.clock.advance(60)
        assert not (tmp_path / "kept").exists()
        await home.clock.advance(3600)
        assert len(await store.names()) == 1
        with full_disk(100), pytest.raises(BackupError, match="make room on that disk"):
            await backed_up(home, store)


async def test_where_there_is_no_room_to_unpack(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """A full disk here is not taken for a place of backups that is out of reach."""
    await backed_up(home, store)
    with full_disk(100), pytest.raises(BackupError, match="name another folder by TMPDIR"):
        await restored(store, tmp_path / "new", tmp_path / "parts")
    assert not (tmp_path / "new").exists()


async def test_what_a_killed_one_left_goes(home: Home, tmp_path: Path) -> None:
    """The folder of a backup that was killed goes with the next one; that of one at work stays."""
    data, now = home.app.settings.data, home.clock.now().timestamp()
    for name, age in (("backup-killed", 90_000), ("backup-at-work", 60)):
        (data / name).mkdir()
        (data / name / "ledger.jsonl.gz").write_bytes(b"half of it")
        os.utime(data / name, (now - age, now - age))
    await backed_up(home, BackupStore(str(tmp_path / "backups"), home.clock))
    assert [path.name for path in data.glob("backup-*")] == ["backup-at-work"]


@pytest.mark.parametrize("content", [b"[1]", b"no JSON", b"[" * 100_000, b"\xff"])
def test_what_is_sealed_and_no_keys_is_told(content: bytes) -> None:
    """A stranger's backup, with a stranger's passphrase: it was an error of the program."""
    with pytest.raises(BackupError, match="is no keys"):
        files_in(content)


async def test_a_manifest_of_lists_within_lists_is_told(tmp_path: Path) -> None:
    """It was an error of the program, and kept all other backups of that place away."""
    (tmp_path / "20260101T000000Z").mkdir()
    deep = b'{"format": 1, "program": "x", "y": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    (tmp_path / "20260101T000000Z" / MANIFEST).write_bytes(deep)
    store = BackupStore(str(tmp_path), SystemClock())
    with pytest.raises(BackupError, match="cannot be read"):
        await store.manifest("20260101T000000Z")
