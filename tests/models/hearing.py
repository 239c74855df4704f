"""A server that writes down voice notes, on loopback, and takes nothing that OpenAI would not.

It wants a multipart form with a file whose name ends as OpenAI's documentation lists, whose bytes
begin as such a file does, of at most 25 MB, and a model that it has. What it does beside that is
said beforehand, one answer after the other.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, cast

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
    serving: set[asyncio.Task[Any]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection with one request."""
        mine = asyncio.current_task()
        assert mine is not None
        self.serving.add(mine)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, _, rest = head.partition(b"\r\n")
            headers = BytesParser(policy=HTTP).parsebytes(rest)
            body = await reader.readexactly(int(headers["content-length"] or 0))
            listed = first.startswith(b"GET /")  # servers of one's own are asked what they have
            reply = Reply(404) if listed else self._judged(first.decode(), headers, body)
            if not listed:
                self.begun.set()
            if reply.held is not None:
                await reply.held.wait()
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            more = "".join(f"{name}: {value}\r\n" for name, value in reply.headers)
            writer.write(
                f"HTTP/1.1 {reply.status} X\r\nContent-Length: {len(data)}\r\n{more}"
                "Content-Type: application/json\r\nConnection: close\r\n\r\n".encode()
                + data
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.serving.discard(mine)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _judged(self, first: str, headers: Any, body: bytes) -> Reply:
        """The answer; what OpenAI would not take is remembered, and refused as it does."""
        if first != "POST /v1/audio/transcriptions HTTP/1.1":
            return self._no(404, f"Invalid URL ({first})")
        if headers["authorization"] != f"Bearer {KEY}":
            return self._no(401, "Incorrect API key provided")
        typed = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(typed + body)
        if form.get_content_type() != "multipart/form-data":
            return self._no(415, "Expected multipart/form-data")
        parts: dict[str, bytes] = {}
        for part in form.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            parts[name] = cast("bytes", part.get_payload(decode=True))
            if name == "file":
                parts["filename"] = str(part.get_filename()).encode()
        self.asked.append(parts)
        if parts.get("model", b"").decode() != MODEL:
            return self._no(404, "The model does not exist")
        if len(parts["file"]) > LARGEST:
            return self._no(413, "Maximum content size limit (26214400) exceeded")
        ending = parts["filename"].decode().rpartition(".")[2]
        if not parts["file"].startswith(BEGINNINGS.get(ending, b"?")):
            return self._no(400, "Unrecognized file format.")
        return self.replies.pop(0) if self.replies else self.last

    def _no(self, status: int, why: str) -> Reply:
        self.wrong.append(why)
        return Reply(status, {"error": {"message": why, "type": "invalid_request_error"}})


@asynccontextmanager
async def hearing() -> AsyncIterator[Hearing]:
    """The server, until the block ends; whoever still waits for an answer gets none."""
    made = Hearing()
    server = await asyncio.start_server(made.serve, "127.0.0.1", limit=2**26)
    made.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        yield made
        for task in (left := set(made.serving)):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
