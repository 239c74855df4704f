"""Tiers: which models there are, in what order they are asked, and why some cannot be used.

Pure: what loopforge.toml says under `[models]` and `[tiers]` and which keys are set go in; an
ordered list for each tier, and plain sentences about it, come out. Knows nothing of networks.

A model's table may hold: `at` (service = id there) or `provider`, `base_url`, `id` and `key` (the
name of the variable that holds it); `tools`, `structured`, `responses`, `small`, `vision`,
`thinking`, `window`, `price`, `slots`, `first_token_seconds`, `total_seconds`, `extra`; see
ModelSpec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.errors import BadSettings
from loopforge.models.places import PLACES, Way, find_way, is_open, openers, way
from loopforge.models.spec import ModelSpec, Price, Provider, Secret
from loopforge.runtime.ports import Route

EMBEDDED = "embedded"
SCRIPTED = "scripted"
COUNT = 4


class _Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model's table in TOML."""

    at: dict[str, str] = {}
    provider: Provider | None = None
    base_url: str = ""
    id: str = ""
    key: str = ""
    tools: bool = True
    structured: bool = True
    responses: bool = False
    small: bool = False
    vision: bool = False
    thinking: int = 0
    window: int = 32_768
    price: Price | None = None
    slots: int = 8
    first_token_seconds: float = 0
    total_seconds: float = 0
    extra: dict[str, Any] = {}


KEYS = _Entry.__struct_fields__
"""What a model's table may hold."""


class Limits(Struct, frozen=True, kw_only=True):
    """What holds for every model that does not say otherwise."""

    first_token_seconds: float = 60
    total_seconds: float = 180
    embedded: bool = True
    embedded_window: int = 4096


class Tiers(Struct, frozen=True, kw_only=True):
    """The models that can be used, and the order in which each tier asks them.

    `tiers[0]` is tier 1. `served` says which tier really serves each (0: none). `missing` holds,
    for each model that cannot be used, what it would need.
    """

    models: dict[str, ModelSpec]
    tiers: tuple[tuple[str, ...], ...]
    served: tuple[int, ...]
    missing: dict[str, str]
    keyless: bool = False

    def choose(self, route: Route) -> tuple[ModelSpec, ...]:
        """The models to ask, in order: the one named, then those of the tier.

        A model that is named and cannot be used is passed over. Empty when there is no model.
        """
        tier = self.served[min(max(route.tier, 1), COUNT) - 1]
        names = self.tiers[tier - 1] if tier else ()
        if route.model in self.models:
            names = (route.model, *(name for name in names if name != route.model))
        return tuple(self.models[name] for name in names)

    def objection(self, name: str) -> str:
        """Why a model that a mate names cannot be used; "" if it can."""
        if name in self.models:
            return ""
        if name in self.missing:
            return f"{name} needs {self.missing[name]}"
        return f"there is no model {name!r}{_near(name, (*self.models, *self.missing))}"

    def describe(self) -> list[str]:
        """How matters stand, in plain sentences, for the doctor and for pages."""
        if not self.models:
            return ["No model can be used: no key is set, and the embedded model is switched off."]
        lines = []
        if self.keyless:
            lines.append(
                "No model key is set: the small embedded model answers for all tiers. It is for "
                "trying out; docs/adding-models.md says how to plug in a better one."
            )
        else:
            lines += [self._line(tier) for tier in range(1, COUNT + 1)]
        for need in dict.fromkeys(self.missing.values()):
            names = [name for name, why in self.missing.items() if why == need]
            lines.append(f"Not usable without {need}: {', '.join(names)}.")
        return lines

    def _line(self, tier: int) -> str:
        by = self.served[tier - 1]
        if by != tier:
            return f"Tier {tier}: none of its models can be used, so tier {by} answers for it."
        specs = [self.models[name] for name in self.tiers[tier - 1]]
        return f"Tier {tier}: {', '.join(f'{spec.name} ({spec.place})' for spec in specs)}."


def ladder() -> dict[str, Any]:
    """The ladder that ships, as `{"tiers": ..., "models": ...}`."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("ladder.toml").read_text("utf-8"))


def read_tiers(
    models: Mapping[str, Any],
    tiers: Mapping[str, Any],
    keys: Mapping[str, str],
    limits: Limits = Limits(),  # noqa: B008  frozen
) -> Tiers:
    """The tiers, from the tables of loopforge.toml on top of the ladder and the keys that are set.

    Raises BadSettings, naming the key that is wrong.
    """
    shipped = ladder()
    tables = _merged(shipped["models"], models)
    entries = {name: _entry(name, table) for name, table in tables.items()}
    order = _order({**shipped["tiers"], **tiers}, {*entries, EMBEDDED, SCRIPTED})
    usable, missing = _sort_out(entries, keys, limits)
    usable |= _built_in(limits, usable)
    if EMBEDDED not in usable:
        missing[EMBEDDED] = "embedded_model = true"
    lists = tuple(tuple(name for name in names if name in usable) for names in order)
    if any(lists):
        return _served(usable, lists, missing)
    if not limits.embedded:
        return _served({}, lists, missing)
    all_tiers = ((EMBEDDED,),) * COUNT
    return msgspec.structs.replace(_served(usable, all_tiers, missing), keyless=True)


def _merged(shipped: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """The user's tables over the shipped ones, key by key."""
    for name, table in written.items():
        if not isinstance(table, dict):
            raise BadSettings(
                f"loopforge.toml: `models.{name}` must be a table, such as [models.{name}]."
            )
    names = dict.fromkeys((*shipped, *written))
    return {name: {**shipped.get(name, {}), **written.get(name, {})} for name in names}


def _entry(name: str, table: Mapping[str, Any]) -> _Entry:
    where = f"loopforge.toml: `models.{name}`"
    if unknown := next((key for key in table if key not in KEYS), None):
        near = _near(unknown, KEYS)
        raise BadSettings(f"{where} has a key `{unknown}` that nobody reads{near}.")
    try:
        entry = msgspec.convert(table, _Entry)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{where}: {_plain(error)}.") from error
    if strange := next((place for place in entry.at if place not in PLACES), None):
        known = ", ".join(PLACES)
        raise BadSettings(f"{where}: `at` names {strange!r}; the places are {known}.")
    for field in ("window", "slots"):
        if getattr(entry, field) < 1:
            raise BadSettings(f"{where}: `{field}` must be at least 1.")
    if entry.provider in (EMBEDDED, SCRIPTED) or entry.base_url or entry.provider or entry.at:
        return entry
    raise BadSettings(
        f"{where} says nowhere how to reach it: give `base_url` (any OpenAI-compatible server), "
        "`provider` (openai, anthropic, google) or `at`."
    )


def _plain(error: msgspec.ValidationError) -> str:
    """msgspec's message with the key in front: "`window`: Expected `int`, got `str`"."""
    problem, _, path = str(error).partition(" - at `$.")
    return f"`{path[:-1]}`: {problem}" if path else problem


def _near(name: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _order(tiers: Mapping[str, Any], known: set[str]) -> tuple[tuple[str, ...], ...]:
    """The lists of the tiers as written, checked."""
    for tier, names in tiers.items():
        where = f"loopforge.toml: `tiers.{tier}`"
        if tier not in {str(number) for number in range(1, COUNT + 1)}:
            raise BadSettings(f"{where}: there are tiers 1 to {COUNT}.")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadSettings(f"{where} must be a list of model names.")
        if unknown := next((name for name in names if name not in known), None):
            near = _near(unknown, tuple(known))
            raise BadSettings(
                f"{where} names {unknown!r}, which has no table [models.{unknown}]{near}."
            )
    return tuple(tuple(tiers[str(number)]) for number in range(1, COUNT + 1))


def _sort_out(
    entries: Mapping[str, _Entry], keys: Mapping[str, str], limits: Limits
) -> tuple[dict[str, ModelSpec], dict[str, str]]:
    usable: dict[str, ModelSpec] = {}
    missing: dict[str, str] = {}
    for name, entry in entries.items():
        found = _way(name, entry, keys)
        if isinstance(found, str):
            missing[name] = found
        else:
            usable[name] = _spec(name, entry, found, limits)
    return usable, missing


def _way(name: str, entry: _Entry, keys: Mapping[str, str]) -> Way | str:
    """How to reach a model, or what is missing."""
    if entry.provider in (EMBEDDED, SCRIPTED):
        place = msgspec.structs.replace(PLACES["server"], title="inside the program")
        return Way(place=place, base_url="", key=Secret(), id=entry.id or name)
    if entry.base_url:
        return _own_server(name, entry, keys)
    if entry.provider is None:
        return find_way(name, entry.at, keys) or openers(tuple(entry.at))
    native = "server" if entry.provider == "openai" else entry.provider
    for known in dict.fromkeys((native, entry.provider)):
        if is_open(known, keys):
            return way(known, entry.id or name, keys)
    return PLACES[entry.provider].keys[0]


def _own_server(name: str, entry: _Entry, keys: Mapping[str, str]) -> Way | str:
    """A server whose address stands in the file, or in a variable the file names."""
    base, named = entry.base_url, "://" not in entry.base_url
    if named and not keys.get(base):
        return f"{base} (a variable that holds its address, or an address that starts with http://)"
    if entry.key and not keys.get(entry.key):
        return entry.key
    base = keys[base] if named else base
    place = PLACES[entry.provider or "openai"]
    place = msgspec.structs.replace(place, title=base, vendor="", extra={})
    key = Secret(keys.get(entry.key, ""))
    return Way(place=place, base_url=base.rstrip("/"), key=key, id=entry.id or name)


def _spec(name: str, entry: _Entry, found: Way, limits: Limits) -> ModelSpec:
    provider = entry.provider or found.place.provider
    return ModelSpec(
        name=name,
        provider=provider,
        id=found.id,
        place=found.place.title,
        vendor=found.place.vendor,
        base_url=found.base_url,
        key=found.key,
        tools=entry.tools,
        structured=entry.structured,
        responses=entry.responses and found.place is PLACES["openai"],
        small=entry.small,
        vision=entry.vision and provider not in (EMBEDDED, SCRIPTED),
        thinking=entry.thinking,
        window=limits.embedded_window if provider == EMBEDDED else entry.window,
        price=entry.price,
        slots=entry.slots,
        first_token_seconds=entry.first_token_seconds or limits.first_token_seconds,
        total_seconds=entry.total_seconds or limits.total_seconds,
        extra={**found.place.extra, **entry.extra},
    )


def _built_in(limits: Limits, written: Mapping[str, ModelSpec]) -> dict[str, ModelSpec]:
    """The models that need no network; a table of the same name comes first."""
    embedded = ModelSpec(
        name=EMBEDDED,
        provider="embedded",
        id="SmolLM2-135M-Instruct",
        place="inside the program",
        tools=False,
        small=True,
        window=limits.embedded_window,
        price=Price(read=0, written=0),
        slots=4,
        first_token_seconds=limits.first_token_seconds,
        total_seconds=limits.total_seconds,
    )
    scripted = msgspec.structs.replace(
        embedded, name=SCRIPTED, provider="scripted", id=SCRIPTED, small=False, slots=1000
    )
    own = {SCRIPTED: scripted} | ({EMBEDDED: embedded} if limits.embedded else {})
    return {name: spec for name, spec in own.items() if name not in written}


def _served(
    usable: dict[str, ModelSpec], lists: tuple[tuple[str, ...], ...], missing: dict[str, str]
) -> Tiers:
    """Which tier answers for each: itself, else the nearest lower one, else the nearest higher."""

    def by(tier: int) -> int:
        lower = range(tier, 0, -1)
        higher = range(tier + 1, COUNT + 1)
        return next((other for other in (*lower, *higher) if lists[other - 1]), 0)

    served = tuple(by(tier) for tier in range(1, COUNT + 1))
    return Tiers(models=usable, tiers=lists, served=served, missing=missing)
