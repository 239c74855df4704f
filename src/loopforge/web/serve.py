"""Serving: the application on a port, inside the loop of the host.

The socket is bound by port.py, and closed by whoever had it bound. Stopping lets open streams go at
once; their browsers come again by themselves.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn


class Server(uvicorn.Server):
    """uvicorn without its signal handlers: the host of the home ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the program."""
        yield


class Serving:
    """An application being served; `stop` ends it."""

    def __init__(self, app: Any, found: socket.socket) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=2,
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=65_536,
        )
        self._server, self._socket = Server(config), found

    async def run(self) -> None:
        """Serve until `stop`."""
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Answer no more."""
        self._server.should_exit = True
