"""Where models are reached: the services known by name, and the variables that open them.

Pure: given what is set, says which way to a model is open, or what is missing. Shows no key.
Knows nothing of tiers. Base URLs are as the services document them (November 2026).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from loopforge.models.providers.model_spec import Provider, Secret


class ModelService(Struct, frozen=True, kw_only=True):
    """A service: its name for people, its protocol, its variables, its usual address.

    `vendor` is its name in the price list. A place whose `base_url` is empty needs `base_variable`.
    `extra` goes into each request.
    """

    title: str
    provider: Provider = "openai"
    keys: tuple[str, ...] = ()
    base_variable: str = ""
    base_url: str = ""
    vendor: str = ""
    extra: dict[str, Any] = {}
    keyless: bool = False
    """Whether it can be used with its address alone."""


PLACES: dict[str, ModelService] = {
    "anthropic": ModelService(
        title="Anthropic",
        provider="anthropic",
        keys=("ANTHROPIC_API_KEY",),
        base_variable="ANTHROPIC_BASE_URL",
        base_url="https://api.anthropic.com",
        vendor="anthropic",
    ),
    "google": ModelService(
        title="Google",
        provider="google",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_variable="GEMINI_BASE_URL",
        base_url="https://generativelanguage.googleapis.com",
        vendor="google",
    ),
    "litellm": ModelService(
        title="the LiteLLM proxy",
        keys=("LITELLM_API_KEY",),
        base_variable="LITELLM_BASE_URL",
        vendor="litellm",
        keyless=True,
    ),
    "server": ModelService(
        title="the server at OPENAI_BASE_URL",
        keys=("OPENAI_API_KEY",),
        base_variable="OPENAI_BASE_URL",
        keyless=True,
    ),
    "openai": ModelService(
        title="OpenAI",
        keys=("OPENAI_API_KEY",),
        base_url="https://api.openai.com/v1",
        vendor="openai",
    ),
}
_COMPATIBLE = {
    "openrouter": ("OpenRouter", "https://openrouter.ai/api/v1"),
    "mistral": ("Mistral", "https://api.mistral.ai/v1"),
    "minimax": ("MiniMax", "https://api.minimax.io/v1"),
    "zai": ("Z.ai", "https://api.z.ai/api/paas/v4"),
    "dashscope": ("Alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
    "groq": ("Groq", "https://api.groq.com/openai/v1"),
    "together": ("Together", "https://api.together.xyz/v1"),
    "deepseek": ("DeepSeek", "https://api.deepseek.com/v1"),
    "xai": ("xAI", "https://api.x.ai/v1"),
}
"""Services that speak OpenAI's protocol: their names for people, and their usual addresses."""
_VENDORS = {"xai": "x-ai"}
"""Those that the price list knows by another name."""
_EXTRA: dict[str, dict[str, Any]] = {"mistral": {"stream_options": {}}}
"""Mistral refuses `include_usage` (422), and reports usage anyway."""

PLACES |= {
    name: ModelService(
        title=title,
        keys=(f"{name.upper()}_API_KEY",),
        base_variable=f"{name.upper()}_BASE_URL",
        base_url=base_url,
        vendor=_VENDORS.get(name, name),
        extra=_EXTRA.get(name, {}),
    )
    for name, (title, base_url) in _COMPATIBLE.items()
}
GATEWAYS = ("litellm", "server")
"""Places that may serve any model under any name; they are asked before a model's own places."""
KEY_ENDS = ("_API_KEY", "_BASE_URL")


def keys_in(environ: Mapping[str, str], tables: Mapping[str, Any] = {}) -> dict[str, str]:
    """What an environment sets of keys and addresses of services; Loopforge's own are settings.

    Those of other names count, too, that models' `tables` name as a `key` or `base_url`.
    """
    each = [table for table in tables.values() if isinstance(table, Mapping)]
    named = [str(table.get(field)) for table in each for field in ("key", "base_url")]
    return {
        name: value
        for name, value in environ.items()
        if value
        and (name.endswith(KEY_ENDS) or name in named)
        and not name.startswith("LOOPFORGE_")
    }


def key_objection(variable: str, value: str) -> str:
    """Why this cannot be such a variable's key or address; "" if it can."""
    if not keys_in({variable: "a key"}):
        return f"{variable!r} is no variable of a model service."
    if value and not (value.isascii() and value.isprintable() and " " not in value):
        return f"{variable} must be one word, as its service shows it."
    return ""


class ModelAccess(Struct, frozen=True, kw_only=True):
    """An open way to a model."""

    place: ModelService
    base_url: str
    key: Secret
    id: str


def is_open(name: str, keys: Mapping[str, str]) -> bool:
    """Whether what is set is enough to use a place."""
    place = PLACES[name]
    address = keys.get(place.base_variable, "") or place.base_url
    if not address:
        return False
    if name == "openai" and _elsewhere(keys):
        return False
    if name == "server" and not _elsewhere(keys):
        return False
    return place.keyless or any(keys.get(key) for key in place.keys)


def _elsewhere(keys: Mapping[str, str]) -> bool:
    """Whether OPENAI_BASE_URL names another server than OpenAI's own; then so does its key."""
    base = keys.get("OPENAI_BASE_URL", "")
    return bool(base) and place_of(base) != "openai"


def model_access(name: str, id: str, keys: Mapping[str, str]) -> ModelAccess:
    """The way through a place that is open."""
    place = PLACES[name]
    key = next((keys[key] for key in place.keys if keys.get(key)), "")
    base = keys.get(place.base_variable, "") or place.base_url
    return ModelAccess(place=place, base_url=base.rstrip("/"), key=Secret(key), id=id)


def find_way(
    name: str,
    at: Mapping[str, str],
    keys: Mapping[str, str],
    has: Callable[[str, str], bool] = lambda _place, _id: True,
) -> tuple[str, ModelAccess] | None:
    """The first open way to a model that is known by these ids `at` these places, and its place.

    Its native protocol first (Anthropic, Google), then a gateway, which is asked for the model by
    its plain name unless `at` says another, then its places in their order. `has` says whether a
    gateway may have the model of this id.
    """
    native = [place for place in at if PLACES[place].provider != "openai"]
    for place in (*native, *GATEWAYS, *at):
        known = (place_behind_openai_url(keys) or "openai") if place == "server" else place
        id = at.get(known, name)
        if is_open(place, keys) and (place not in GATEWAYS or has(place, id)):
            return place, model_access(place, id, keys)
    return None


def place_behind_openai_url(keys: Mapping[str, str]) -> str:
    """Which place OPENAI_BASE_URL really names, so that its ids are used; "" if none."""
    return place_of(keys.get("OPENAI_BASE_URL", ""))


def place_of(address: str) -> str:
    """The service that is reached at an address; "" for a server of one's own."""
    host = _host_of(address)
    found = (name for name, place in PLACES.items() if host and host == _host_of(place.base_url))
    return next(found, "")


def _host_of(address: str) -> str:
    """The host of an address, in small letters; "" where it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def opening_variables(at: Sequence[str]) -> str:
    """What would have to be set to reach a model that is at these places, in words."""
    wanted = [PLACES[place].keys[0] for place in at if PLACES[place].keys]
    return " or ".join(dict.fromkeys((*wanted, "LITELLM_BASE_URL")))
