"""The way out of the sandbox, as a program uses it that means harm."""

import asyncio
import gc
import logging
import os
from contextlib import suppress
from pathlib import Path

import pytest

from loopforge.tools.sandbox.granted_network import MOST_HELD, SOCKET, granted_network


async def _nowhere(host: str, port: int) -> None:
    raise OSError(host, port)


def held() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


async def no_more_than(before: int) -> None:
    """Until no more files are open than were; what others closed meanwhile is no matter."""
    async with asyncio.timeout(60):
        while held() > before:
            gc.collect()
            await asyncio.sleep(0.05)


async def test_a_program_holds_no_more_files_of_the_home_than_are_bounded(tmp_path: Path) -> None:
    """However many ways out it opens; whoever comes when some have ended is served."""
    many = MOST_HELD + 50
    async with granted_network(tmp_path, ["*"], _nowhere):
        before, place = held(), str(tmp_path / SOCKET)
        ways = [await asyncio.open_unix_connection(place) for _ in range(many)]
        assert await ways[-1][0].read() == b""
        assert held() - before <= many + MOST_HELD
        for _, writer in ways:
            writer.close()
        while held() > before:
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        writer.write(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 502 ")
        writer.close()


async def test_a_request_without_end_is_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no failure of the home, which would be told in its log each time."""
    async with granted_network(tmp_path, ["*"], _nowhere):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        writer.write(b"A" * 200_000)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


async def test_a_folder_in_the_place_of_the_way_out_costs_nothing(tmp_path: Path) -> None:
    """A program made one there: it held a file of the home open, and was never started again."""
    before = held()
    for _ in range(3):
        async with granted_network(tmp_path, ["*"], _nowhere):
            (tmp_path / SOCKET).unlink()
            (tmp_path / SOCKET / "within").mkdir(parents=True)
    await no_more_than(before)
