"""A network to PostgreSQL that is lost silently: sockets stay open, and nothing comes through."""

import asyncio
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from loopforge.errors import Conflict, LedgerError
from loopforge.ledger.database.liveness_probe import ImpatientConnection
from tests.ledger.saying import ROOM, Scribbler, opened
from tests.postgres import Cluster

pytestmark = pytest.mark.postgres


class Network:
    """What lies between a ledger and PostgreSQL; lines that it loses are lost for good.

    They are as soon as something with the words of `loses` is to pass; while it is `blind`, nothing
    passes on new ones either.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.loses, self.blind = b"", False
        self.lost, self._over = threading.Event(), threading.Event()
        self._server, self._lost, self.came = server, 0, 0
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / ".s.PGSQL.5432"))
        self._door.listen()
        self._ends = [self._door]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Be no more."""
        self._over.set()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                self.came += 1
                server = socket.socket(socket.AF_UNIX)
                self._ends += (client, server)
                server.connect(str(self._server))
                line = -1 if self.blind else self._lost
                for way in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(*way, line), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, line: int) -> None:
        with suppress(OSError), source, to:
            while data := source.recv(65536):
                if line == self._lost:
                    if self.loses and self.loses in data:
                        self.loses, self._lost = b"", self._lost + 1
                        self.lost.set()
                        continue
                    to.sendall(data)
            if line != self._lost:
                self._over.wait()  # nor does the server hear of the end
            to.shutdown(socket.SHUT_WR)


@pytest.fixture
def network(postgres_url: str) -> Iterator[Network]:
    """The network of this test's ledger, which looks every moment whether it is there."""
    near = Path(tempfile.mkdtemp(prefix="lf-"))  # short: a socket's path has 107 bytes
    found = Network(near, Path(postgres_url.partition("host=")[2]) / ".s.PGSQL.5432")
    yield found
    found.close()
    shutil.rmtree(near)


@pytest.fixture
def url(postgres_url: str, network: Network, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test's ledger by that network."""
    monkeypatch.setattr(ImpatientConnection, "quiet", 0.3)
    near = Path(network._door.getsockname()).parent
    return f"{postgres_url.partition('host=')[0]}host={near}&connect_timeout=2"


ASKED, ANSWERED = b"COMMIT", b"COMMIT\x00Z"
"""The word as it is sent first, and as the server says that it is done."""


@pytest.mark.parametrize("words", [b"INSERT INTO events", ASKED, ANSWERED])
async def test_what_was_being_written_is_written_once(
    words: bytes, url: str, network: Network
) -> None:
    """Whatever was under way as the network was lost, it goes on over a new line, by itself."""
    scribbler = Scribbler()
    async with opened(url) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        network.loses = words
        await ledger.append(ROOM, [scribbler.heard("two")])
        assert network.lost.is_set()
        assert len(await ledger.read(ROOM)) == 2
        assert (await ledger.verify()).sound


async def test_a_network_that_is_lost_at_once_is_told(url: str, network: Network) -> None:
    """Also where that happens while a session is being begun."""
    network.loses = b"lock_timeout"
    with pytest.raises(LedgerError, match="cannot be reached"):
        async with opened(url):
            pass
    async with opened(url) as ledger:
        await ledger.append(ROOM, [Scribbler().heard("one")])


async def test_a_network_that_stays_away_is_told(url: str, network: Network) -> None:
    """While nobody gets through, writing and reading say so; once somebody does, they work."""
    scribbler = Scribbler()
    async with opened(url) as ledger:
        await ledger.append(ROOM, [scribbler.heard("one")])
        network.loses, network.blind = b"SELECT", True
        both = (ledger.read(ROOM), ledger.append(ROOM, [scribbler.heard("two")]))
        for told in await asyncio.gather(*both, return_exceptions=True):
            assert isinstance(told, LedgerError)
            assert "cannot be reached" in str(told)
        network.blind = False
        await ledger.append(ROOM, [scribbler.heard("two")])
        assert len(await ledger.read(ROOM)) == 2


async def test_who_cannot_ask_what_is_there_is_told(url: str, network: Network) -> None:
    """The network is lost between a refusal and the question what is there: writing goes on."""
    fact, more = Scribbler().heard("one"), Scribbler().heard("two")
    async with opened(url) as ledger:
        await ledger.append(ROOM, [fact])
        network.loses, network.blind = b"SELECT id FROM events", True
        with pytest.raises(LedgerError, match="cannot be reached"):
            await ledger.append(ROOM, [fact])
        network.blind = False
        with pytest.raises(Conflict, match="in the ledger already"):
            await ledger.append(ROOM, [fact])
        await ledger.append(ROOM, [more])
        assert len(await ledger.read(ROOM)) == 2


async def test_not_everybody_finds_out_alone(url: str, network: Network) -> None:
    """While nobody gets through few try, and the others are told at once what those found."""
    async with opened(url) as ledger:
        network.loses, network.blind = b"SELECT", True
        with pytest.raises(LedgerError):
            await ledger.read(ROOM)
        network.came = 0
        many = (ledger.read(ROOM) for _ in range(8))
        for told in await asyncio.gather(*many, return_exceptions=True):
            assert "cannot be reached" in str(told)
        assert network.came < 5
        network.blind = False
        assert await ledger.read(ROOM) == []


@pytest.mark.parametrize("open", [True, False])
async def test_what_takes_long_is_waited_for(open: bool, url: str, postgres: Cluster) -> None:
    """A server that works, however long, is not left; nor one that lets nobody else in."""
    name = url.partition("@/")[2].partition("?")[0]
    async with opened(url) as ledger:
        await ledger.read(ROOM)
        postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {open}")
        try:
            slow = "SELECT 1 FROM pg_sleep(1.5)"
            assert await ledger.look(lambda found: found.exec_driver_sql(slow).scalar_one()) == 1
        finally:
            postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
