"""Discord on loopback: real sockets, unmodified clients, several bots and persons in one guild.

    async def test_aria_answers(city: Twin) -> None:
        aria = city.bot("Aria")                          # an application: token, user, intents
        ben, plaza = city.person("ben"), city.channel("plaza")
        client = discord.Client(
            intents=discord.Intents.all(), guild_ready_timeout=0.05, connector=city.connector()
        )                                                # or point(city.rest, city.gateway) in
        ...  # start it with aria.token                  # a process of its own (loopback.py)
        await city.until(lambda: city.online(aria))

        line = await city.say(ben, plaza, f"{aria.mention} hello", files=[("a.txt", b"...")])
        await city.say(ben, plaza, "and you?", reply_to=line)
        await city.react(ben, line, "👍")                # edit, delete, unreact alike
        walk = await city.thread(ben, plaza, "a walk", on=line)
        post = await city.post(ben, city.forum("ideas"), "title", "text")
        await city.dm(ben, aria, "psst")

        answer = await city.slash(ben, plaza, aria, "title", {"text": "Tea"})
        answer.text, answer.ephemeral, answer.deferred
        await city.autocomplete(ben, plaza, aria, "mate", "name", "ar")
        await city.context(ben, aria, "Why?", line)

        city.faults.rate_limit("POST /channels/*/messages", retry_after=0.05)
        city.faults.fail("POST /channels/*/messages", 502, carried=True)
        city.faults.double("MESSAGE_CREATE", bot="Aria")
        await city.cut(aria, 4000)                       # it resumes; after forget(aria) it cannot
        await city.kick(aria)                            # close_dm, delete_channel, forbid alike

        await city.until(lambda: city.lines(plaza)[-1].by == "Aria")
        assert city.doubled() == []
        city.deeds("create", "edit", "delete", "typing"), city.calls
        # the fixture asserts at the end: city.deviations == []  (Discord's own schemas)

As a process: `python -m tests.discord.twin` prints its addresses as JSON (control.py, remote.py).
In tests elsewhere: `from tests.discord.conftest import city`. SimCord is the model of Discord, third
party; here stand sockets and what it lacks (town.py, rest.py, mend.py, rules.py). One guild. Fifty calls
a second and bot are served, the others get Discord's global 429; `city.refused` tells when. A route
rests after a few calls, as Discord's do, for shorter (`city.window`). Does not cover voice, sharding,
OAuth, or pictures of the CDN.
"""

from __future__ import annotations

import asyncio
import sys
from email.utils import format_datetime
from types import TracebackType

from aiohttp import TCPConnector, web

from loopforge.runtime.ports import Clock
from tests.discord import loopback
from tests.discord.cdn import serve_cdn
from tests.discord.rest import Rest


class Twin(Rest):
    """The city on two ports: TLS with Discord's names (`connector`), and plain (`rest`, `gateway`).

    Use it as an async context manager.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self._runner: web.AppRunner | None = None
        self.port = self.plain_port = 0

    @property
    def rest(self) -> str:
        """The plain address of the API, for hikari's `rest_url` and discord.py's Route.BASE."""
        return f"http://127.0.0.1:{self.plain_port}/api/v10"

    @property
    def gateway(self) -> str:
        """The plain address of the gateway."""
        return f"ws://127.0.0.1:{self.plain_port}/"

    @property
    def deviations(self) -> list[str]:
        """What Discord's schemas do not allow and allowed.py does not excuse."""
        return self.judge.deviations

    def connector(self) -> TCPConnector:
        """For one discord.Client, which closes it."""
        return loopback.connector(self.port)

    async def __aenter__(self) -> Twin:
        """Open both ports."""
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/api/v10/{tail:.*}", self._rest)
        app.router.add_get("/attachments/{tail:.*}", self._cdn)
        app.router.add_get("/", self._gateway)
        app.on_response_prepare.append(self._date)
        self._routes(app)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        secure = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=loopback.server_context())
        await secure.start()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port, self.plain_port = (address[1] for address in self._runner.addresses)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go what is held, and close."""
        self.faults.clear()
        for session in self.sessions.values():
            if session.socket is not None:
                await session.socket.ws.close(code=1001)
        await self._tasks.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _routes(self, app: web.Application) -> None:
        """More to serve; control.py adds its own."""

    def _bases(self, request: web.Request) -> tuple[str, str, str]:
        """The addresses of the CDN, the gateway and resuming, as this client reaches them."""
        if request.secure:
            return loopback.CDN, loopback.GATEWAY, loopback.RESUME
        return f"http://127.0.0.1:{self.plain_port}", self.gateway, self.gateway

    async def _date(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers["Date"] = format_datetime(self.town.clock.now(), usegmt=True)

    async def _rest(self, request: web.Request) -> web.StreamResponse:
        cdn, gateway, _ = self._bases(request)
        return await self.serve_rest(request, cdn, gateway.rstrip("/"))

    async def _gateway(self, request: web.Request) -> web.StreamResponse:
        cdn, _, resume = self._bases(request)
        return await self.serve_gateway(request, cdn, resume)

    async def _cdn(self, request: web.Request) -> web.StreamResponse:
        return await serve_cdn(self, request)


def main() -> None:
    """Serve until the end of input."""
    from tests.discord.control import serve

    asyncio.run(serve(sys.argv[2].split(",")))


if __name__ == "__main__":
    main()
