"""A place that models' files come from, on loopback, as odd as such places are known to be."""

import hashlib
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = struct.pack("<4sIQQ", b"GGUF", 3, 4, 2) + bytes(range(256)) * 12_000
"""What looks like a model by its head, of some three million bytes."""
PATH = "/a/b.gguf"


@dataclass
class Hub:
    """How it behaves, and what it was asked. `breaks` is after how many bytes each answer ends."""

    url: str = ""
    body: bytes = BODY
    promised: str = hashlib.sha256(BODY).hexdigest()
    linked: bool = True
    status: list[tuple[int, str]] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    size: int = len(BODY)
    ranges: bool = True
    elsewhere: str = ""
    hold: threading.Event | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)


@contextmanager
def hub(**how: object) -> Iterator[Hub]:
    """One that runs until the block ends."""
    told = Hub(**how)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Not a word."""

        def do_HEAD(self) -> None:
            told.asked.append("HEAD")
            if told.status:
                self.refuse()
                return
            self.send_response(302 if told.elsewhere else 200)
            if told.elsewhere:
                self.send_header("Location", f"{told.elsewhere}{PATH}")
            if told.linked:
                self.send_header("X-Linked-Size", str(told.size))
                self.send_header("X-Linked-Etag", f'"{told.promised}"')
            self.send_header("Content-Length", str(told.size if not told.elsewhere else 0))
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            told.asked.append(f"GET {wanted}".strip())
            if told.status:
                self.refuse()
            elif told.elsewhere:
                self.send_response(302)
                self.send_header("Location", f"{told.elsewhere}{PATH}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                start = int(wanted[6:-1]) if wanted and told.ranges else 0
                self.give(start, partial=bool(wanted and told.ranges))

        def refuse(self) -> None:
            code, after = told.status.pop(0)
            self.send_response(code)
            if after:
                self.send_header("Retry-After", after)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def give(self, start: int, *, partial: bool) -> None:
            rest = told.body[start:]
            self.send_response(206 if partial else 200)
            if partial:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(told.body) - 1}/{len(told.body)}"
                )
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            if told.hold:
                self.wfile.write(rest[:1000])
                told.begun.set()
                told.hold.wait(60)
                rest = rest[1000:]
            self.close_connection = True
            try:
                self.wfile.write(rest[: told.breaks.pop(0)] if told.breaks else rest)
            except OSError:  # who asked has gone
                return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield told
    finally:
        if told.hold:
            told.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
