"""A server that writes down voice notes, on loopback, and takes nothing that OpenAI would not.

It wants a multipart form with a file whose name ends as OpenAI's documentation lists, whose bytes
begin as such a file does, of at most 25 MB, and a model that it has. What it does beside that is
said beforehand, one answer after the other.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.listening import form_parts, listening

OGG = b"OggS\0\2" + b"\0" * 400
"""What begins as a voice note of Telegram or Discord does."""
MODEL, KEY = "whisper-1", "sk-of-the-hearing-server"
LARGEST = 25 * 1024 * 1024
BEGINNINGS = {
    "ogg": b"OggS",
    "mp3": b"ID3",
    "wav": b"RIFF",
    "webm": b"\x1a\x45\xdf\xa3",
    "flac": b"fLaC",
    "m4a": b"\0\0\0",
}


@dataclass(frozen=True)
class Reply:
    """One answer: a status with a body, after a wait until `held` is set (for ever, if never)."""

    status: int = 200
    body: bytes | dict[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()
    held: asyncio.Event | None = None


def heard(text: str, **usage: Any) -> Reply:
    """What is said in the note."""
    return Reply(body={"text": text, **({"usage": usage} if usage else {})})


@dataclass
class Hearing:
    """The server: what it is to answer, and what it was asked. With no answer left it says `last`."""

    address: str = ""
    replies: list[Reply] = field(default_factory=list)
    last: Reply = field(default_factory=lambda: heard("Maya, how warm is the oven?"))
    asked: list[dict[str, bytes]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.Response:
        """One request."""
        if request.method == "GET":  # servers of one's own are asked what they have
            return web.Response(status=404)
        reply = await self._judged(request)
        self.begun.set()
        if reply.held is not None:
            await reply.held.wait()
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {"Content-Type": "application/json", **dict(reply.headers)}
        return web.Response(status=reply.status, body=data, headers=headers)

    async def _judged(self, request: web.Request) -> Reply:
        """The answer; what OpenAI would not take is remembered, and refused as it does."""
        if request.path != "/v1/audio/transcriptions":
            return self._no(404, f"Invalid URL ({request.method} {request.path})")
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return self._no(401, "Incorrect API key provided")
        if request.content_type != "multipart/form-data":
            return self._no(415, "Expected multipart/form-data")
        parts = await form_parts(request)
        form = {part.name: part.data for part in parts}
        (named,) = [part.filename for part in parts if part.filename is not None]
        self.asked.append(form | {"filename": named.encode()})
        data, ending = form["file"], named.rpartition(".")[2]
        if form.get("model") != MODEL.encode():
            return self._no(404, "The model does not exist")
        if len(data) > LARGEST:
            return self._no(413, "Maximum content size limit (26214400) exceeded")
        if not data.startswith(BEGINNINGS.get(ending, b"?")):
            return self._no(400, "Unrecognized file format.")
        return self.replies.pop(0) if self.replies else self.last

    def _no(self, status: int, why: str) -> Reply:
        self.wrong.append(why)
        return Reply(status, {"error": {"message": why, "type": "invalid_request_error"}})


@asynccontextmanager
async def hearing() -> AsyncIterator[Hearing]:
    """The server, until the block ends; whoever still waits for an answer gets none."""
    made = Hearing()
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", made.answer)
    async with listening(app) as url:
        made.address = f"{url}/v1"
        yield made
