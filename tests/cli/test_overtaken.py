"""A host whose ledger another process took over, or that went back, on a real PostgreSQL: it ends."""

import asyncio
from asyncio import StreamReader as Reader
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from loopforge.errors import HostTaken
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.host_claim import HostClaim
from tests.cli.test_up_command import GUARD, HOME, command, run
from tests.ledger.saying import opened

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(GUARD)]
LET_GO = "SELECT pg_terminate_backend(pid, 9000) FROM pg_locks WHERE locktype = 'advisory'"


async def _taken(other: SqlLedger, url: str) -> HostClaim:
    """Taken over, once the host has lost its lock and does not take it again at that moment."""
    while True:
        with psycopg.connect(url) as server:
            server.execute(LET_GO)
        with suppress(HostTaken):
            return await other.claim("host")


@asynccontextmanager
async def _hosting(home: Path, *words: str) -> AsyncIterator[tuple[Process, Reader, Reader]]:
    """A host of this home that was said hello to; what it prints, and what it complains of."""
    pipe = asyncio.subprocess.PIPE
    line = command(home, "up", *words)
    host = await asyncio.create_subprocess_exec(*line, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stderr is not None
        host.stdin.write(b"hello\n")
        yield host, host.stdout, host.stderr
    finally:
        if host.returncode is None:
            host.kill()
        await host.communicate()


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", [("--headless",), ("--plain",)], ids=["headless", "plain"])
async def test_a_host_that_was_overtaken_ends_by_itself(
    words: tuple[str, ...], tmp_path: Path, postgres_url: str
) -> None:
    """With exit code 3 and a sentence, whether or not somebody sits at it; others live on."""
    (tmp_path / "loopforge.toml").write_text(f'database_url = "{postgres_url}"\n{HOME}')
    async with _hosting(tmp_path, *words) as (host, printed, complained):
        await printed.readline()  # it is open
        async with opened(postgres_url) as other:
            claim = await _taken(other, postgres_url)
            said = (await complained.read()).decode()
            assert await host.wait() == 3, said
            assert "loopforge: Another process has taken over this ledger" in said
            assert "Traceback" not in said
            assert await other.overtaken() is None
            await claim.release()


def _put_back(server: psycopg.Connection, now: str, before: str) -> None:
    """Have the database as it was before, as a standby has it that had not received all."""
    server.execute(f'ALTER DATABASE "{now}" ALLOW_CONNECTIONS false')
    server.execute("SELECT pg_terminate_backend(pid, 9000) FROM pg_stat_activity"
                   " WHERE datname = %s", (now,))  # fmt: skip
    server.execute(f'ALTER DATABASE "{now}" RENAME TO "{now}_lost"')
    server.execute(f'ALTER DATABASE "{before}" RENAME TO "{now}"')


async def test_a_host_whose_database_lost_the_newest_events_ends_by_itself(
    tmp_path: Path, postgres_url: str
) -> None:
    """With exit code 1 and a sentence; started again, it goes on with what is there."""
    (tmp_path / "loopforge.toml").write_text(f'database_url = "{postgres_url}"\n{HOME}')
    async with opened(postgres_url):
        pass
    name = str(conninfo_to_dict(postgres_url)["dbname"])
    with psycopg.connect(make_conninfo(postgres_url, dbname="postgres"), autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}_before" TEMPLATE "{name}"')
        async with _hosting(tmp_path, "--plain") as (host, printed, complained):
            while b"maya" not in (await printed.readline()).lower():
                pass
            _put_back(server, name, f"{name}_before")
            said = (await complained.read()).decode()
            assert await host.wait() == 1, said
            assert "loopforge: The database no longer has the newest events of " in said
            assert "Traceback" not in said
    again = await asyncio.to_thread(run, tmp_path, "chat", typed="hello again\n")
    assert again.returncode == 0, again.stderr
