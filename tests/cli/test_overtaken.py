"""A host whose ledger another process took over, on a real PostgreSQL: it ends, and says why."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from loopforge.errors import HostTaken
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.host_claim import Claim
from tests.cli.test_up_command import GUARD, HOME, command
from tests.ledger.saying import opened

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(GUARD)]
LET_GO = "SELECT pg_terminate_backend(pid, 9000) FROM pg_locks WHERE locktype = 'advisory'"


async def _taken(other: SqlLedger, url: str) -> Claim:
    """Taken over, once the host has lost its lock and does not take it again at that moment."""
    while True:
        with psycopg.connect(url) as server:
            server.execute(LET_GO)
        with suppress(HostTaken):
            return await other.claim("host")


@pytest.mark.parametrize("words", [("--headless",), ("--plain",)], ids=["headless", "plain"])
async def test_a_host_that_was_overtaken_ends_by_itself(
    words: tuple[str, ...], tmp_path: Path, postgres_url: str
) -> None:
    """With exit code 3 and a sentence, whether or not somebody sits at it; others live on."""
    (tmp_path / "loopforge.toml").write_text(f'database_url = "{postgres_url}"\n{HOME}')
    pipe = asyncio.subprocess.PIPE
    line = command(tmp_path, "up", *words)
    host = await asyncio.create_subprocess_exec(*line, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stderr is not None
        host.stdin.write(b"hello\n")
        await host.stdout.readline()  # it is open
        async with opened(postgres_url) as other:
            claim = await _taken(other, postgres_url)
            said = (await host.stderr.read()).decode()
            assert await host.wait() == 3, said
            assert "loopforge: Another process has taken over 'host'" in said
            assert "Traceback" not in said
            assert await other.overtaken() is None
            await claim.release()
    finally:
        if host.returncode is None:
            host.kill()
        await host.communicate()
