"""Servers of one's own on loopback, each as the real one is documented to behave.

Ollama, vLLM, LM Studio, llama.cpp, a LiteLLM proxy, and servers that tell no list: what they list,
under which paths, what they say to a model they do not have, whether they want a key or know forms.
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.listening import listening
from tests.models.server import Behaviour, chat

Kind = Literal["ollama", "vllm", "lmstudio", "llamacpp", "litellm", "listless"]
HAS: dict[Kind, tuple[str, ...]] = {
    "ollama": ("nomic-embed-text:latest", "llama3.2:latest", "qwen3:8b"),
    "vllm": ("Qwen/Qwen3-8B",),
    "lmstudio": ("text-embedding-nomic-embed-text-v1.5", "google/gemma-3-12b", "qwen3-8b"),
    "llamacpp": ("/models/gemma-3-4b-it-Q4_K_M.gguf",),
    "litellm": ("text-embedding-3-small", "team-chat", "team-vision"),
    "listless": (),
}
ANSWER = {"mode": "context", "rule": "", "narrative": "n", "speak": True, "say": "Here I am."}
ANSWER |= {"note": "", "again": False}
DEFAULT = json.dumps(ANSWER)


@dataclass
class OwnServer:
    """One such server. `says` is its answer, or makes one of a request; of a Behaviour only pieces and stall count. `asked` are the models it was asked for, `listed` counts its lists."""

    kind: Kind
    key: str = ""
    has: Sequence[str] = ()
    loading: bool = False
    forms: bool = True
    says: str | Behaviour | Callable[[dict[str, Any]], str | Behaviour] = DEFAULT
    url: str = ""
    asked: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    listed: int = 0
    known: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.known = tuple(self.has) or HAS[self.kind]

    # ------------------------------------------------------------ what is the same for all

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Whatever the real server would do with this request."""
        path = request.path
        if not self._served(path):
            return self._nothing(request)
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return self._no_key()
        if self.loading:
            said = {"message": "Loading model", "type": "unavailable_error", "code": 503}
            return web.json_response({"error": said}, status=503)
        if path.endswith("/models"):
            self.listed += 1
            return web.json_response(self._list())
        body = await request.json()
        self.bodies.append(body)
        self.asked.append(body["model"])
        if (refusal := self._refusal(body)) is not None:
            return refusal
        return await self._stream(request)

    def _served(self, path: str) -> bool:
        bare = path in ("/models", "/chat/completions") and self.kind in ("litellm", "llamacpp")
        listed = path == "/v1/models" and self.kind != "listless"
        return bare or listed or path == "/v1/chat/completions"

    def _nothing(self, request: web.Request) -> web.Response:
        if self.kind == "lmstudio":
            told = f"Unexpected endpoint or method. ({request.method} {request.path})"
            return web.json_response({"error": told})
        if self.kind == "ollama":
            return web.Response(status=404, text="404 page not found")
        return web.json_response({"detail": "Not Found"}, status=404)

    def _no_key(self) -> web.Response:
        told = {"litellm": "Authentication Error, No api key passed in."}
        said = {"message": told.get(self.kind, "Unauthorized"), "type": "auth_error", "code": "401"}
        return web.json_response({"error": said}, status=401)

    # ------------------------------------------------------------ what is each one's own

    def _list(self) -> dict[str, Any]:
        owners = {
            "ollama": "library",
            "vllm": "vllm",
            "lmstudio": "organization_owner",
            "llamacpp": "llamacpp",
            "litellm": "openai",
        }
        rows: list[dict[str, Any]] = [
            {"id": id, "object": "model", "created": 1, "owned_by": owners[self.kind]}
            for id in self.known
        ]
        if self.kind == "vllm":
            rows = [{**row, "max_model_len": 40_960, "root": row["id"]} for row in rows]
        if self.kind == "llamacpp":
            meta = {"n_ctx_train": 131_072, "n_params": 3_880_099_328, "size": 2_489_894_912}
            rows = [{**row, "meta": meta} for row in rows]
        return {"object": "list", "data": rows}

    def _refusal(self, body: dict[str, Any]) -> web.Response | None:
        model, form = body["model"], body.get("response_format")
        if form is not None and not self.forms:
            said = {"object": "error", "message": "response_format type 'json_schema' is unknown"}
            return web.json_response({**said, "type": "BadRequestError", "code": 400}, status=400)
        if model in self.known or self.kind in ("lmstudio", "llamacpp", "listless"):
            return None  # LM Studio and llama.cpp answer any name with what is loaded
        if self.kind == "ollama" and f"{model}:latest" in self.known:
            return None
        return self._unknown(model)

    def _unknown(self, model: str) -> web.Response:
        if self.kind == "ollama":
            told = f'model "{model}" not found, try pulling it first'
            said = {"message": told, "type": "api_error", "param": None, "code": None}
            return web.json_response({"error": said}, status=404)
        if self.kind == "vllm":
            told = f"The model `{model}` does not exist."
            missed = {"message": told, "type": "NotFoundError", "param": None, "code": 404}
            return web.json_response({"object": "error", **missed}, status=404)
        told = f"{{'error': '/chat/completions: Invalid model name passed in model={model}. "
        told += "Call `/v1/models` to view available models for your key.'}"
        said = {"message": told, "type": "None", "param": "None", "code": "400"}
        return web.json_response({"error": said}, status=400)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        said = self.says(self.bodies[-1]) if callable(self.says) else self.says
        behaviour = said if isinstance(said, Behaviour) else Behaviour(pieces=(said,))
        for nth, event in enumerate(chat(behaviour)):
            if nth == behaviour.stall:
                await behaviour.gate.wait()
            await response.write(event)
        return response


@asynccontextmanager
async def own(kind: Kind, port: int = 0, **more: Any) -> AsyncIterator[OwnServer]:
    """Such a server on loopback, on a free port unless one is given, until the block ends."""
    server = OwnServer(kind, **more)
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", server.handle)
    async with listening(app, port) as server.url:
        yield server
