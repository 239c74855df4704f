"""Counting tokens as a model itself counts them, where it can be asked; else an estimate.

    embedded model          its own tokenizer, all texts in one request
    one's own server        POST /tokenize, which vLLM and llama.cpp answer (asked once if it does)
    anything else           estimated

Counts are remembered by text. Knows nothing of prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import ModelError
from loopforge.models.embedded.embedded_model import EmbeddedModel, count_tokens_per_text
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.token_estimate import estimate_tokens

if TYPE_CHECKING:
    import httpx2

REMEMBERED = 8192
SECONDS = 2.0
"""Longest wait for counts, while people wait: what has none by then is estimated. A server that
gives none in that time is not asked again."""


class TokenCounter:
    """Counts for one router."""

    def __init__(self, embedded: EmbeddedModel) -> None:
        self._embedded = embedded
        self._known: BoundedMapping[tuple[str, str], int] = BoundedMapping(REMEMBERED)
        self._silent: set[str] = set()
        self._http: httpx2.AsyncClient | None = None

    def become(self, embedded: EmbeddedModel) -> None:
        """Count by another embedded model from now on."""
        self._embedded = embedded
        self._known.clear()
        self._silent.clear()

    async def count(self, spec: ModelSpec | None, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        if spec is None or spec.name in self._silent or not _tokenizes(spec):
            return [estimate_tokens(text) for text in texts]
        counted = {text: self._known.get((spec.name, text)) for text in texts}
        found = {text: count for text, count in counted.items() if count is not None}
        if unknown := [text for text in counted if text not in found]:
            embedded = self._embedded
            counts = await self._ask(spec, unknown)
            if counts is None:
                if embedded is self._embedded:
                    self._silent.add(spec.name)
                return [estimate_tokens(text) for text in texts]
            found |= counts
        for text in found:
            self._known[spec.name, text] = found[text]
        return [found[text] if text in found else estimate_tokens(text) for text in texts]

    async def _ask(self, spec: ModelSpec, texts: list[str]) -> dict[str, int] | None:
        """What the model's own tokenizer says in time; None if it cannot be asked."""
        found: dict[str, int] = {}
        try:
            if spec.provider == "embedded":
                return dict(zip(texts, await self._by_embedded(texts), strict=True))
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS):
                    for text in texts:
                        found[text] = await self._by_server(spec, text)
        except (ModelError, ValueError, OSError, KeyError, TypeError):
            pass  # what was counted before is
        return found or None

    async def _by_embedded(self, texts: list[str]) -> list[int]:
        address = await self._embedded.address()
        mixed: list[str | int] = []
        for text in texts:
            mixed += [text, 0]
        body = {"content": mixed, "add_special": False, "parse_special": False}
        answer = await self._post(f"{address.url}/tokenize", address.key.reveal(), body)
        return count_tokens_per_text(answer["tokens"], len(texts))

    async def _by_server(self, spec: ModelSpec, text: str) -> int:
        root = spec.base_url.removesuffix("/v1")
        body = {"model": spec.id, "prompt": text, "content": text, "add_special_tokens": False}
        answer = await self._post(f"{root}/tokenize", spec.key.reveal(), body)
        return int(answer["count"]) if "count" in answer else len(answer["tokens"])

    async def _post(self, url: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(timeout=SECONDS, trust_env=False)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        try:
            response = await self._http.post(url, json=body, headers=headers)
            response.raise_for_status()
        except httpx2.HTTPError as error:
            raise OSError(str(error)) from error
        answer = response.json()
        if not isinstance(answer, dict):
            raise TypeError("not an answer of /tokenize")
        return answer

    async def close(self) -> None:
        """Close its connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None


def _tokenizes(spec: ModelSpec) -> bool:
    """Whether it may count by its own tokenizer: a server of one's own may answer /tokenize."""
    return spec.provider == "embedded" or (spec.provider == "openai" and not spec.vendor)
