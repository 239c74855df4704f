"""A pooler before PostgreSQL, which lends its sessions for one transaction, or for a connection."""

import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from loopforge.errors import LedgerError
from loopforge.ledger.schema_migration import ledger_schema_status
from tests.ledger.saying import ROOM, Scribbler, opened

pytestmark = pytest.mark.postgres

KEY, READY, IDLE, LEAVES = b"K", b"Z", b"I", b"X"


class Peer:
    """One end of the protocol: a message has a letter, its length, and what it says."""

    def __init__(self, line: socket.socket) -> None:
        self.line, self._file = line, line.makefile("rb")

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self.line.close()

    def read(self, letters: int = 1) -> tuple[bytes, bytes]:
        """The next message; the very first of a client's has no letter. Raises EOFError."""
        head = self._file.read(letters + 4)
        if len(head) < letters + 4:
            raise EOFError
        body = self._file.read(struct.unpack("!I", head[letters:])[0] - 4)
        return head[:letters], head + body

    def next(self) -> tuple[bytes, bytes]:
        """The next message; of one that hung up, that it leaves."""
        try:
            return self.read()
        except (OSError, EOFError):
            return LEAVES, b""

    def until_ready(self) -> list[tuple[bytes, bytes]]:
        """What the server says until it waits for more."""
        said = [self.read()]
        while said[-1][0] != READY:
            said.append(self.read())
        return said


class Pooler:
    """Lends sessions as PgBouncer does, the last that came back first, and tells of keys of its own.

    Either until the client leaves, or, with `briefly`, until its transaction is over.
    """

    def __init__(self, door: Path, server: Path, briefly: bool) -> None:
        self._server, self.briefly = str(server), briefly
        self._idle: list[Peer] = []
        self._greeting: list[tuple[bytes, bytes]] = []
        self._clients: list[socket.socket] = []
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(door))
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def part(self) -> None:
        """Hang up on every client; their sessions stay."""
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.part()
        for server in self._idle:
            server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self._clients.append(client)
                threading.Thread(target=self._meet, args=(Peer(client),), daemon=True).start()

    def _meet(self, client: Peer) -> None:
        briefly = self.briefly
        with suppress(OSError, EOFError), closing(client):
            _, wish = client.read(0)
            server = self._session(wish)
            for letter, said in self._greeting:
                key = said[:5] + b"\x7f\xff\xff\xff" + said[9:]
                client.line.sendall(key if letter == KEY else said)
            if briefly:
                self._idle.append(server)
            while (message := client.next())[0] != LEAVES:
                if briefly:
                    server = self._session(wish)
                self._transaction(client, server, *message)
                if briefly:
                    self._idle.append(server)
            if not briefly:
                self._idle.append(server)

    def _session(self, wish: bytes) -> Peer:
        with suppress(IndexError):
            return self._idle.pop()
        line = socket.socket(socket.AF_UNIX)
        line.connect(self._server)
        line.sendall(wish)
        server = Peer(line)
        self._greeting = server.until_ready()
        return server

    def _transaction(self, client: Peer, server: Peer, letter: bytes, asked: bytes) -> None:
        while True:
            server.line.sendall(asked)
            if letter in b"QS":
                answer = server.until_ready()
                client.line.sendall(b"".join(said for _, said in answer))
                if answer[-1][1].endswith(IDLE):
                    return
            letter, asked = client.read()


@contextmanager
def pooled(url: str, briefly: bool) -> Iterator[tuple[str, Pooler]]:
    """The database of that URL behind a pooler."""
    before, _, folder = url.partition("host=")
    with tempfile.TemporaryDirectory(prefix="lf-") as near:  # short: a path has 107 bytes
        name = ".s.PGSQL.5432"
        pooler = Pooler(Path(near) / name, Path(folder) / name, briefly)
        yield f"{before}host={near}", pooler
        pooler.close()


async def test_sessions_of_one_transaction_are_refused(postgres_url: str) -> None:
    """Nothing is written by a pooler that lends sessions so; the sentence says what to set."""
    with pooled(postgres_url, briefly=True) as (url, _):
        for _ in range(2):
            with pytest.raises(LedgerError, match="Set pool_mode = session"):
                async with opened(url):
                    pass
    assert ledger_schema_status(postgres_url) == "empty"


async def test_sessions_of_one_connection_do(postgres_url: str) -> None:
    """By one that lends them for as long as a connection lasts all works, also when that breaks."""
    with pooled(postgres_url, briefly=False) as (url, pooler):
        async with opened(url) as ledger:
            claim = await ledger.claim("host")
            await ledger.append(ROOM, [Scribbler().heard("one")])
            assert len(await ledger.read(ROOM)) == 1
            await claim.release()
            for nth in range(2, 5):
                pooler.part()
                await ledger.append(ROOM, [Scribbler().heard("one more")])
                assert len(await ledger.read(ROOM)) == nth
    assert ledger_schema_status(postgres_url) == "ok"


async def test_a_pooler_that_is_set_otherwise_meanwhile_is_waited_for(postgres_url: str) -> None:
    """While it lends sessions for a transaction, writing says so, and nobody has taken over."""
    with pooled(postgres_url, briefly=False) as (url, pooler):
        async with opened(url) as ledger:
            claim = await ledger.claim("host")
            await ledger.append(ROOM, [Scribbler().heard("one")])
            pooler.briefly = True
            pooler.part()
            assert await ledger.overtaken() is None
            with pytest.raises(LedgerError, match="Set pool_mode = session"):
                await ledger.append(ROOM, [Scribbler().heard("lost")])
            pooler.briefly = False
            pooler.part()
            await ledger.append(ROOM, [Scribbler().heard("two")])
            assert await ledger.overtaken() is None
            assert len(await ledger.read(ROOM)) == 2
            await claim.release()
