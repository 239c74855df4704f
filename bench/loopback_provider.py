"""A provider on loopback, in a process of its own: OpenAI's chat completions, answered at once.

What it says is never twice the same and comes word by word. It notes of every prompt how much of it
is the beginning of the one before of the same mate and kind: that much a provider's cache can hold.
Its first line out is its address; it is asked `share` and answers with shared and all characters.
"""

import asyncio
import sys
from typing import Any

import msgspec
from aiohttp import web

from bench.homes import wording
from loopforge.models.scripted_model import fill

KIND = 200
"""Characters at the beginning of a prompt that tell whose and what kind it is."""


class Provider:
    """What it was asked so far."""

    def __init__(self) -> None:
        self._count = 0
        self._last: dict[tuple[str, str], str] = {}
        self._shared = self._all = 0

    def share(self) -> tuple[int, int]:
        """Characters that prompts shared with the one before, and all; since last asked."""
        found, self._shared, self._all = (self._shared, self._all), 0, 0
        return found

    def _note(self, asked: dict[str, Any]) -> None:
        prompt = "\n".join(f"{each['role']}: {each['content']}" for each in asked["messages"])
        kind = prompt[:KIND], str(asked.get("response_format", ""))[:KIND]
        before = self._last.get(kind)
        self._last[kind] = prompt
        if before is not None:
            self._shared += shared(before, prompt)
            self._all += len(prompt)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One answer, in the form that was asked for, as a stream."""
        asked = await request.json()
        self._note(asked)
        self._count += 1
        said = wording(self._count)
        form = asked.get("response_format", {}).get("json_schema", {}).get("schema")
        if form is not None:
            given = {"mode": "context", "rule": "", "note": "", "again": False, "tool": ""}
            said = msgspec.json.encode(fill(form, said, given)).decode()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for word in said.split(" "):
            await response.write(_event({"delta": {"content": f"{word} "}, "finish_reason": None}))
        await response.write(_event({"delta": {}, "finish_reason": "stop"}))
        await response.write(b"data: [DONE]\n\n")
        return response


def shared(before: str, prompt: str) -> int:
    """How many characters two prompts begin with alike; by halves, since it is timed with all."""
    low, high = 0, min(len(before), len(prompt))
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if before[low:half] == prompt[low:half] else (low, half - 1)
    return low


def _event(choice: dict[str, Any]) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "loopback"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    told = {**body, "choices": [{"index": 0, **choice}]}
    return b"data: " + msgspec.json.encode(told | {"usage": usage}) + b"\n\n"


async def _models(_: web.Request) -> web.Response:
    listed = {"id": "loopback", "object": "model", "max_model_len": 131_072}
    return web.json_response({"object": "list", "data": [listed]})


async def serve() -> None:
    """Serve until the input ends."""
    provider, app = Provider(), web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", provider.chat)
    app.router.add_get("/v1/models", _models)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _tell(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    while await asyncio.to_thread(sys.stdin.readline):
        _tell(provider.share())
    await runner.cleanup()


def _tell(what: Any) -> None:
    sys.stdout.write(msgspec.json.encode(what).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve())
