"""The least that could serve event streams: uvicorn, queues, and the bytes of another run.

Given a file of (seconds from the beginning, room, number of a mate's line or 0, bytes), it sends
the same bytes to everybody who reads that room, at the same moments, and tells when it did. Knows
no ledger, no session and no page: the baseline of web.py. Imports nothing of Loopforge.
"""

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from bench.readers import Sent

QUEUES: dict[str, list[asyncio.Queue[bytes]]] = defaultdict(list)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Whatever is put into the queue of a room, for whoever asks for it."""
    if scope["type"] != "http":
        return
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    QUEUES[scope["path"].strip("/")].append(queue)
    headers = [(b"content-type", b"text/event-stream")]
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while data := await queue.get():
        await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body"})


async def serve(sent: Sequence[Sent]) -> None:
    """Say the port; when a line comes in, send all there is, and say when what was sent."""
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn offers nothing to wait for)
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began, told = time.perf_counter(), {}
    for after, room, seq, data in sent:
        await asyncio.sleep(max(0.0, began + after - time.perf_counter()))
        if seq:
            told[f"{room} {seq}"] = time.perf_counter()
        for queue in QUEUES[room]:
            queue.put_nowait(data)
    print(msgspec.json.encode(told).decode(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for queue in (queue for queues in QUEUES.values() for queue in queues):
        queue.put_nowait(b"")
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(serve(msgspec.msgpack.decode(Path(sys.argv[1]).read_bytes(), type=list[Sent])))
