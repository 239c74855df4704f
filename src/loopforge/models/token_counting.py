"""Counting tokens as a model itself counts them, where it can be asked; else an estimate.

    embedded model          its own tokenizer, all texts in one request where they can be told apart
    one's own server        POST /tokenize, which vLLM and llama.cpp answer (asked once if it does)
    anything else           estimated

Counts are remembered by text. Knows nothing of prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.models.embedded.embedded_model import EmbeddedModel
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.token_estimate import estimate_tokens

if TYPE_CHECKING:
    import httpx2

REMEMBERED = 8192
SEPARATOR = 0
"""A token that stands between texts. The small model never makes it of plain text; where others do,
it is seen by there being too many of it."""
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
        with suppress(Exception):  # whatever an address or its answer raises; what was counted is
            if spec.provider == "embedded":
                address = await self._embedded.address()
                spec = replace(spec, base_url=address.url, key=address.key)
                if (counts := await self._at_once(spec, texts)) is not None:
                    return dict(zip(texts, counts, strict=True))
            async with asyncio.timeout(SECONDS):
                for text in texts:
                    found[text] = await self._one_by_one(spec, text)
        return found or None

    async def _at_once(self, spec: ModelSpec, texts: list[str]) -> list[int] | None:
        """Tokens of each, with a separator after it; None where one is a token of theirs, too."""
        mixed = [each for text in texts for each in (text, SEPARATOR)]
        body = {"content": mixed, "add_special": False, "parse_special": False}
        answer = await self._post(f"{spec.base_url}/tokenize", spec.key.reveal(), body)
        return count_tokens_per_text(answer["tokens"], len(texts))

    async def _one_by_one(self, spec: ModelSpec, text: str) -> int:
        root = spec.base_url.removesuffix("/v1")
        body: dict[str, Any] = {"model": spec.id, "prompt": text, "content": text}
        body |= {"add_special_tokens": False, "add_special": False, "parse_special": False}
        answer = await self._post(f"{root}/tokenize", spec.key.reveal(), body)
        return int(answer["count"]) if "count" in answer else len(answer["tokens"])

    async def _post(self, url: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(timeout=SECONDS, trust_env=False)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        response = await self._http.post(url, json=body, headers=headers)
        response.raise_for_status()
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


def count_tokens_per_text(tokens: Sequence[int], texts: int) -> list[int] | None:
    """How many tokens each of so many texts has, a separator after each; None where more are."""
    ends = [at for at, token in enumerate(tokens) if token == SEPARATOR]
    if len(ends) != texts:
        return None
    return [end - start - 1 for start, end in pairwise((-1, *ends))]
