"""MCP servers that mean ill, or are slow: what they do keeps nobody waiting, nor changes a screen."""

import asyncio
from asyncio import Event
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.tools.mcp.server_questions import MOST_QUESTIONS, question_in
from loopforge.tools.mcp.tool_listing import read_listed
from loopforge.tools.mcp.use_result import result_of
from tests.child_process import run_python
from tests.sim_clock import SimClock
from tests.tools.mcp_servers.test_mcp_servers import connection

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]


async def test_a_result_is_not_checked_by_the_schema_that_its_server_wrote(place: Path) -> None:
    """A pattern there would keep the whole home at it; what does not fit it comes, and at once."""
    one = connection(place, "barbed")
    answer = await one.call("Get-Sum", {"a": 19, "b": 23})
    await one.close()
    assert result_of(answer.result).text.endswith("42")


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("crowd", "odd says: the message has more than 10,000 parts"),
        ("bare", "^odd does not keep to the protocol: content: Field required$"),
        ("heap", "a message with more than 400,000 commas and brackets"),
    ],
)
async def test_a_message_that_is_too_much_or_none_is_refused(
    place: Path, odd: str, why: str
) -> None:
    """In a sentence without the address of a library, and as a whole: no part of it is looked at.

    Each of very many costs five errors in memory; lists without number kept the home at reading.
    """
    one = connection(place, odd)
    with pytest.raises(InputError, match=why):
        await one.call("Get-Sum", {"a": 19, "b": 23})
    if odd == "crowd":
        assert len(await one.tools()) == 12, "the server goes on"
    await one.close()


async def test_a_tool_with_a_name_that_moves_a_cursor_is_left_out(place: Path) -> None:
    """Names stand on terminals, such as in `loopforge tool check`; this one is shown in letters."""
    one = connection(place, "barbed")
    found, flaws = read_listed(await one.tools())
    await one.close()
    assert (len(found), flaws) == (12, [r"'\x1b[2Jx' is left out: nobody can read its name"])


async def test_what_nobody_can_give_is_asked_of_nobody(place: Path) -> None:
    """No address that is a program, no form that is none; of many questions there come so many."""
    one = connection(place, "prying")
    asked = (await one.call("Get-Sum", {"a": 19, "b": 23})).asked
    await one.close()
    assert len(asked) == MOST_QUESTIONS
    assert {each.message for each in asked} == {"Fine. The owner says: yes."}


async def test_a_use_that_comes_as_an_idle_one_is_ended_starts_it_anew(place: Path) -> None:
    """The end of it takes a moment, and who comes then waits for that; it was told of a failure."""
    clock, ending, may_end = SimClock(datetime(2026, 11, 23, tzinfo=UTC)), Event(), Event()
    one = connection(place, "plain", clock)
    streams = one._streams

    @asynccontextmanager
    async def slow_to_end(over: Callable[[str], None]) -> AsyncIterator[tuple[Any, Any]]:
        async with streams(over) as both:
            yield both
            ending.set()
            await may_end.wait()

    one._streams = slow_to_end
    await one.tools()
    await clock.advance(301)
    await ending.wait()
    async with BackgroundTasks() as tasks:
        use = tasks.spawn(one.tools(), "a use")
        await asyncio.wait({use}, timeout=0.1)
        may_end.set()
        assert len(await use) == 12
    await one.close()


def test_a_client_for_servers_is_loaded_beside_the_loop() -> None:
    """The first use of a server held up the home for a second."""
    program = """if True:
        import asyncio, sys, threading
        from loopforge.tools.mcp.server_connection import McpConnection
        from loopforge.runtime.system_clock import SystemClock

        loaded = []
        class Finder:
            def find_spec(self, name, *_):
                loaded.append((name.partition(".")[0], threading.current_thread().name))
        sys.meta_path.insert(0, Finder())
        def streams(_):
            raise OSError("gone")
        one = McpConnection("odd", streams, SystemClock(), seconds=1, idle=1)
        try:
            asyncio.run(one.tools())
        except Exception:
            pass
        print({where for name, where in loaded if name == "mcp"} == {"asyncio_0"})
        """
    told = run_python("-c", program, check=True, timeout=60)
    assert told.stdout.strip() == "True"


def test_a_file_that_goes_down_for_ever_asks_nothing() -> None:
    """A hundred thousand objects one in the other: it is a file like any other."""
    assert question_in(b'{"arguments":' * 100_000) is None
