"""Where pages may come from: public addresses alone, each resolved, checked and held to.

A name is resolved here, all of its addresses are checked, and the connection is made to one of
those that were checked, so that a name that changes between the check and the connection gains
nothing. Hooks in as the network of an HTTP client, which asks it anew for each redirect. `inside`
are those of one's own network, as "name:port", that the owner of a home named.

Does not cover: what a public address does with a request, and proxies, which are not used.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore2

from loopforge.errors import InputError
from loopforge.runtime.installation.network_addresses import own_addresses

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host for a port."""

PUBLIC_6 = IPv6Network("2000::/3")
DOCUMENTED_6 = IPv6Network("3fff::/20")
NAT64 = IPv6Network("64:ff9b::/96")
"""What networks without IPv4 write before an address of it."""
ASSIGNED = IPv4Network("192.0.0.0/24")
"""For protocols; some Pythons take parts of it for the internet."""
WIRE_SERVER = IPv4Address("168.63.129.16")
"""A public address by which machines of Azure reach what looks after them."""
TRIED = 4
"""Addresses of one name that are tried, one after the other."""


async def resolved(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them. Raises InputError."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"there is no {host} (its name leads to no address)") from error
    return list(dict.fromkeys(str(where[4][0]) for where in found))


def is_public(address: str) -> bool:
    """Whether an address is one of the internet, and not one of a network behind it."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    found = _reached(found)
    if isinstance(found, IPv6Address):
        in_use = found in PUBLIC_6 and found not in DOCUMENTED_6 and not found.teredo
        return in_use and found.is_global
    elsewhere = found.is_multicast or found in ASSIGNED or found == WIRE_SERVER
    return found.is_global and not elsewhere


def is_one_of(address: str, own: Collection[str]) -> bool:
    """Whether it reaches one of these, in whatever form it is written."""
    return str(_reached(ip_address(address))) in own


def _reached(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The address of IPv4 that one of IPv6 stands for; any other is itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """The network of an HTTP client, as far as it may be reached."""

    def __init__(self, inside: Collection[str] = (), resolve: Resolve = resolved) -> None:
        self._inside, self._resolve = frozenset(inside), resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to what was checked. Raises InputError for what may not be reached."""
        addresses = await self._resolve(host, port)
        if f"{host}:{port}" not in self._inside:
            await self._check(host, addresses)
        refused: Exception = InputError(f"there is no {host} (its name leads to no address)")
        tried = addresses[:TRIED]
        each = timeout / len(tried) if timeout and tried else timeout
        for address in tried:
            try:
                return await self._network.connect_tcp(
                    address, port, each, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                refused = error
        raise refused

    async def _check(self, host: str, addresses: Sequence[str]) -> None:
        own = await asyncio.to_thread(own_addresses, six=True)
        for address in addresses:
            if not is_public(address) or is_one_of(address, own):
                raise InputError(
                    f"{host} leads into a private network ({address}), which is not read from. "
                    "The owner of this home can name it in the setting lookup_inside."
                )

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        """There is no such address in the web."""
        raise InputError("an address of the web is no file")

    async def sleep(self, seconds: float) -> None:
        """Wait, as the client does between tries."""
        await self._network.sleep(seconds)
