"""The port of the web room."""

import asyncio
import socket

import pytest

from loopforge.errors import BadSettings
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


def test_a_port_that_is_taken_is_told_wherever_it_was_set() -> None:
    """The sentence names the setting and no file, for a variable may have set it."""
    with bind_listening_socket("127.0.0.1", 0, exactly=True) as found:
        port = found.getsockname()[1]
        with pytest.raises(BadSettings) as told:
            bind_listening_socket("127.0.0.1", port, exactly=True)
    assert str(told.value) == f"Port {port} is taken. Set `web_port` to another, or 0 for any."
