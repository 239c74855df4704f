"""Servers of one's own: which a home names, and how matters stand with each, in words.

A server of one's own is one that OPENAI_BASE_URL, LITELLM_BASE_URL or a model's table in
loopforge.toml gives the address of, and that is no service known by name. Pure: what such a server
said of itself (a `ServerCatalogue`) is passed in. Knows no tiers.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from loopforge.models.providers.known_services import (
    GATEWAYS,
    PLACES,
    is_open,
    place_behind_openai_url,
    place_of,
)
from loopforge.models.providers.model_spec import Secret
from loopforge.models.providers.server_catalogue import (
    ServerCatalogue,
    address_without_login,
    candidate_base_urls,
    normalize_address,
)

Catalogues = Mapping[str, ServerCatalogue]
"""What servers said of themselves, by the address they were asked at."""


class OwnServer(Struct, frozen=True, kw_only=True):
    """A server of one's own. `named` is what gives its address, `wants` what would give its key.

    `gateway` is the place it stands for, "" where a model's table names it. `model` is the name
    under which it is to be asked, where one is given.
    """

    address: str
    named: str
    key: Secret = Secret()
    wants: str = ""
    gateway: str = ""
    model: str = ""

    @property
    def title(self) -> str:
        """How it is called before people: its address without name and password."""
        return f"the server at {address_without_login(self.address)}"

    def catalogue(self, catalogues: Catalogues) -> ServerCatalogue:
        """What it said; that it was not asked yet, where it was not."""
        unasked = ServerCatalogue(base_url=candidate_base_urls(self.address)[0], trouble="unasked")
        return catalogues.get(self.address, unasked)


class ServerNote(Struct, frozen=True, kw_only=True):
    """How matters stand, in words, and what to do about it."""

    state: Literal["ok", "note", "wrong"]
    said: str
    mend: str = ""


def gateway_servers(keys: Mapping[str, str], model: str) -> tuple[OwnServer, ...]:
    """The servers of one's own that variables name; `model` is what they are to be asked for."""
    return tuple(
        OwnServer(
            address=normalize_address(keys[PLACES[name].base_variable]),
            named=PLACES[name].base_variable,
            key=Secret(next((keys[key] for key in PLACES[name].keys if keys.get(key)), "")),
            wants=PLACES[name].keys[0],
            gateway=name,
            model=model,
        )
        for name in GATEWAYS
        if is_open(name, keys) and not (name == "server" and place_behind_openai_url(keys))
    )


def of_table(name: str, address: str, id: str, key: Secret, wants: str) -> OwnServer | None:
    """The server that a model's table names; None for a service that is known by name."""
    if place_of(address):
        return None
    return OwnServer(
        address=normalize_address(address),
        named=f"base_url of [models.{name}]",
        key=key,
        wants=wants or f"`key` in [models.{name}], the name of a variable that holds it",
        model=id,
    )


_NOTES: dict[str, tuple[Literal["note", "wrong"], str, str]] = {
    "unasked": ("note", "was not asked which models it has.", ""),
    "unreachable": (
        "wrong",
        "does not answer ({detail}).",
        "Start it, or correct {named}; it is asked again by itself.",
    ),
    "key": ("wrong", "{key} ({detail}).", "Set {wants}."),
    "starting": (
        "note",
        "is not ready yet ({detail}).",
        "It may still be loading its model; it is asked again by itself.",
    ),
    "unlisted": (
        "note",
        "tells no list of models{said}; it is asked for {asked!r}.",
        "If it does not answer either, correct {named}.{unnamed}",
    ),
}
"""What is said of a server that did not tell its models, and what mends it, by its trouble."""


def server_note(server: OwnServer, said: ServerCatalogue) -> ServerNote:
    """How matters stand with a server, for its owner."""
    title = server.title[0].upper() + server.title[1:]
    if not said.trouble:
        return _listed(server, said, title)
    told = {
        "detail": said.detail,
        "named": server.named,
        "wants": server.wants,
        "key": "refuses the key it is given" if server.key else "wants a key",
        "asked": server.model or ANY,
        "said": f" ({said.detail})" if said.detail else "",
        "unnamed": "" if server.model else f" If it wants a name: {naming(server)}.",
    }
    state, words, mend = _NOTES[said.trouble]
    return ServerNote(state=state, said=f"{title} {words.format(**told)}", mend=mend.format(**told))


ANY = "default"
"""What a server is asked for that tells no list and was given no name: most then ignore it."""


def naming(server: OwnServer) -> str:
    """How one of its models is named."""
    if server.gateway:
        return "set OPENAI_MODEL, or server_model in loopforge.toml"
    return "`id` in its table names a model"


def _listed(server: OwnServer, said: ServerCatalogue, title: str) -> ServerNote:
    has = f"it has: {said.has()}"
    if server.model and not said.may_have(server.model):
        return ServerNote(
            state="wrong",
            said=f"{title} has no model {server.model!r}; {has}.",
            mend=f"Name one of those ({naming(server)}), or give it that model.",
        )
    found = said.find(server.model) if server.model else said.first
    if found is None and not server.model:
        return ServerNote(
            state="wrong",
            said=f"{title} has no model that talks; {has}.",
            mend="Give it one (`ollama pull llama3.2`, say); it is asked again by itself.",
        )
    asked = f"; it is asked for {found.id}" if found and len(said.models) > 1 else ""
    several = len(said.models) > 1 and not server.model
    mend = f"For another of them: {naming(server)}." if several else ""
    return ServerNote(state="ok", said=f"{title} answers, and {has}{asked}.", mend=mend)
