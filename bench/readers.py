"""Browsers that cost little: plain sockets that read event streams and note when what came.

Knows as much HTTP as the home's own server speaks, and no more. Imports nothing of Loopforge.
"""

import asyncio
import re
import time
from typing import NamedTuple

_NUMBERED = re.compile(rb"id: (\d+)\nevent: (line|change)\n")
_LENGTH = re.compile(rb"^content-length: (\d+)\r$", re.MULTILINE | re.IGNORECASE)
_LAST = re.compile(rb"^connection: close\r$", re.MULTILINE | re.IGNORECASE)
_TOKEN = re.compile(rb'name="csrf-token" content="(\w+)"')
_BOUND = "loopforge-bench"
PATIENCE = 600
"""Seconds after which a line that does not come is given up."""


class Sent(NamedTuple):
    """Bytes that a stream sent, and when. `seq`: they are this line of a mate's; else 0."""

    after: float
    room: str
    seq: int
    data: bytes


class Reader(asyncio.Protocol):
    """One open event stream.

    `lines`: when each line came first; `numbers`: as they came; `words`: when words of an answer
    came that was no line yet.
    """

    def __init__(self, room: str, request: bytes, *, keeps: bool = False) -> None:
        self.room = room
        self.lines: dict[int, float] = {}
        self.numbers: list[int] = []
        self.words: list[float] = []
        self.came: list[tuple[float, bytes]] = []
        self.open = asyncio.Event()
        self._request, self._keeps, self._rest = request, keeps, b""
        self._waited: dict[int, asyncio.Future[float]] = {}
        self._after: dict[int, asyncio.Future[float]] = {}
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the stream."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Note what came."""
        now = time.perf_counter()
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        for message in whole:
            if found := _NUMBERED.match(message):
                self.numbers.append(int(found[1]))
                self._line(int(found[1]), now)
                self._said(found[2], int(found[1]), now)
            elif message.startswith(b"event: draft"):
                self.words.append(now)
            elif message.startswith(b"event: scene"):
                self.open.set()
            if self._keeps:
                self.came.append((now, message + b"\n\n"))

    def _line(self, seq: int, now: float) -> None:
        self.lines.setdefault(seq, now)
        if (waited := self._waited.pop(seq, None)) and not waited.done():
            waited.set_result(now)

    def _said(self, kind: bytes, seq: int, now: float) -> None:
        if kind != b"line":
            return
        for after in [each for each in self._after if each < seq]:
            self._after.pop(after).set_result(now)

    async def next(self, seq: int) -> float:
        """When the first line after this one came, which is yet to come."""
        self._after[seq] = asyncio.get_running_loop().create_future()
        return await asyncio.wait_for(self._after[seq], PATIENCE)

    async def has(self, seq: int) -> float:
        """When this line came, which may be yet to come."""
        if seq not in self.lines:
            self._waited[seq] = asyncio.get_running_loop().create_future()
            await asyncio.wait_for(self._waited[seq], PATIENCE)
        return self.lines[seq]

    def close(self) -> None:
        """Read no more."""
        if self._transport is not None:
            self._transport.abort()


class Browser:
    """Somebody who is signed in, with one connection, for one request after another.

    A server may close one that was idle, and on a slow machine does so while a request is on its
    way; it is then sent again on a new one. A line keeps its source, and is heard once.
    """

    def __init__(self, port: int, session: str = "") -> None:
        self.session = session
        self._port, self._csrf = port, ""
        self._one = asyncio.Lock()
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def read(self, room: str, after: int, *, keeps: bool = False) -> Reader:
        """Open the stream of a room."""
        path = f"/rooms/{room}/stream?after={after}"
        request = f"GET {path} HTTP/1.0\r\n{self._headers()}\r\n".encode()
        return await self.reads(room, request, keeps=keeps)

    async def reads(self, room: str, request: bytes, *, keeps: bool = False) -> Reader:
        """Open a stream by this request."""
        reader = Reader(room, request, keeps=keeps)
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: reader, "127.0.0.1", self._port)
        return reader

    async def get(self, path: str) -> bytes:
        """A page."""
        return await self._ask(f"GET {path} HTTP/1.1\r\n{self._headers()}\r\n".encode())

    async def say(self, room: str, text: str, source: str) -> bytes:
        """Say a line in a room; the answer is JSON."""
        fields = {"text": text, "source": source}
        parts = [
            f'--{_BOUND}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        body = f"{''.join(parts)}--{_BOUND}--\r\n".encode()
        return await self._post(
            f"/rooms/{room}/lines", f"multipart/form-data; boundary={_BOUND}", body
        )

    async def _post(self, path: str, kind: str, body: bytes) -> bytes:
        if not self._csrf:
            await self.get("/")
        head = (
            f"POST {path} HTTP/1.1\r\n{self._headers()}accept: application/json\r\n"
            f"x-csrftoken: {self._csrf}\r\ncontent-type: {kind}\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        return await self._ask(head.encode() + body)

    def _headers(self) -> str:
        return f"host: 127.0.0.1:{self._port}\r\ncookie: loopforge={self.session}\r\n"

    async def _ask(self, request: bytes) -> bytes:
        async with self._one:
            again = self._writer is not None
            try:
                head, body = await self._sent(request)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if not again:
                    raise
                head, body = await self._sent(request)
        if head.split(b" ", 2)[1] not in (b"200", b"204"):
            raise ValueError(f"{request[:80]!r} was answered {head[:200]!r} {body[:200]!r}")
        return body

    async def _sent(self, request: bytes) -> tuple[bytes, bytes]:
        """The head and the body of an answer."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await self._reader.readexactly(int(length[1])) if length else b""
        if found := _TOKEN.search(body):
            self._csrf = found[1].decode()
        if _LAST.search(head):
            self.close()
        return head, body

    def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
