"""Proxies on loopback that find the way to one port, whichever host they are asked for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from loopforge.runtime.background_tasks import BackgroundTasks

ANA = "Basic YW5hOnNlY3JldA=="
"""Ana, whose password is secret: the only one whom the http proxy serves."""
Greet = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[str]]


async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    """Who is asked for by CONNECT; "" for somebody who is not Ana."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    if f"Proxy-Authorization: {ANA}" not in head:
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        return ""
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    return head.split()[1].partition(":")[0]


async def socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    """Who is asked for by SOCKS 5, by name."""
    await reader.readexactly((await reader.readexactly(2))[1])
    writer.write(b"\x05\x00")
    host = await reader.readexactly((await reader.readexactly(5))[4])
    await reader.readexactly(2)
    writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
    return host.decode()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on what comes, until nothing more does."""
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def proxy(greet: Greet, port: int) -> AsyncIterator[tuple[int, list[str]]]:
    """A proxy that greets so; its port, and which hosts it was asked for."""
    asked, tasks = list[str](), BackgroundTasks()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not (host := await greet(reader, writer)):
            writer.close()
            return
        asked.append(host)
        there, back = await asyncio.open_connection("127.0.0.1", port)
        tasks.spawn(_pump(there, writer), "back from there")
        tasks.spawn(_pump(reader, back), "on its way there")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()
        await tasks.close()
