"""The benchmarks run through, also where the machine is slow and servers close what was idle."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.readers import Browser
from bench.tool_calls import TASKS, judged

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


@pytest.mark.sample(1)
@pytest.mark.xdist_group("bench")
@pytest.mark.parametrize("name", ["ledger", "turns", "web", "people"])
def test_a_benchmark_runs_through_in_small(name: str) -> None:
    """With small numbers each ends well, and prints its figures with what they are compared to."""
    line = [sys.executable, "-m", "bench", name, "--small"]
    root = Path(__file__).parent.parent
    done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" x   ") >= 5
    assert "the figures mean little" in done.stdout


def test_a_use_of_a_tool_is_judged_by_what_it_means() -> None:
    """Numbers by their value, texts by words, chains in their order; nothing wanted is nothing."""
    tasks = json.loads(TASKS.read_text("utf-8"))
    assert len(tasks) >= 120
    assert {task["kind"] for task in tasks} == {"single", "several", "chain", "tempting", "nothing"}
    wanted = [{"tool": "calculator", "given": {"expression": {"value": "391"}}}]
    for expression in ("17*23", "23 * 17", "391", "400 - 9"):
        assert judged(wanted, [("calculator", {"expression": expression})], chain=False)[1]
    assert judged(wanted, [], chain=False) == (False, False)
    assert judged(wanted, [("clock", {})], chain=False) == (False, False)
    wrong = [("calculator", {"expression": "17 + 23"})]
    assert judged(wanted, wrong, chain=False) == (True, False)
    either = [{"tool": "wikipedia", "given": {"query|title": {"words": ["slug"]}}}]
    assert judged(either, [("wikipedia", {"title": "Slugs"})], chain=False) == (True, True)
    two = [{"tool": "clock", "given": {}}, {"tool": "list_files", "given": {}}]
    used: list[tuple[str, dict[str, Any]]] = [("list_files", {}), ("clock", {"zone": "UTC"})]
    assert judged(two, used, chain=False) == (True, True)
    assert judged(two, used, chain=True) == (False, False)
    assert judged([], [], chain=False) == (True, True)
