"""Tiers: which models there are, in what order they are asked, and why some cannot be used.

Pure: what loopforge.toml says under `[models]` and `[tiers]`, which keys are set, and what servers
of one's own said they have (own_servers.py) go in; an ordered list for each tier, and plain
sentences about it, come out. Knows nothing of networks.

What such a server has is known by its own names. Where it has models of the ladder (a proxy), those
serve; else one is asked first in every tier that loopforge.toml does not write: the one that is
named, or the first that talks. Before it told its list it is asked for what it was given as a name.

A model's table may hold: `at` (service = id there) or `provider`, `base_url`, `id` and `key` (the
name of the variable that holds it); `tools`, `structured`, `responses`, `small`, `vision`,
`hears`, `minute_price`, `thinking`, `window`, `price`, `slots`, `first_token_seconds`,
`total_seconds`, `extra`; see ModelSpec.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadSettings
from loopforge.models.providers.known_services import (
    PLACES,
    ModelAccess,
    find_way,
    is_open,
    model_access,
    opening_variables,
)
from loopforge.models.providers.model_spec import AMOUNT, WINDOW, ModelSpec, Price, Provider, Secret
from loopforge.models.providers.own_servers import (
    ANY,
    Catalogues,
    OwnServer,
    ServerNote,
    gateway_servers,
    of_table,
    server_note,
)
from loopforge.models.providers.server_catalogue import (
    OfferedModel,
    ServerCatalogue,
    address_without_login,
)
from loopforge.runtime.ports import Route

EMBEDDED = "embedded"
SCRIPTED = "scripted"
SMALL_MODEL = "SmolLM2-135M-Instruct"
COUNT = 4
FEW = 5
"""Models of a server that a room's owner is told of, where one is asked for that it has not."""


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
    small: bool | None = None
    vision: bool = False
    hears: bool = False
    minute_price: Annotated[float, AMOUNT] | None = None
    thinking: Annotated[int, AMOUNT] = 0
    window: int = 0
    price: Price | None = None
    slots: int = 8
    first_token_seconds: Annotated[float, AMOUNT] = 0
    total_seconds: Annotated[float, AMOUNT] = 0
    extra: dict[str, Any] = {}


KEYS = _Entry.__struct_fields__
"""What a model's table may hold."""


class TierLimits(Struct, frozen=True, kw_only=True):
    """What holds for every model that does not say otherwise."""

    first_token_seconds: float = 60
    total_seconds: float = 180
    embedded: bool = True
    embedded_window: int = 4096
    embedded_id: str = SMALL_MODEL
    embedded_small: bool = True
    model: str = ""
    """What a server of one's own is asked for that a variable names."""


class Tiers(Struct, frozen=True, kw_only=True):
    """The models that can be used, and the order in which each tier asks them.

    `tiers[0]` is tier 1. `served` says which tier really serves each (0: none). `missing` holds,
    for each model that cannot be used, what it would need. `servers` are those of one's own,
    `catalogues` what they said, by address. `wanted` is the first model of each tier as somebody
    wrote it down, whether it can be used or not; "" where nobody did.
    """

    models: dict[str, ModelSpec]
    tiers: tuple[tuple[str, ...], ...]
    served: tuple[int, ...]
    missing: dict[str, str]
    keyless: bool = False
    servers: tuple[OwnServer, ...] = ()
    catalogues: Catalogues = {}
    wanted: tuple[str, ...] = ("",) * COUNT

    def choose(self, route: Route) -> tuple[ModelSpec, ...]:
        """The models to ask, in order: the one named, then those of the tier.

        A model that is named and cannot be used is passed over. Empty when there is no model.
        """
        tier = self.served[min(max(route.tier, 1), COUNT) - 1]
        names = self.tiers[tier - 1] if tier else ()
        if known := self.known(route.model):
            if self.models[known].hears:
                return (self.models[known],)
            names = (known, *(name for name in names if name != known))
        return tuple(self.models[name] for name in names)

    def known(self, name: str) -> str:
        """The name a model stands under here, "" if it does not; without a tag, `latest` is one."""
        return next((one for one in (name, f"{name}:latest") if one in self.models), "")

    def objection(self, name: str) -> str:
        """Why a model that a mate names cannot be used; "" if it can."""
        if self.known(name):
            return ""
        if name in self.missing:
            return f"{name} needs {self.missing[name]}"
        near = _nearest_name_hint(name, (*self.models, *self.missing))
        listed = [(one, one.catalogue(self.catalogues)) for one in self.servers]
        has = [f"{one.title} has: {said.has()}" for one, said in listed if not said.trouble]
        return "; ".join((f"there is no model {name!r}{near}", *has))

    def instead(self, base_url: str = "") -> str:
        """A few models that a server of one's own has, of all where no address is given."""
        said = [server.catalogue(self.catalogues) for server in self.servers]
        here = [one for one in said if one.models and base_url in ("", one.base_url)]
        return "; ".join(one.has(FEW) for one in here)

    def notes(self) -> list[ServerNote]:
        """How matters stand with each server of one's own."""
        return [server_note(server, server.catalogue(self.catalogues)) for server in self.servers]

    def describe(self) -> list[str]:
        """How matters stand, in plain sentences, for the doctor and for pages."""
        if not self.models:
            return ["No model can be used: no key is set, and the embedded model is switched off."]
        lines = []
        if self.keyless and not self.models[EMBEDDED].small:
            lines.append(f"The embedded model, {self.models[EMBEDDED].id}, answers for all tiers.")
        elif self.keyless:
            why = "No model key is set" if not self.servers else "Nothing else can be asked"
            lines.append(
                f"{why}: the small embedded model answers for all tiers. It is for "
                "trying out. For a better one: Admin, Models in the browser, or "
                "`loopforge settings key` or `loopforge model fetch` (docs/adding-models.md)."
            )
        else:
            lines += [self._tier_line(tier) for tier in range(1, COUNT + 1)]
        return lines

    def wanting(self) -> list[str]:
        """The models that cannot be used yet, in plain sentences, one for each key they want."""
        lines = []
        for need in dict.fromkeys(self.missing.values()):
            names = [name for name, why in self.missing.items() if why == need]
            lines.append(f"Not usable without {need}: {', '.join(names)}.")
        return lines

    def _tier_line(self, tier: int) -> str:
        by = self.served[tier - 1]
        if by != tier:
            return f"Tier {tier}: none of its models can be used, so tier {by} answers for it."
        specs = [self.models[name] for name in self.tiers[tier - 1]]
        return f"Tier {tier}: {', '.join(f'{spec.name} ({spec.place})' for spec in specs)}."


def shipped_ladder() -> dict[str, Any]:
    """The ladder that ships, as `{"tiers": ..., "models": ...}`."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("shipped_models.toml").read_text("utf-8"))


def read_tiers(
    models: Mapping[str, Any],
    tiers: Mapping[str, Any],
    keys: Mapping[str, str],
    limits: TierLimits = TierLimits(),  # noqa: B008  frozen
    catalogues: Catalogues = {},  # noqa: B006  never written to
) -> Tiers:
    """The tiers, from the tables of loopforge.toml on top of the ladder and the keys that are set.

    Raises BadSettings, naming the key that is wrong.
    """
    shipped = shipped_ladder()
    own = gateway_servers(keys, limits.model)
    tables = _merge_tables(shipped["models"], models)
    entries = {name: _read_entry(name, table, found=bool(own)) for name, table in tables.items()}
    known = {*entries, EMBEDDED, SCRIPTED}
    order = _read_tier_lists({**shipped["tiers"], **tiers}, known, open=bool(own))
    entries |= {name: _Entry() for names in order for name in names if name not in known}
    usable, missing, servers = _Ways(keys, limits, own, catalogues).sorted_out(
        entries, shipped["models"]
    )
    served = {usable[name].base_url for name in shipped["models"] if name in usable}
    first, offered = _offered_models(own, catalogues, served, limits)
    usable = {**offered, **usable}
    usable |= _built_in(limits, usable)
    if EMBEDDED not in usable:
        missing[EMBEDDED] = "embedded_model = true"
    talking = {name for name, spec in usable.items() if not spec.hears}
    lists = tuple(
        tuple(name for name in names if name in talking)
        if str(number) in tiers
        else tuple(dict.fromkeys(name for name in (*first, *names) if name in talking))
        for number, names in enumerate(order, 1)
    )
    keyless = not any(lists) and limits.embedded
    if not any(lists):
        written = tuple(name for name in models if name in talking)
        lists = (written or ((EMBEDDED,) if keyless else ()),) * COUNT
        keyless = keyless and not written
    made = _serving_tiers(usable if any(lists) else {}, lists, missing)
    wanted = (
        next(iter(names if str(nth) in tiers else ()), "") for nth, names in enumerate(order, 1)
    )
    return msgspec.structs.replace(
        made,
        keyless=keyless,
        servers=(*own, *servers),
        catalogues=catalogues,
        wanted=tuple(wanted),
    )


def _merge_tables(shipped: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """The user's tables over the shipped ones, key by key."""
    for name, table in written.items():
        if not isinstance(table, dict):
            raise BadSettings(
                f"loopforge.toml: `models.{name}` must be a table, such as [models.{name}]."
            )
    names = dict.fromkeys((*shipped, *written))
    return {name: {**shipped.get(name, {}), **written.get(name, {})} for name in names}


def _read_entry(name: str, table: Mapping[str, Any], *, found: bool) -> _Entry:
    """A table, checked; `found`: there is a server that may have it, where it says none."""
    where = f"loopforge.toml: `models.{name}`"
    if unknown := next((key for key in table if key not in KEYS), None):
        near = _nearest_name_hint(unknown, KEYS)
        raise BadSettings(f"{where} has a key `{unknown}` that nobody reads{near}.")
    try:
        entry = msgspec.convert(table, _Entry)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{where}: {explain_validation_error(error, _Entry)}.") from error
    if strange := next((place for place in entry.at if place not in PLACES), None):
        known = ", ".join(PLACES)
        raise BadSettings(f"{where}: `at` names {strange!r}; the places are {known}.")
    for field in ("window", "slots"):
        if table.get(field, 1) < 1:
            raise BadSettings(f"{where}: `{field}` must be at least 1.")
    if entry.base_url or entry.provider or entry.at or found:
        return entry
    raise BadSettings(
        f"{where} says nowhere how to reach it: give `base_url` (any OpenAI-compatible server), "
        "`provider` (openai, anthropic, google) or `at`."
    )


def _nearest_name_hint(name: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _read_tier_lists(
    tiers: Mapping[str, Any], known: set[str], *, open: bool
) -> tuple[tuple[str, ...], ...]:
    """The lists of the tiers as written, checked; `open`: a server may know other names."""
    for tier, names in tiers.items():
        where = f"loopforge.toml: `tiers.{tier}`"
        if tier not in {str(number) for number in range(1, COUNT + 1)}:
            raise BadSettings(f"{where}: there are tiers 1 to {COUNT}.")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadSettings(f"{where} must be a list of model names.")
        unknown = next((name for name in names if name not in known), None)
        if unknown and not open:
            near = _nearest_name_hint(unknown, tuple(known))
            raise BadSettings(
                f"{where} names {unknown!r}, which has no table [models.{unknown}]{near}. Were the "
                "tiers saved in the browser, `loopforge settings undo tiers` takes that back."
            )
    return tuple(tuple(tiers[str(number)]) for number in range(1, COUNT + 1))


class _Ways:
    """The ways to models, given the keys that are set and what servers of one's own said."""

    def __init__(
        self,
        keys: Mapping[str, str],
        limits: TierLimits,
        own: Sequence[OwnServer],
        catalogues: Catalogues,
    ) -> None:
        self._keys, self._limits, self._catalogues = keys, limits, catalogues
        self._own = {server.gateway: server.catalogue(catalogues) for server in own}
        self._tables: dict[str, OwnServer] = {}

    def sorted_out(
        self, entries: Mapping[str, _Entry], shipped: Mapping[str, Any]
    ) -> tuple[dict[str, ModelSpec], dict[str, str], tuple[OwnServer, ...]]:
        """Models that can be used, what others lack, and the servers that tables name."""
        usable: dict[str, ModelSpec] = {}
        missing: dict[str, str] = {}
        for name, entry in entries.items():
            found = self._way_to_model(name, entry, shipped=name in shipped)
            if isinstance(found, str):
                missing[name] = found
            else:
                usable[name] = _spec_of(name, entry, found[0], self._limits, found[1])
        return usable, missing, tuple(self._tables.values())

    def _way_to_model(
        self, name: str, entry: _Entry, *, shipped: bool
    ) -> tuple[ModelAccess, OfferedModel | None] | str:
        """How to reach a model and what its server tells of it, or what is missing."""
        if entry.provider in (EMBEDDED, SCRIPTED):
            place = msgspec.structs.replace(PLACES["server"], title="inside the program")
            return ModelAccess(place=place, base_url="", key=Secret(), id=entry.id or name), None
        if entry.base_url:
            return self._at_table(name, entry)
        if entry.provider is None:
            return self._at_place(name, entry, shipped=shipped)
        native = "server" if entry.provider == "openai" else entry.provider
        for known in dict.fromkeys((native, entry.provider)):
            if is_open(known, self._keys):
                return self._resolve_at_server(
                    known, model_access(known, entry.id or name, self._keys)
                )
        return PLACES[entry.provider].keys[0]

    def _at_place(
        self, name: str, entry: _Entry, *, shipped: bool
    ) -> tuple[ModelAccess, OfferedModel | None] | str:
        def has(place: str, id: str) -> bool:
            """A server that did not tell may be a proxy, but only a proxy knows the ladder."""
            said = self._own.get(place)
            if said is None or not shipped:
                return True
            return place == "litellm" if said.trouble else said.may_have(id)

        at = entry.at or ({"openai": entry.id} if entry.id else {})
        if found := find_way(name, at, self._keys, has):
            return self._resolve_at_server(*found)
        return opening_variables(tuple(entry.at))

    def _resolve_at_server(
        self, place: str, found: ModelAccess
    ) -> tuple[ModelAccess, OfferedModel | None]:
        said = self._own.get(place)
        return _locate_at_server(found, said) if said else (found, None)

    def _at_table(self, name: str, entry: _Entry) -> tuple[ModelAccess, OfferedModel | None] | str:
        """A server whose address stands in the file, or in a variable the file names."""
        keys, base = self._keys, entry.base_url
        named = "://" not in base
        if named and not keys.get(base):
            return (
                f"{base} (a variable that holds its address, or an address that starts with "
                "http://)"
            )
        if entry.key and not keys.get(entry.key):
            return entry.key
        base = keys[base] if named else base
        place = PLACES[entry.provider or "openai"]
        place = msgspec.structs.replace(
            place, title=address_without_login(base), vendor="", extra={}
        )
        key = Secret(keys.get(entry.key, ""))
        found = ModelAccess(place=place, base_url=base.rstrip("/"), key=key, id=entry.id or name)
        own = of_table(name, base, entry.id, key, entry.key)
        if own is None or entry.provider not in (None, "openai"):
            return found, None
        self._tables.setdefault(own.address, own)
        said = own.catalogue(self._catalogues)
        if not entry.id and not said.trouble and not said.find(name):
            if said.first is None:
                return f"a model that talks, at {own.title}"
            found = msgspec.structs.replace(found, id=said.first.id)
        return _locate_at_server(found, said)


def _locate_at_server(
    found: ModelAccess, said: ServerCatalogue
) -> tuple[ModelAccess, OfferedModel | None]:
    """A way to a model of a server of one's own: where it really answers, by its real name."""
    model = said.find(found.id)
    id = model.id if model else found.id
    return msgspec.structs.replace(found, base_url=said.base_url, id=id), model


def _spec_of(
    name: str,
    entry: _Entry,
    found: ModelAccess,
    limits: TierLimits,
    told: OfferedModel | None = None,
) -> ModelSpec:
    """A model; where its table does not say how large it is, as its server `told`."""
    provider = entry.provider or found.place.provider
    small = told.small if told and entry.small is None else bool(entry.small)
    window = entry.window or (told.window if told else WINDOW)
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
        small=small,
        vision=entry.vision and provider not in (EMBEDDED, SCRIPTED),
        hears=entry.hears,
        minute_price=entry.minute_price,
        thinking=entry.thinking,
        window=limits.embedded_window if provider == EMBEDDED else window,
        price=entry.price,
        slots=entry.slots,
        first_token_seconds=entry.first_token_seconds or limits.first_token_seconds,
        total_seconds=entry.total_seconds or limits.total_seconds,
        extra={**found.place.extra, **entry.extra},
    )


def _offered_models(
    own: Sequence[OwnServer], catalogues: Catalogues, served: Collection[str], limits: TierLimits
) -> tuple[list[str], dict[str, ModelSpec]]:
    """What servers have beside the ladder: which of it is asked first, and all of it by name.

    `served` are the addresses where models of the ladder are.
    """
    first: list[str] = []
    found: dict[str, ModelSpec] = {}
    for server in own:
        said = server.catalogue(catalogues)
        place = msgspec.structs.replace(PLACES[server.gateway], title=server.title)
        names = [model.id for model in said.models if model.talks]
        if server.model or (said.trouble and server.gateway == "server"):
            told = said.find(server.model)
            first.append(told.id if told else server.model or ANY)
        elif said.first and said.base_url not in served:
            first.append(said.first.id)
        for name in (*names, *first):
            if name not in found:
                way = ModelAccess(place=place, base_url=said.base_url, key=server.key, id=name)
                found[name] = _spec_of(name, _Entry(), way, limits, said.find(name))
    return first, found


def _built_in(limits: TierLimits, written: Mapping[str, ModelSpec]) -> dict[str, ModelSpec]:
    """The models that need no network; a table of the same name comes first."""
    embedded = ModelSpec(
        name=EMBEDDED,
        provider="embedded",
        id=limits.embedded_id,
        place="inside the program",
        tools=False,
        small=limits.embedded_small,
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


def _serving_tiers(
    usable: dict[str, ModelSpec], lists: tuple[tuple[str, ...], ...], missing: dict[str, str]
) -> Tiers:
    """Which tier answers for each: itself, else the nearest lower one, else the nearest higher."""

    def by(tier: int) -> int:
        lower = range(tier, 0, -1)
        higher = range(tier + 1, COUNT + 1)
        return next((other for other in (*lower, *higher) if lists[other - 1]), 0)

    served = tuple(by(tier) for tier in range(1, COUNT + 1))
    return Tiers(models=usable, tiers=lists, served=served, missing=missing)
