"""Serving: the application on a port, inside the loop of the host.

The socket is bound by port_binding.py, and closed by whoever had it bound. Stopping lets open
streams go at once; their browsers come again by themselves. Where the system has no file left for
another connection, the others go on, and the log says so.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import uvicorn

from loopforge.runtime.installation.process_resources import SCARCE
from loopforge.web.server.connection_limits import ConnectionLimits, SeldomLog, connection_class

WAITING = 1024
"""Connections that the system keeps for us until they are taken in."""
AT_ONCE = 64
"""Connections taken in at once; each may need a file before any that is cut off gives one back."""


class PageServer(uvicorn.Server):
    """uvicorn without its signal handlers: the host of the home ends it."""

    def __init__(self, config: uvicorn.Config, among: ConnectionLimits) -> None:
        super().__init__(config)
        self._among = among

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, with more room to wait in than is taken in at once."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING)

    async def on_tick(self, counter: int) -> bool:
        """Once a second, cut off who keeps us waiting for too long."""
        if counter % 10 == 0:
            self._among.sweep()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the program."""
        yield


class RunningServer:
    """An application being served; `stop` ends it."""

    def __init__(
        self, app: Any, found: socket.socket, among: ConnectionLimits, proxies: Sequence[str] = ()
    ) -> None:
        config = uvicorn.Config(
            app,
            http=connection_class(among),
            ws="none",
            backlog=AT_ONCE,
            log_config=None,
            log_level=logging.ERROR,  # of what strangers send, not a line each
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=bool(proxies),  # of these alone is X-Forwarded-For believed
            forwarded_allow_ips=list(proxies),
            lifespan="on",
            timeout_graceful_shutdown=2,
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=65_536,
        )
        self._server, self._socket = PageServer(config, among), found
        self._before: Any = None
        self._scarce = SeldomLog(
            among.clock, "No file is left for another connection; see `ulimit -n`"
        )

    async def run(self) -> None:
        """Serve until `stop`."""
        loop = asyncio.get_running_loop()
        self._before = loop.get_exception_handler()
        loop.set_exception_handler(self._failed)
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            loop.set_exception_handler(self._before)

    def stop(self) -> None:
        """Answer no more."""
        self._server.should_exit = True

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What failed in the loop with nobody to hear of it; a lack of files comes in hundreds."""
        error = context.get("exception")
        if "socket" in context and isinstance(error, OSError) and error.errno in SCARCE:
            self._scarce.say()
        elif self._before is not None:
            self._before(loop, context)
        else:
            loop.default_exception_handler(context)
