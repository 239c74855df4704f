"""A server's embeddings: any address that answers /embeddings as OpenAI's does.

Servers differ in how many texts they take at once: where one refuses a batch, half of it is tried,
and remembered. A text that is refused by itself stands by its beginning, or has no vector: nothing
that is said keeps what is said after it from being found. One that is busy is waited for, twice and
not for long. Nothing is kept: whoever needs a vector twice keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loopforge.core.limits.retry_after import retry_after
from loopforge.errors import ModelError
from loopforge.models.providers.model_spec import Secret
from loopforge.models.providers.provider_client import OversizedAnswer, http_client
from loopforge.models.providers.server_catalogue import address_without_login
from loopforge.runtime.mind_containment import bounded_text
from loopforge.runtime.ports import Clock

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

BATCH = 128
"""Texts sent at once, to begin with."""
LONGEST = 8_000
"""Characters of a text that are sent: some 2,000 tokens, which most models of this kind read."""
SECONDS = 30.0
TRIES = 3
PATIENCE = 10.0
"""Seconds that a busy server is waited for at most, each time."""
BUSY = (429, 502, 503, 504)
TOO_MUCH = (400, 413, 422, 500)
"""What servers answer to more than they take at once; 500 is llama.cpp's."""
HALVES = 4
"""How often a text that is refused by itself is halved: what it begins with stands for it."""
PLAIN = "hello"
"""What every server takes that takes any; where it does, a text that it refuses has no vector."""
NUMBERLESS = (OverflowError, RecursionError)
"""A number of four hundred digits, and lists within each other without end."""


class EmbeddingsEndpoint:
    """The embeddings of a server as Embeddings; `base_url` is the address above /embeddings.

    `name` tells the address, too: two servers' own models are not one.
    `dimension` is 0 until it has answered once; from then on it must stay the same.
    """

    def __init__(self, base_url: str, model: str, key: Secret, clock: Clock) -> None:
        self._model, self.dimension = model, 0
        self.name = f"{model} at {address_without_login(base_url.rstrip('/'))}"
        self._base, self._key, self._clock = base_url.rstrip("/"), key, clock
        self._batch = BATCH
        self._http: httpx2.AsyncClient | None = None

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As Embeddings has it. An empty text is not sent. Raises ModelError."""
        import numpy as np

        asked = [(place, _sendable(text)) for place, text in enumerate(texts) if text.strip()]
        rows: list[list[float]] = []
        most = self._batch
        while len(rows) < len(asked):
            part = [text for _, text in asked[len(rows) : len(rows) + self._batch]]
            if (got := await self._ask(part)) is not None:
                rows += got
            elif len(part) > 1:
                self._batch = len(part) // 2
            else:
                rows.append(await self._of_beginning(part[0]))
                self._batch = most  # it was this text that was too much, not how many there were
        found = np.zeros((len(texts), self.dimension), np.float32)
        if asked:
            given = np.array(rows, np.float32)
            lengths = np.linalg.norm(given, axis=1, keepdims=True)
            if not np.isfinite(lengths).all():
                raise self._wrong("vectors hold numbers that are none")
            found[[place for place, _ in asked]] = given / np.maximum(lengths, 1e-9)
        return found

    async def close(self) -> None:
        """Close its connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _of_beginning(self, text: str) -> list[float]:
        """The vector of as much of a refused text as is taken; zeros where nothing of it is."""
        lengths = [len(text) >> halved for halved in range(1, HALVES + 1)]
        for part in [text[:length] for length in lengths if text[:length].strip()]:
            if (got := await self._ask([part])) is not None:
                return got[0]
        await self._ask([PLAIN])
        return [0.0] * self.dimension

    async def _ask(self, texts: Sequence[str]) -> list[list[float]] | None:
        """The vectors of one batch; None where that is more than the server takes."""
        for left in reversed(range(TRIES)):
            response = await self._post(texts)
            if response.status_code == 200:
                return self._read(response, len(texts))
            if response.status_code in TOO_MUCH and list(texts) != [PLAIN]:
                return None
            if response.status_code not in BUSY or not left:
                break
            wait = retry_after(response.headers.get("retry-after", ""), self._clock.now())
            await self._clock.sleep(1.0 if wait is None else min(wait, PATIENCE))
        said = bounded_text(response.text)
        if response.status_code in (401, 403):
            raise self._wrong(f"key is refused ({said}); set embeddings_key")
        if response.status_code == 404:
            raise self._wrong(f"model or address is unknown ({said}); see embeddings_url")
        raise self._wrong(f"answer was {response.status_code}: {said}")

    async def _post(self, texts: Sequence[str]) -> httpx2.Response:
        import httpx2

        if self._http is None:
            self._http = http_client(self._base, timeout=SECONDS)
        headers = {"authorization": f"Bearer {self._key.reveal()}"} if self._key else {}
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            return await self._http.post(f"{self._base}/embeddings", json=body, headers=headers)
        except ValueError as error:
            raise self._wrong(
                "key or address has signs that cannot be sent; set embeddings_key and "
                "embeddings_url as it shows them"
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OversizedAnswer) as error:
            raise self._wrong(
                f"address cannot be reached ({str(error) or type(error).__name__})"
            ) from error

    def _read(self, response: httpx2.Response, count: int) -> list[list[float]]:
        """The vectors of an answer, in the order that was asked in. Raises ModelError."""
        try:
            rows: Any = response.json()["data"]
            found = {int(row.get("index", at)): row["embedding"] for at, row in enumerate(rows)}
            vectors = [[float(number) for number in found[at]] for at in range(count)]
        except (ValueError, KeyError, TypeError, AttributeError, *NUMBERLESS) as error:
            raise self._wrong(f"answer holds not one vector for each of {count} texts") from error
        lengths = {len(vector) for vector in vectors}
        wanted = self.dimension or min(lengths)
        if lengths != {wanted} or not wanted:
            had = ", ".join(map(str, sorted(lengths)))
            raise self._wrong(f"vectors have {had} numbers, where {wanted or 'some'} were expected")
        self.dimension = wanted
        return vectors

    def _wrong(self, what: str) -> ModelError:
        return ModelError(f"Embeddings of {self.name}: its {what}.")


def _sendable(text: str) -> str:
    """What is sent of a text: its beginning, without halves of signs, which no request can hold."""
    return text[:LONGEST].encode("utf-8", "replace").decode()
