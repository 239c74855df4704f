"""A server on loopback as odd as the web: it says exactly what each path is given."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def told(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole answer; with a length, unless a header says another."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if not any(line.lower().startswith(("content-length", "transfer-encoding")) for line in lines):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def onward(to: str, status: str = "302 Found") -> bytes:
    """It leads on to another address."""
    return told(b"", f"Location: {to}", status=status)


def page(html: str, *headers: str) -> bytes:
    """A page in UTF-8."""
    return told(html.encode(), "Content-Type: text/html; charset=utf-8", *headers)


@dataclass
class OddServer:
    """What it answers, by path; `asked`: the first lines and hosts of requests."""

    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)

    def at(self, path: str, host: str = "127.0.0.1") -> str:
        """An address of it."""
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            path = head.split(b" ", 2)[1].decode()
            self.asked.append(path)
            missing = told(b"gone", status="404 Not Found")
            answer = self.answers.get(path, self.answers.get(path.partition("?")[0], missing))
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                await answer(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def odd_server() -> AsyncIterator[OddServer]:
    """One that runs until the block ends."""
    made = OddServer(0)
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as listening:
        made.port = listening.sockets[0].getsockname()[1]
        yield made
