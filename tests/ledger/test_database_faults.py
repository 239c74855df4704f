"""When the database cannot: each trouble is told in words, and nothing is half written."""

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from loopforge.errors import LedgerBroken, LedgerBusy, LedgerError, LedgerFull, LedgerRewound
from loopforge.ledger.database.database_engine import parse_database_url
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler, opened, text_of
from tests.postgres import Cluster


async def well(ledger: SqlLedger, count: int) -> None:
    """The ledger is sound, of that length, and takes the next event."""
    assert await ledger.heads() == {ROOM: count}
    found = await ledger.verify()
    assert (found.sound, found.events) == (True, count)
    await ledger.append(ROOM, [Scribbler().heard("on we go")], expect=count)


# ---------------------------------------------------------------- locked


async def test_a_locked_file_is_busy(tmp_path: Path) -> None:
    """While another program holds the write lock, appends raise LedgerBusy; afterwards they work."""
    file, scribbler = tmp_path / "ledger.db", Scribbler()
    async with opened(f"sqlite:///{file}", patience=0.1) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        fact = scribbler.heard("two")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerBusy, match="stayed locked by another program"):
                await ledger.append(ROOM, [fact])
            assert await ledger.heads() == {ROOM: 1}
        await ledger.append(ROOM, [fact])
        assert [text_of(event) for event in await ledger.read(ROOM)] == ["one", "two"]
        await well(ledger, 2)


@pytest.mark.parametrize("then", ["nothing", "another"])
async def test_a_file_that_is_moved_away_is_written_no_more(tmp_path: Path, then: str) -> None:
    """Where its file was moved, or replaced, appends are refused; put back, it lacks nothing else."""
    file, aside, scribbler = tmp_path / "ledger.db", tmp_path / "aside.db", Scribbler()
    async with opened(f"sqlite:///{file}") as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        if then == "another":
            shutil.copy(file, tmp_path / "new.db")
        file.rename(aside)
        if then == "another":
            (tmp_path / "new.db").rename(file)
        with pytest.raises(LedgerRewound, match="was deleted, moved or replaced"):
            await ledger.append(ROOM, [scribbler.heard("two")])
        with pytest.raises(LedgerRewound):
            await ledger.follow()
        assert isinstance(await ledger.overtaken(), LedgerRewound)
    aside.rename(file)
    async with opened(f"sqlite:///{file}") as ledger:
        await well(ledger, 1)


@pytest.mark.postgres
async def test_a_locked_stream_is_busy(postgres_url: str) -> None:
    """While another session holds a stream's head, appends to it raise LedgerBusy."""
    scribbler = Scribbler()
    async with opened(postgres_url, patience=0.1) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT * FROM streams FOR UPDATE")
            with pytest.raises(LedgerBusy, match="stayed locked by another program"):
                await ledger.append(ROOM, [scribbler.heard("two")])
        await well(ledger, 1)


# ---------------------------------------------------------------- full


async def _fill(ledger: SqlLedger) -> int:
    """Append until there is no room; how many fitted."""
    scribbler = Scribbler()
    for count in range(0, 4000, 2):
        try:
            await ledger.append(ROOM, [scribbler.heard("x" * 3000), scribbler.heard("y" * 3000)])
        except LedgerFull as full:
            assert "is full; nothing was written" in str(full)  # noqa: PT017
            assert "xxx" not in f"{full.__cause__!r}{full.__cause__}"  # noqa: PT017
            return count
    raise AssertionError("it never was full")


async def test_a_full_file_is_told(tmp_path: Path) -> None:
    """At the page limit appends raise LedgerFull and leave nothing; with more room they work."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    async with opened(url, max_pages=200) as ledger:
        count = await _fill(ledger)
        assert count > 10
        with pytest.raises(LedgerFull):
            await ledger.append(ROOM, [Scribbler().heard("z" * 100_000)])
        assert await ledger.heads() == {ROOM: count}
        assert (await ledger.verify()).sound
    async with opened(url) as ledger:
        await well(ledger, count)


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A disk of two megabytes."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk to fill it")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """On a disk without room appends raise LedgerFull; once there is room, the same ledger works.

    Nor is one opened there.
    """
    place = tmp_path / "disk"
    with small_disk(place):
        (place / "ballast").write_bytes(b"x" * 1_000_000)
        async with opened(f"sqlite:///{place / 'ledger.db'}") as ledger:
            count = await _fill(ledger)
            assert await ledger.heads() == {ROOM: count}
            (place / "ballast").unlink()
            await well(ledger, count)
        with suppress(OSError), (place / "ballast").open("wb", buffering=0) as ballast:
            while ballast.write(b"x" * 4096):
                pass
        with pytest.raises(LedgerFull):
            async with opened(f"sqlite:///{place / 'ledger.db'}"):
                pass


# ---------------------------------------------------------------- damaged, out of reach


async def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    """A file that is no database raises LedgerBroken and is left as it was."""
    file = tmp_path / "ledger.db"
    file.write_bytes(b"no database at all " * 1000)
    with pytest.raises(LedgerBroken, match="is damaged"):
        async with opened(f"sqlite:///{file}"):
            pass
    assert file.read_bytes() == b"no database at all " * 1000


async def test_a_damaged_name_is_told(tmp_path: Path) -> None:
    """A file in which the name of a table is no text any more is damaged, too."""
    file = tmp_path / "ledger.db"
    async with opened(f"sqlite:///{file}"):
        pass
    file.write_bytes(file.read_bytes().replace(b"tableline_", b"table\xecine_"))
    with pytest.raises(LedgerBroken, match="is damaged"):
        async with opened(f"sqlite:///{file}"):
            pass


async def test_a_damaged_body_is_told(tmp_path: Path) -> None:
    """Reading an event that cannot be decoded raises LedgerBroken, which names the event."""
    file = tmp_path / "ledger.db"
    async with opened(f"sqlite:///{file}") as ledger:
        (event,) = await ledger.append(ROOM, [Scribbler().heard("one")])
        with closing(sqlite3.connect(file)) as plain:
            plain.execute("DROP TRIGGER events_unchanged")
            plain.execute('UPDATE events SET body = \'{"type":"room.unheard"}\'')
            plain.commit()
        with pytest.raises(LedgerBroken, match=f"{event.id} of {ROOM}"):
            await ledger.read(ROOM)
        with closing(sqlite3.connect(file)) as plain:
            plain.execute("UPDATE events SET body = CAST(x'ff' AS TEXT)")
            plain.commit()
        with pytest.raises(LedgerBroken, match="loopforge ledger verify"):
            await ledger.read(ROOM)


URLS = {
    "sqlite:////no/such/folder/ledger.db": "cannot be opened. Check that its folder exists",
    "sqlite://": "names no file",
    "sqlite:///:memory:": "names no file",
    "mysql://host/name": "knows sqlite and postgresql",
    "nonsense": "is no URL",
    "postgresql://u:hush@127.0.0.1:1/name": "PostgreSQL at 127.0.0.1:1 cannot be reached",
    "postgres://u:hush@/name?host=/no/such": "PostgreSQL at /no/such cannot be reached",
    "postgresql://u:hush@127.0.0.1:port/name": "is no URL",
    "postgresql://u:hush@127.0.0.1:1,127.0.0.1:2/name": "at 127.0.0.1,127.0.0.1 cannot be reached",
}


def test_several_servers_of_one_url() -> None:
    """A primary and its standby are named as PostgreSQL's own programs take them."""
    found = parse_database_url("postgresql://u@one:5433,[::1]/name?target_session_attrs=read-write")
    assert (found.username, found.host, found.database) == ("u", None, "name")
    wanted = {"host": "one,::1", "port": "5433,5432", "target_session_attrs": "read-write"}
    assert dict(found.query) == wanted


@pytest.mark.parametrize("url", URLS)
async def test_what_cannot_be_opened_is_told(url: str) -> None:
    """A ledger out of reach raises LedgerError with a sentence, and without the password."""
    with pytest.raises(LedgerError, match=URLS[url]) as raised:
        async with opened(url):
            pass
    assert "hush" not in str(raised.value)


async def test_a_server_that_takes_nobody_more_is_told(
    postgres: Cluster, postgres_url: str
) -> None:
    """Where all connections are in use, or those of a role, that is said, and what to do."""
    postgres.execute("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    try:
        with pytest.raises(LedgerError, match=r"takes no more connections \(.*max_connections"):
            async with opened(postgres_url.replace("postgres@", "crowd@")):
                pass
    finally:
        postgres.execute("DROP ROLE crowd")


async def test_a_file_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    """A read-only folder raises LedgerError when something is to be written."""
    place = tmp_path / "disk"
    with small_disk(place):
        async with opened(f"sqlite:///{place / 'ledger.db'}"):
            pass
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)  # noqa: ASYNC221
        with pytest.raises(LedgerError, match=r"may not be written|cannot be opened"):
            async with opened(f"sqlite:///{place / 'ledger.db'}") as ledger:
                await ledger.append(ROOM, [Scribbler().heard("x")])


async def test_a_closed_ledger_says_so(ledger_url: str) -> None:
    """After closing, appending and reading raise LedgerError; what was waiting had been written."""
    async with opened(ledger_url) as ledger:
        await ledger.append(ROOM, [Scribbler().heard("one")])
    with pytest.raises(LedgerError, match="is closed"):
        await ledger.append(ROOM, [Scribbler().heard("two")])
    with pytest.raises(LedgerError, match="is closed"):
        await ledger.read(ROOM)
    async with opened(ledger_url) as ledger:
        await well(ledger, 1)


# ---------------------------------------------------------------- a connection that breaks


def end_sessions(url: str) -> None:
    """Have the server end all sessions of a ledger's."""
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 9000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def let_read_only(url: str, only: str) -> None:
    """Whether sessions that begin from now on may only read ("on") or not ("off")."""
    name = url.split("/")[3].partition("?")[0]
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SET default_transaction_read_only = off")
        other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {only}".encode())


@pytest.mark.postgres
async def test_a_broken_connection_is_made_anew(postgres_url: str) -> None:
    """When the server ends all sessions, the next read and the next append work all the same."""
    scribbler = Scribbler()
    async with opened(postgres_url) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        for count in (1, 2):
            end_sessions(postgres_url)
            if count == 1:
                assert len(await ledger.read(ROOM)) == 1
            await ledger.append(ROOM, [scribbler.heard("two")])
        await well(ledger, 3)


@pytest.mark.postgres
async def test_other_writing_finds_a_broken_connection_first(postgres_url: str) -> None:
    """A change of a table by hand, and an erasure, are done after the server ended all sessions."""
    async with opened(postgres_url) as ledger:
        (event,) = await ledger.append(ROOM, [Scribbler().heard("one")])
        end_sessions(postgres_url)
        await ledger.change(lambda tables: tables.exec_driver_sql("SELECT 1 FROM events").all())
        end_sessions(postgres_url)
        assert (await ledger.erase(ErasureRequest(events=(event.id,)))).named == 1


@pytest.mark.postgres
async def test_a_server_that_may_only_be_read_is_left(postgres_url: str) -> None:
    """As a standby is: that is told, and what is written next asks for the primary anew."""
    async with opened(postgres_url) as ledger:
        let_read_only(postgres_url, "on")
        end_sessions(postgres_url)
        with pytest.raises(LedgerError, match="may only be read there now"):
            await ledger.append(ROOM, [Scribbler().heard("one")])
        let_read_only(postgres_url, "off")
        await ledger.append(ROOM, [Scribbler().heard("one")])
        await well(ledger, 1)


class Cutter:
    """Stands between a ledger and PostgreSQL, and once cuts the line right behind a COMMIT."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.cut = False
        self._server = server
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / ".s.PGSQL.5432"))
        self._door.listen()
        self._ends = [self._door]
        self._threads: list[threading.Thread] = []
        self._start(self._serve)

    def _start(self, work: Callable[..., None], *given: object) -> None:
        self._threads.append(threading.Thread(target=work, args=given))
        self._threads[-1].start()

    def close(self) -> None:
        """Let nobody in any more, and end every line."""
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                self._ends += (client, server)
                server.connect(str(self._server))
                self._start(self._pass, client, server, True)
                self._start(self._pass, server, client, False)

    def _pass(self, source: socket.socket, to: socket.socket, asking: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                last = self.cut and asking and b"COMMIT" in data
                if last:
                    self.cut = False
                    source.shutdown(socket.SHUT_RDWR)
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)


@pytest.mark.postgres
async def test_a_commit_whose_answer_was_lost_is_not_done_twice(
    postgres_url: str,
) -> None:
    """If the line breaks right behind a COMMIT, the ledger finds that it arrived."""
    folder = Path(postgres_url.partition("host=")[2])
    near = Path(tempfile.mkdtemp(prefix="lf-"))  # short: a socket's path has 107 bytes
    cutter = Cutter(near, folder / ".s.PGSQL.5432")
    scribbler = Scribbler()
    try:
        async with opened(postgres_url.replace(str(folder), str(near))) as ledger:
            await ledger.append(ROOM, [scribbler.heard("one")])
            cutter.cut = True
            (event,) = await ledger.append(ROOM, [scribbler.heard("two")])
            assert not cutter.cut
            assert event.seq == 2
            assert await ledger.event(event.id) == event
            await well(ledger, 2)
    finally:
        cutter.close()
        shutil.rmtree(near)
