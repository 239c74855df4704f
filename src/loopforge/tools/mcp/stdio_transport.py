"""Messages of an MCP server by the pipes of a program in the sandbox: one line of JSON each.

Takes the place of the SDK's own transport, which starts programs unconfined and, where one floods
it with rubbish, holds up everything else. Lines that are no message are passed over, as long as
there are few of them; more messages than a second may bring wait in the pipe, so that it is the
server that waits; a line without end is the end of the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.mind_containment import bounded_text
from loopforge.tools.mcp.message_bounds import MOST_SIGNS, TOO_MANY, signs_of
from loopforge.tools.sandbox.bubblewrap import Sandbox
from loopforge.tools.sandbox.confined_process import ConfinedServer, confined_server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

RUBBISH = 100
"""Lines that are no message, from which on a server is ended."""
BURST, PAUSE = 200, 0.5
"""Messages that are taken at once, and seconds until more are."""
LENGTHY = 20_000
"""Bytes that count as one message more: of the longest a few hold up everything for as long."""


@asynccontextmanager
async def confined_streams(
    sandbox: Sandbox, command: Sequence[str], over: Callable[[str], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams that a session of the SDK reads and writes; `over` hears why it ended."""
    import anyio
    from mcp.shared.message import SessionMessage

    heard: tuple[MemoryObjectSendStream[Any], MemoryObjectReceiveStream[Any]]
    heard = anyio.create_memory_object_stream[Any](0)
    told = anyio.create_memory_object_stream[SessionMessage](0)
    # All four ends are closed here too: a task that is cancelled before its first step closes none.
    async with (
        heard[0],
        heard[1],
        told[0],
        told[1],
        confined_server(sandbox, command) as server,
        BackgroundTasks() as tasks,
    ):
        tasks.spawn(_hear(server, heard[0], over), "what an MCP server says")
        tasks.spawn(_tell(server, told[1]), "what an MCP server is told")
        yield heard[1], told[0]


async def _hear(server: ConfinedServer, out: Any, over: Callable[[str], None]) -> None:
    from anyio import BrokenResourceError
    from mcp.shared.message import SessionMessage

    rubbish = taken = 0
    async with out:
        while True:
            try:
                line = await server.stdout.readline()
            except ValueError:
                over("it wrote a line that is too long to be a message")
                return
            if not line.endswith(b"\n"):
                await server.wait()
                over(_why(server))
                return
            if signs_of(line) > MOST_SIGNS:
                over(TOO_MANY)
                return
            message = _read(line)
            if message is None:
                message = _read(_whole(line))
            if message is None:
                rubbish += bool(line.strip())
                if rubbish >= RUBBISH:
                    over(f"it writes what is no MCP: {bounded_text(line.decode(errors='replace'))}")
                    return
            else:
                try:
                    await out.send(SessionMessage(message))
                except BrokenResourceError:  # the session is over; this server is ending
                    return
            taken += 1 + len(line) // LENGTHY
            if taken >= BURST:
                taken = 0
                await asyncio.sleep(PAUSE)


def _read(line: bytes) -> Any:
    """The message that a line is; None for none."""
    from mcp.types import jsonrpc_message_adapter
    from pydantic import ValidationError

    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None


def _whole(line: bytes) -> bytes:
    """The line without halves of letters: a server that cuts its texts by length sends some."""
    try:
        read = json.loads(line.decode("utf-8", "replace"))
        return json.dumps(read, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return line


async def _tell(server: ConfinedServer, what: Any) -> None:
    async with what:
        async for message in what:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            with suppress(OSError):  # it ended, as is heard there
                server.stdin.write(line.encode() + b"\n")
                await server.stdin.drain()


def _why(server: ConfinedServer) -> str:
    """Why a server is there no more."""
    if server.met:
        return f"it used more {server.met} than it may"
    last = server.complaints.decode(errors="replace").strip().splitlines()[-1:]
    said = f": {bounded_text(last[0])}" if last else ""
    return f"it ended{'' if server.code() is None else f' with code {server.code()}'}{said}"
