"""MCP servers elsewhere: the official SDK's own server, by streamable HTTP over real sockets."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.mcp.server_connection import McpConnection
from loopforge.tools.mcp.server_options import read_server
from loopforge.tools.mcp.server_tools import server_streams
from loopforge.tools.mcp.use_result import result_of

ours = MCPServer("ours")
STANDS, WAVED = asyncio.Event(), asyncio.Event()


class Colour(BaseModel):
    """What is asked for."""

    colour: str


@ours.tool(annotations=ToolAnnotations(read_only_hint=True))
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@ours.tool()
async def flood() -> str:
    """Give far more than anybody asked for."""
    return "x" * 9_000_000


@ours.tool()
async def paint(ctx: Context) -> str:
    """Paint the town in a colour that people are asked for."""
    return (await ctx.elicit("Which colour?", Colour)).action


@ours.tool()
async def stand() -> str:
    """Stand there until somebody waves."""
    STANDS.set()
    await WAVED.wait()
    return "Stood."


@ours.tool()
async def tired() -> str:
    """Say what somebody behind it said."""
    raise MCPError(-32001, "the one behind timed out")


@asynccontextmanager
async def served(app: ASGIApp | None = None, port: int = 0) -> AsyncIterator[str]:
    """The server on loopback: where it is."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        config = uvicorn.Config(app or ours.streamable_http_app(), log_config=None)
        server = uvicorn.Server(config)
        async with BackgroundTasks() as tasks:
            running = tasks.spawn(server.serve(sockets=[door]), "an MCP server")
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
            server.should_exit = True
            await running


def connected(place: Path, url: str) -> McpConnection:
    """A connection with a key that goes in a header."""
    written = {"url": url, "headers": {"Authorization": "Bearer ${KEY}"}}
    server = read_server("ours", written, {"KEY": "k-123"}).filled({"KEY": "k-123"})
    streams = server_streams(place, "ours", server)
    return McpConnection("ours", streams, SystemClock(), seconds=60, idle=300)


@pytest.mark.timeout(120)
async def test_a_server_elsewhere_is_used(tmp_path: Path) -> None:
    """Listed and used; too much, a wrong address, an older way and nobody there are errors in words."""
    async with served() as at:
        one = connected(tmp_path, f"{at}/mcp")
        assert [tool.name for tool in await one.tools()] == [
            "add",
            "flood",
            "paint",
            "stand",
            "tired",
        ]
        assert result_of((await one.call("add", {"a": 19, "b": 23})).result).text.endswith("42")
        with pytest.raises(InputError, match="the answer has more than 8,388,608 bytes"):
            await one.call("flood", {})
        with pytest.raises(InputError, match="ours says: the one behind timed out"):
            await one.call("tired", {})
        assert result_of((await one.call("add", {"a": 1, "b": 2})).result).text.endswith("3")
        await one.close()
        lost = connected(tmp_path, f"{at}/elsewhere")
        with pytest.raises(InputError, match="did not start: Not Found"):
            await lost.tools()
        await lost.close()
    async with served(Starlette(routes=[Route("/sse", Response(), methods=["GET"])])) as older:
        lost = connected(tmp_path, f"{older}/sse")
        with pytest.raises(InputError, match=r"405 .*: it may speak the older way, SSE"):
            await lost.tools()
        await lost.close()
    gone = connected(tmp_path, f"{at}/mcp")
    with pytest.raises(InputError, match=r"did not start: 127\.0\.0\.1 cannot be reached"):
        await gone.tools()
    await gone.close()


async def test_a_key_that_is_not_taken_is_told_with_what_to_do(tmp_path: Path) -> None:
    """At its start, and where the key is taken back while it runs."""
    taken = [True]

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if taken[0] or scope["type"] != "http":
            await app(scope, receive, send)
        else:
            await PlainTextResponse("no", status_code=401)(scope, receive, send)

    app = ours.streamable_http_app()
    async with served(door) as at:
        one = connected(tmp_path, f"{at}/mcp")
        await one.tools()
        taken[0] = False
        for what in ("is gone", "did not start"):
            with pytest.raises(InputError, match=rf"{what}: it answered 401.*look at \[headers\]"):
                await one.call("add", {"a": 19, "b": 23})
            while str(one.state) != "idle":
                await asyncio.sleep(0.01)
        taken[0] = True
        assert len(await one.tools()) == 5
        await one.close()


async def test_one_that_has_people_sign_in_by_a_browser_says_so(tmp_path: Path) -> None:
    """By OAuth, as its answer tells: then no key of the file is the one that it wants."""
    sign = {"www-authenticate": 'Bearer resource_metadata="https://mcp.example.org/.well-known/x"'}

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("no", 401, sign)(scope, receive, send)

    async with served(door) as at:
        one = connected(tmp_path, f"{at}/mcp")
        with pytest.raises(
            InputError, match=r"answered 401, and has people sign in .*give you a token"
        ):
            await one.tools()
        await one.close()


async def test_one_that_was_started_anew_is_used_in_a_new_session(tmp_path: Path) -> None:
    """One that knows no session for long, is away for one use, or busy: told, and the next goes.

    It speaks the protocol of before 2026, which has sessions.
    """
    now = ""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal now
        if scope["type"] != "http":
            return await app(scope, receive, send)
        first = await receive()
        again = [first]

        async def received() -> Message:
            return again.pop() if again else await receive()

        if b'"server/discover"' in first.get("body", b""):
            return await PlainTextResponse("no", status_code=400)(scope, received, send)
        if b'"tools/call"' in first.get("body", b"") and now == "busy":
            return await PlainTextResponse("no", status_code=503)(scope, received, send)
        if b'"tools/call"' in first.get("body", b"") and now == "packed":
            packed = gzip.compress(b"y" * 9_000_000)
            headers = {"content-type": "application/json", "content-encoding": "gzip"}
            return await Response(packed, headers=headers)(scope, received, send)
        if now in ("forgetful", "restarted"):
            now = "" if now == "restarted" else now
            named = [pair for pair in scope["headers"] if pair[0] != b"mcp-session-id"]
            session = [(b"mcp-session-id", b"0" * 32)] * (len(named) < len(scope["headers"]))
            scope = {**scope, "headers": named + session}
        return await app(scope, received, send)

    app = ours.streamable_http_app()
    async with served(door) as at:
        one = connected(tmp_path, f"{at}/mcp")
        await one.tools()
        for now, why in (
            ("forgetful", "ours is gone: it knows nothing of this session any more"),
            ("busy", r"ours says: it answered 503 \(Service Unavailable\)"),
            ("packed", "ours says: the answer has more than 8,388,608 bytes"),
        ):
            with pytest.raises(InputError, match=why):
                await one.call("add", {"a": 1, "b": 2})
            now = ""
            assert result_of((await one.call("add", {"a": 1, "b": 2})).result).text.endswith("3")
        now = "restarted"
        assert result_of((await one.call("add", {"a": 1, "b": 2})).result).text.endswith("3")
        port = int(at.rpartition(":")[2])
    with pytest.raises(InputError, match=r"ours is gone: 127\.0\.0\.1 cannot be reached"):
        await one.call("add", {"a": 1, "b": 2})
    async with served(port=port):
        assert result_of((await one.call("add", {"a": 1, "b": 2})).result).text.endswith("3")
        await one.close()


async def test_a_question_that_may_be_of_another_use_is_not_lost_unsaid(tmp_path: Path) -> None:
    """A server of before 2026 does not say whose it is: alone it is put, amid others that is told."""

    async def old(scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive() if scope["type"] == "http" else {}
        again = [first] if first else []

        async def received() -> Message:
            return again.pop() if again else await receive()

        modern = b'"server/discover"' in first.get("body", b"")
        await (PlainTextResponse("no", 400) if modern else app)(scope, received, send)

    app = ours.streamable_http_app()
    async with served(old) as at, BackgroundTasks() as tasks:
        one = connected(tmp_path, f"{at}/mcp")
        assert [each.message for each in (await one.call("paint", {})).asked] == ["Which colour?"]
        standing = tasks.spawn(one.call("stand", {}), "another use")
        await STANDS.wait()
        told = result_of((await one.call("paint", {})).result).text
        assert "cancel\n(The server asked people for something while more than one" in told
        WAVED.set()
        assert "Stood." in result_of((await standing).result).text
        await one.close()


async def test_one_that_asks_people_in_the_older_way_is_spoken_to_so(tmp_path: Path) -> None:
    """The SDK's `ctx.elicit` has no way to people by the newest protocol: the next use has one."""
    async with served() as at:
        one = connected(tmp_path, f"{at}/mcp")
        assert result_of((await one.call("add", {"a": 1, "b": 2})).result).text.endswith("3")
        with pytest.raises(InputError, match="ours asks people as servers of before 2026 do"):
            await one.call("paint", {})
        assert [each.message for each in (await one.call("paint", {})).asked] == ["Which colour?"]
        await one.close()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_message_that_is_read_for_seconds_is_refused(
    tmp_path: Path, kind: str, packed: bool
) -> None:
    """Lists without number in an answer, or in one event of it, kept the whole home at reading them."""

    async def heap(scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = [(b"content-type", kind.encode())]
        headers += [(b"content-encoding", b"gzip")] if packed else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        lists = b"[]," * 700_000
        body = b'data: {"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":[' + lists + b"1]}}}\n\n"
        body = body if "event" in kind else body.removeprefix(b"data: ")
        body = gzip.compress(body) if packed else body
        await send({"type": "http.response.body", "body": body})

    async with served(heap) as at:
        one = connected(tmp_path, f"{at}/mcp")
        with pytest.raises(
            InputError, match="a message with more than 400,000 commas and brackets"
        ):
            await one.tools()
        await one.close()
