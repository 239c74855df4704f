"""The twin as a process of its own: `python -m tests.discord.twin --bots Aria,Bram --persons ben`.

It prints one line of JSON (`rest`, `gateway`, `control`, and each bot's token, ids of channels) and
serves until its input ends. `POST /control/{verb}` with JSON (names, and a list `args`) does what
the twin's method of that name does and returns its result as JSON; bots, persons and channels are
given by name, lines by id, files as [name, base64]. Records are read so too: lines, deeds, calls,
doubled, deviations. Gates cannot be held from another process: `slow` is there for that.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from tests.discord.commands import Answer
from tests.discord.twin import Twin
from tests.discord.words import plain

DOES = [
    "say",
    "edit",
    "delete",
    "react",
    "unreact",
    "typing",
    "thread",
    "post",
    "archive",
    "rename",
    "dm",
    "close_dm",
    "kick",
    "invite",
    "leave",
    "delete_channel",
    "forbid",
    "allow",
    "slash",
    "autocomplete",
    "context",
    "cut",
    "forget",
    "reconnect",
]
MAKES = ("bot", "person", "channel", "forum")
FAULTS = (
    "rate_limit",
    "fail",
    "lose",
    "refuse",
    "slow",
    "double",
    "swap",
    "drop",
    "spoil",
    "clear",
)
READS = ("lines", "deeds", "calls", "doubled", "deviations", "online", "resumed", "identified")


class Controlled(Twin):
    """A twin that another process tells what to do."""

    def _routes(self, app: web.Application) -> None:
        app.router.add_route("*", "/control/{verb}", self._control)

    async def _control(self, request: web.Request) -> web.StreamResponse:
        verb = request.match_info["verb"]
        told = await request.json() if request.can_read_body else {}
        args, more = told.pop("args", []), told
        if "files" in more:
            more["files"] = [(name, base64.b64decode(data)) for name, data in more["files"]]
        try:
            made = await self._do(verb, args, more)
        except Exception as error:  # the other process is told, whatever it was
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
        return web.json_response(plain(made.plain() if isinstance(made, Answer) else made))

    async def _do(self, verb: str, args: list[Any], more: dict[str, Any]) -> Any:
        if verb in DOES:
            return await getattr(self, verb)(*args, **more)
        if verb in FAULTS:
            getattr(self.faults, verb)(*args, **more)
            return None
        if verb in MAKES:
            return getattr(self, verb)(*args, **more)
        if verb in READS:
            found = getattr(self, verb)
            return found(*args, **more) if callable(found) else found
        raise web.HTTPNotFound


async def serve(bots: Sequence[str], persons: Sequence[str], channels: Sequence[str]) -> None:
    """Serve until the end of input."""
    async with Controlled() as twin:
        made = {
            "rest": twin.rest,
            "gateway": twin.gateway,
            "control": f"http://127.0.0.1:{twin.plain_port}/control",
            "guild": twin.guild.id,
            "tokens": {name: twin.bot(name).token for name in bots},
            "persons": {name: twin.person(name).id for name in persons},
            "channels": {name: twin.channel(name).id for name in channels},
        }
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


def run(argv: Sequence[str] | None = None) -> None:
    """Read the arguments, and serve."""
    parser = argparse.ArgumentParser(description="Discord on loopback")
    for name in ("bots", "persons", "channels"):
        parser.add_argument(f"--{name}", default="", type=lambda text: text.split(","))
    told = parser.parse_args(argv)
    lists = ([one for one in getattr(told, n) if one] for n in ("bots", "persons", "channels"))
    asyncio.run(serve(*lists))
