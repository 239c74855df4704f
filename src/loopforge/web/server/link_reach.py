"""Reach: with which address a link begins that is given to others, and who can open it.

    web_address set       that one
    a host for all        this machine's addresses on its networks, as they are when it is asked
    any other host        that one; where it is loopback, nobody else can open the link

Imports nothing of the web, since commands tell the same.
"""

from collections.abc import Callable, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from loopforge.runtime.installation.network_addresses import Scope, own_addresses, scope_of

ALL = ("0.0.0.0", "::", "")  # noqa: S104 - a person set it
"""Hosts that stand for every address of this machine."""
Addresses = Callable[..., Sequence[str]]


class WebSettings(Protocol):
    """The settings by which pages are reached."""

    @property
    def web_host(self) -> str:
        """Where they listen."""

    @property
    def web_address(self) -> str:
        """By which address browsers come, where that was set; else ""."""


class LinkReach(Struct, frozen=True, kw_only=True):
    """Who can open a link, and how it begins: `base` and `others` are addresses without a slash.

    `named`: the address is a setting. `near` is how links would begin if the home were open to its
    network, where it is not; "" where this machine is on none. `port` is the one that listens.
    """

    scope: Scope
    base: str
    port: int
    others: tuple[str, ...] = ()
    named: bool = False
    near: str = ""

    @property
    def host(self) -> str:
        """The name or address of the machine, as it stands in a link."""
        return urlsplit(self.base).hostname or ""

    @property
    def readable(self) -> bool:
        """Whether what is said travels so that others on the way can read it."""
        return self.scope != "machine" and self.base.startswith("http://")

    @property
    def who(self) -> str:
        """Who can open a link, in a sentence or two."""
        match self.scope:
            case "machine":
                return (
                    "Only a browser on this very machine can open it: nobody on another machine "
                    "or on a phone can."
                )
            case "network":
                return (
                    f"Whoever can reach {self.shown} on this network can open it (the same Wi-Fi "
                    "or cable). From the internet nobody can, unless the router lets them through."
                )
            case "internet":
                return (
                    f"Anybody on the internet who has it can open it, if {self.shown} leads to "
                    "this machine. Send it to the one person alone."
                )

    @property
    def shown(self) -> str:
        """The host and its port, as a browser shows them."""
        return urlsplit(self.base).netloc

    @property
    def risk(self) -> str:
        """What travels unprotected, and what to do; "" where nothing does."""
        if not self.readable:
            return ""
        told = (
            "It is plain http: cookies, passwords and all that is said can be read by whoever "
            "sits on the way."
        )
        if self.scope == "network":
            return f"{told} That is fine at home, and not in a café or an office."
        return f"{told} Put a proxy with https before it (docs/web.md, “On the network”)."

    @property
    def firewall(self) -> str:
        """What to let in where a link does not open; "" where nobody else is to come."""
        if self.scope == "machine" or (self.named and not self.readable):
            return ""
        return (
            f"If it opens here and not there, a firewall keeps TCP port {self.port} shut: on Linux "
            f"`sudo ufw allow {self.port}/tcp` (or `sudo firewall-cmd --add-port={self.port}/tcp`) "
            "opens it, macOS and Windows ask by themselves and are told to allow it, on private "
            "networks; in a container, publish the port."
        )

    @property
    def answers(self) -> str:
        """By which names the home answers; "" where nobody else is to come."""
        if self.scope == "machine":
            return ""
        if self.named:
            return (
                f"Of names that are not this machine's own, the home answers to {self.host} alone "
                "(the setting web_address)."
            )
        return (
            "The home answers to this machine's addresses and its own name; for any other name, "
            "set web_address to it."
        )


OPENING = "loopforge settings set web_host 0.0.0.0"
"""The command that opens a home to its network, from the next start on."""
OPENED = (
    "Whoever is on that network then sees the page to sign in, and comes no further without an "
    "invite or a password. It is plain http, so whoever sits on the way can read along, passwords "
    "too: fine at home, and not in a café. To close it again, set web_host to 127.0.0.1."
)


def reach_of(
    settings: WebSettings, address: str, addresses: Addresses = own_addresses
) -> LinkReach:
    """Who can open a link of a home that listens as its settings say, and is called `address`."""
    named = settings.web_address.rstrip("/")
    parts = urlsplit(named or address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if named:
        return LinkReach(scope=scope_of(parts.hostname or ""), base=named, port=port, named=True)
    host = settings.web_host
    if host in ALL:
        found = [http_base_url(each, port) for each in addresses(six=host == "::")]
        if not found:
            return LinkReach(scope="machine", base=http_base_url("127.0.0.1", port), port=port)
        scope = scope_of(urlsplit(found[0]).hostname or "")
        return LinkReach(scope=scope, base=found[0], others=tuple(found[1:]), port=port)
    scope = scope_of(host)
    near = [http_base_url(each, port) for each in addresses()] if scope == "machine" else []
    return LinkReach(scope=scope, base=address, port=port, near=near[0] if near else "")


def http_base_url(host: str, port: int) -> str:
    """How addresses of this host begin."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
