"""Whoever receives a webhook, on loopback: keeps what was signed rightly, and does wrong as told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

from aiohttp import web

from loopforge.runtime.system_clock import SystemClock
from loopforge.sinks.webhook_signature import checked
from tests.listening import listening

Fault = Literal["reset", "late reset", "hold", "drip"] | int
"""The connection is cut before or after it is kept, it is kept and never answered, or a status.

"drip": it is kept, and answered without end.
"""


class Receiver:
    """What came, in order; `fault` says of each body what goes wrong with it."""

    def __init__(self, secrets: list[str]) -> None:
        self.secrets, self.address = secrets, ""
        self.got: list[dict[str, Any]] = []
        self.unsigned = 0
        self.asked = 0
        self.headers = dict[str, str]()
        self.fault: Callable[[dict[str, Any]], Fault | None] = lambda _: None
        self.now: Callable[[], float] = lambda: SystemClock().now().timestamp()
        self.kept = asyncio.Condition()

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Take one in."""
        body = await request.read()
        self.asked += 1
        headers = {key.lower(): value for key, value in request.headers.items()}
        if self.secrets and checked(headers, body, self.secrets, self.now()) is None:
            self.unsigned += 1
            return web.Response(status=401)
        what = json.loads(body)
        fault = self.fault(what)
        if isinstance(fault, int):
            return web.Response(status=fault, headers=self.headers)
        if fault != "reset":
            async with self.kept:
                self.got.append(what)
                self.kept.notify_all()
        if fault == "drip":
            answer = web.StreamResponse()
            await answer.prepare(request)
            with suppress(ConnectionError):
                while True:
                    await answer.write(b"y")
                    await asyncio.sleep(0.01)
            return answer
        if fault is not None and fault != "hold":
            assert request.transport
            request.transport.abort()
        if fault == "hold":
            await asyncio.Event().wait()
        return web.Response(status=204)

    async def until(self, right: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Wait until what was kept is as it is to be."""
        async with self.kept:
            await self.kept.wait_for(lambda: right(self.got))

    def places(self, stream: str) -> list[int]:
        """The places in a stream of what was kept of it, as it came."""
        return [int(each["sequence"]) for each in self.got if each["subject"] == stream]


@asynccontextmanager
async def receiving(*secrets: str) -> AsyncIterator[Receiver]:
    """One that listens."""
    receiver = Receiver(list(secrets))
    app = web.Application()
    app.router.add_post("/events", receiver.take)
    async with listening(app) as url:
        receiver.address = f"{url}/events"
        yield receiver
