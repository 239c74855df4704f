"""The models a server says it has: its own list, asked for and read.

    GET {address}/models -> ServerCatalogue: where it answered, what it has, or why not known

Servers that speak OpenAI's protocol tell their models under `/models`, below an address that ends
in `/v1`; people leave that out, or add a slash. LM Studio answers what it does not know with 200
and an error; Ollama, vLLM and llama.cpp answer 404. `read`, `talks` and `size_of` are pure.
Knows nothing of tiers.
"""

import asyncio
import re
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.models.providers.model_spec import UNTOLD_WINDOW, USUAL_WINDOW, Secret
from loopforge.models.providers.provider_client import http_client

SECONDS = 3.0
"""Longest wait for a list."""
SMALL = 1e9
"""A model with fewer parameters is a small one."""
MOST = 500
"""Models of a list that are read."""

Trouble = Literal["", "unasked", "unreachable", "key", "starting", "unlisted"]
"""Why a list is not known. `unlisted`: the server is there and has none. "": it is known."""


class OfferedModel(Struct, frozen=True, kw_only=True):
    """A model of a server's list."""

    id: str
    window: int = UNTOLD_WINDOW
    small: bool = False
    talks: bool = True


class ServerCatalogue(Struct, frozen=True, kw_only=True):
    """What a server said of its models. `base_url` is where questions go, `detail` for records."""

    base_url: str
    models: tuple[OfferedModel, ...] = ()
    trouble: Trouble = ""
    detail: str = ""

    def find(self, name: str) -> OfferedModel | None:
        """The model of this name; where it has no tag, `latest` is one."""
        known = {model.id: model for model in self.models}
        return known.get(name) or known.get(f"{name}:latest")

    def may_have(self, name: str) -> bool:
        """Whether it has this model, as far as can be known: lists of proxies may hold patterns."""
        known = any(fnmatchcase(name, model.id) for model in self.models if "*" in model.id)
        return bool(self.trouble or self.find(name) or known)

    @property
    def first(self) -> OfferedModel | None:
        """The first of its models that talks."""
        return next((model for model in self.models if model.talks), None)

    def has(self, most: int = 12) -> str:
        """What it has, in words: what talks comes first."""
        names = [model.id for model in sorted(self.models, key=lambda model: not model.talks)]
        more = f" and {len(names) - most} more" if len(names) > most else ""
        return ", ".join(names[:most]) + more if names else "none at all"


def address_without_login(address: str) -> str:
    """An address as it is shown and kept: without the name and the password in it."""
    return re.sub(r"//[^/?#]*@", "//", address)


def normalize_address(address: str) -> str:
    """An address as people write it, without what is too much, with what is missing."""
    address = address.strip()
    address = address if "://" in address else f"http://{address}"
    return re.sub(r"(/(chat/completions|completions|models))?/*$", "", address)


def candidate_base_urls(address: str) -> tuple[str, ...]:
    """Where the protocol may begin: at the address itself, or below it at `/v1`."""
    base = normalize_address(address)
    if re.search(r"/v\d+\w*$", base):
        return (base,)
    bare = not base.partition("://")[2].partition("/")[2]
    return (f"{base}/v1", base) if bare else (base, f"{base}/v1")


# ---------------------------------------------------------------- reading


NOT_TALKING = re.compile(
    r"embed(?!ded)|\bbge\b|\bgte\b|\be5\b|minilm|rerank|whisper|\bt?tts\b|\bstt\b|\basr\b|speech"
    r"|transcri|kokoro|parakeet|dall-?e|\bimage\b|imagen|sdxl|stable-diffusion|\bflux\b|\bclip\b"
    r"|\bsora\b|\bveo\b|moderation|\bguard\d*\b|shieldgemma|realtime|\*",
    re.IGNORECASE,
)
"""Names of models for other things than talk."""


def talks(id: str, row: dict[str, Any]) -> bool:
    """Whether a model is one to talk with, by its name and by what the list says of it."""
    kinds = " ".join(str(row.get(key, "")) for key in ("type", "mode", "task")).lower()
    words = re.sub(r"[_/:.]", " ", id)
    return not (NOT_TALKING.search(words) or re.search(r"embed|rerank|image|audio|speech", kinds))


def size_of(id: str, row: dict[str, Any]) -> float:
    """How many parameters a model has, by the list or else by its name; 0 where neither tells."""
    meta = row.get("meta")
    told = meta.get("n_params") if isinstance(meta, dict) else None
    if isinstance(told, int | float) and told > 0:
        return float(told)
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", id.lower())
    return float(found[1]) * {"m": 1e6, "b": 1e9}[found[2]] if found else 0.0


def window_of(row: dict[str, Any]) -> int:
    """How many tokens a model takes: as vLLM, LM Studio, llama.cpp and routers tell it."""
    meta = row.get("meta")
    rows = (row, meta) if isinstance(meta, dict) else (row,)
    for each in rows:
        for key in ("loaded_context_length", "max_model_len", "n_ctx", "context_length"):
            value = each.get(key)
            if isinstance(value, int) and value >= 256:
                return value
    return USUAL_WINDOW if row.get("owned_by") in ("library", "llamacpp") else UNTOLD_WINDOW


def read(body: object) -> tuple[OfferedModel, ...] | None:
    """The models of an answer; None where it is no list."""
    rows = body.get("data") if isinstance(body, dict) else body
    if not isinstance(rows, list):
        return None
    found: dict[str, OfferedModel] = {}
    for row in rows[:MOST]:
        id = row.get("id") if isinstance(row, dict) else None
        if isinstance(id, str) and id:
            small = 0 < size_of(id, row) < SMALL
            found[id] = OfferedModel(
                id=id, window=window_of(row), small=small, talks=talks(id, row)
            )
    return tuple(found.values())


# ---------------------------------------------------------------- asking


async def fetch_catalogue(
    address: str, key: Secret, *, seconds: float = SECONDS
) -> ServerCatalogue:
    """Ask a server for its models, wherever below the address it tells them."""
    base, *others = candidate_base_urls(address)
    headers = {"authorization": f"Bearer {key.reveal()}"} if key else {}
    best = ServerCatalogue(base_url=base, trouble="unlisted")
    try:
        async with (
            asyncio.timeout(seconds),
            http_client(base, headers=headers, timeout=seconds, follow_redirects=True) as http,
        ):
            for place in (base, *others):
                found = await _at(http, place)
                if found.trouble != "unlisted":
                    return found
                best = replace(found, base_url=base)
    except Exception as error:  # a port beyond 65535 is an OverflowError in a group
        best = ServerCatalogue(base_url=base, trouble="unreachable", detail=_plain(error))
    return best


async def _at(http: Any, place: str) -> ServerCatalogue:
    response = await http.get(f"{place}/models")
    status = response.status_code
    if status in (401, 403):
        return ServerCatalogue(base_url=place, trouble="key", detail=f"it answered {status}")
    if status == 429 or status >= 500:
        if status == 501:  # servers without a list say this too
            return ServerCatalogue(base_url=place, trouble="unlisted")
        return ServerCatalogue(base_url=place, trouble="starting", detail=f"it answered {status}")
    try:
        models = read(response.json()) if status == 200 else None
    except (ValueError, RecursionError):
        models = None
    if models is None:
        return ServerCatalogue(base_url=place, trouble="unlisted", detail=f"it answered {status}")
    return ServerCatalogue(base_url=place, models=models)


def _plain(error: Exception) -> str:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
