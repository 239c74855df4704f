"""The addresses by which other machines reach this one, found without asking anybody.

The system is asked from which of its addresses it would send to other networks; nothing is sent.
Does not know what listens there, nor what a firewall lets through.
"""

import contextlib
import ipaddress
import socket
from typing import Literal

Scope = Literal["machine", "network", "internet"]
"""Who can reach an address: this machine alone, its own network, anybody."""

BEYOND = (
    "192.0.2.1",  # of no network (RFC 5737): by the default route
    "192.168.255.254",
    "10.255.255.254",
    "172.31.255.254",
    "100.100.100.100",  # networks of machines that share an account (RFC 6598)
)
BEYOND_6 = ("2001:db8::1", "fd00::1")
"""Where the system is asked how it would send; likely ones first."""
NEAR = (".local", ".lan", ".home", ".internal", ".home.arpa")
"""Ends of names that a network of one's own gives."""


def own_addresses(*, six: bool = False) -> list[str]:
    """This machine's addresses on networks, the likeliest first; with `six`, those of IPv6 too."""
    found = [_sender(socket.AF_INET, each) for each in BEYOND]
    if six:
        found += [_sender(socket.AF_INET6, each) for each in BEYOND_6]
    return [each for each in dict.fromkeys(found) if each and _leads(each)]


def _sender(family: socket.AddressFamily, to: str) -> str:
    """The address from which this machine would send there; "" if it could not."""
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asked:
        asked.connect((to, 9))  # of a datagram socket: it is only noted where to send
        return str(asked.getsockname()[0])
    return ""


def _leads(address: str) -> bool:
    """Whether another machine could come by it: not one of this machine's own, or of one link."""
    meant = ipaddress.ip_address(address)
    return not (meant.is_loopback or meant.is_link_local or meant.is_unspecified)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def scope_of(host: str) -> Scope:
    """Who can reach a host by this name or address, as far as that shows."""
    if is_loopback(host):
        return "machine"
    with contextlib.suppress(ValueError):
        return "internet" if ipaddress.ip_address(host).is_global else "network"
    return "network" if "." not in host or host.endswith(NEAR) else "internet"
