"""The port of the web room."""

import asyncio
import socket

from loopforge.web.server.port_binding import bind_listening_socket


async def test_answers_go_out_at_once() -> None:
    """Connections to a bound port do not gather small pieces (which costs 40 ms an answer)."""
    delays: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def met(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found = writer.get_extra_info("socket")
        delays.set_result(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    found = bind_listening_socket("127.0.0.1", 0, exactly=True)
    async with await asyncio.start_server(met, sock=found):
        _, writer = await asyncio.open_connection(*found.getsockname())
        assert await delays
        writer.close()
