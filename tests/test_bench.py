"""The benchmarks run through, also where the machine is slow and servers close what was idle."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from bench.readers import Browser

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def test_a_connection_that_was_closed_meanwhile_is_opened_anew() -> None:
    """What a benchmark asks is answered, though the server closes each connection after an answer."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0])
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        browser = Browser(server.sockets[0].getsockname()[1])
        found = [await browser.get(f"/{nth}") for nth in range(3)]
        found += await asyncio.gather(browser.get("/3"), browser.get("/4"))
        browser.close()
    assert found == [b"ok"] * 5
    assert asked == [f"GET /{nth} HTTP/1.1".encode() for nth in range(5)]


async def test_a_server_that_never_answers_is_an_error() -> None:
    """A server that hangs up at once, also on a new connection, is told and not asked for ever."""

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        browser = Browser(server.sockets[0].getsockname()[1])
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await browser.get("/")


@pytest.mark.xdist_group("bench")
@pytest.mark.parametrize("name", ["ledger", "web"])
def test_a_benchmark_runs_through_in_small(name: str) -> None:
    """With small numbers each ends well, and prints its figures with what they are compared to."""
    line = [sys.executable, "-m", "bench", name, "--small"]
    root = Path(__file__).parent.parent
    done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" x   ") >= 5
    assert "the figures mean little" in done.stdout
