"""The twin as a process of its own: `python -m tests.discord.twin --bots Aria,Bram`.

It prints one line of JSON (`rest`, `gateway`, `control`, and each bot's token) and serves until its
input ends. `POST /control/{verb}` with JSON (names, and a list `args`) does what the twin's method
of that name does and returns its result as JSON; bots, persons and channels are given by name,
lines by id. Gates cannot be held from another process: `slow` is there for that.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from tests.discord.twin import Twin
from tests.discord.words import plain

DOES = ("say", "react", "unreact", "thread", "dm", "cut", "forget", "reconnect")
KNOWS = ("person", "channel", "lines", "online")
FAULTS = ("rate_limit", "fail", "lose", "slow", "double", "swap", "spoil")


class Controlled(Twin):
    """A twin that another process tells what to do."""

    def _routes(self, app: web.Application) -> None:
        app.router.add_route("*", "/control/{verb}", self._control)

    async def _control(self, request: web.Request) -> web.StreamResponse:
        verb, more = request.match_info["verb"], await request.json()
        args = more.pop("args")
        try:
            made = await self._do(verb, args, more)
        except Exception as error:  # the other process is told, whatever it was
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response(plain(made))

    async def _do(self, verb: str, args: list[Any], more: dict[str, Any]) -> Any:
        if verb in DOES:
            return await getattr(self, verb)(*args, **more)
        if verb in KNOWS:
            return getattr(self, verb)(*args, **more)
        if verb in FAULTS:
            getattr(self.faults, verb)(*args, **more)
            return None
        raise web.HTTPNotFound


async def serve(bots: Sequence[str]) -> None:
    """Serve until the end of input."""
    async with Controlled() as twin:
        made = {
            "rest": twin.rest,
            "gateway": twin.gateway,
            "control": f"http://127.0.0.1:{twin.plain_port}/control",
            "tokens": {name: twin.bot(name).token for name in bots},
        }
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
