"""How unmodified clients get to the twin: by TLS with Discord's own names, or by plain addresses.

In one process: `discord.Client(connector=...)` is a public argument. A resolver sends Discord's
hosts to loopback and refuses all others, so a call that would leave the machine fails.
In another process, which is killed and started again: `point(rest, gateway)` there.
"""

import functools
import socket
import ssl

import aiohttp
import trustme
from aiohttp.abc import AbstractResolver, ResolveResult

GATEWAY = "wss://gateway.discord.gg/"
RESUME, CDN = "wss://gateway-us-east1-d.discord.gg", "https://cdn.discordapp.com"
NAMES = ("discord.com", "*.discord.com", "*.discord.gg", "cdn.discordapp.com", "*.discordapp.net")


@functools.cache
def authority() -> trustme.CA:
    """The certificate authority of this process."""
    return trustme.CA()


@functools.cache
def server_context() -> ssl.SSLContext:
    """TLS as Discord's hosts."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority().issue_cert(*NAMES).configure_cert(context)
    return context


class Loopback(AbstractResolver):
    """Discord's hosts are at 127.0.0.1; there is no other host."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Where that host is; OSError for a stranger."""
        if not host.endswith(("discord.com", "discord.gg", "discordapp.com", "discordapp.net")):
            raise OSError(f"no route to {host}: the twin is only Discord")
        found = ResolveResult(
            hostname=host,
            host="127.0.0.1",
            port=self._port,
            family=socket.AF_INET,
            proto=0,
            flags=0,
        )
        return [found]

    async def close(self) -> None:
        """Nothing is held."""


@functools.cache
def client_context() -> ssl.SSLContext:
    """Trusts the authority of this process, and nobody else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority().configure_trust(context)
    return context


def connector(port: int) -> aiohttp.TCPConnector:
    """For one client, which closes it."""
    return aiohttp.TCPConnector(limit=0, resolver=Loopback(port), ssl=client_context())


def point(rest: str, gateway: str) -> None:
    """Point the whole process's discord.py at a twin's plain addresses."""
    import discord.http
    import yarl

    import discord.gateway

    discord.http.Route.BASE = rest
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
