"""An MCP server as its owner describes it: `tools/NAME.toml` in a home, with `command` or `url`.

    command, folders, environment, network,          a program, confined in the sandbox,
    memory, processes, scratch                       and what it may use
    url, headers                                     a server elsewhere, by streamable HTTP
    mates, only, reads, addresses, asks,             for both
    apart, ready, seconds, idle

`${KEY}` in a value is the variable KEY of the environment. docs/connected-tools.md tells it all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_checks import web_parts
from loopforge.tools.sandbox.granted_network import HOST

READY = 30.0
"""Seconds that a server may take until it is ready, where its file does not say."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
KEY = re.compile(r"\$\{(\w+)\}")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
SEEN = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
"""Where programs of the system lie, which every sandbox sees."""
NEAR = ("localhost", "127.0.0.1", "::1")


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A server as its file describes it.

    `folders` are what its program may read besides the system's own, `network` the hosts that it
    may reach (sandbox/granted_network.py). `mates` are those that may be given its tools (none
    named: any). Of its tools `only` are taken, by the names it gives them; `reads` are those that
    the owner knows to change nothing. `addresses`: by tool, the argument that is an address of the
    web which it sends for. `apart`: each mate has one of its own in each room, for the people whom
    it answers. `asks`: before which uses people are asked. `costs`: by tool, what a use costs in US
    dollars. `ready`: seconds that it may take to begin; `seconds` that a use may take; after `idle`
    seconds without one it is ended. `memory` in MiB, and `scratch`: what /tmp and /dev/shm hold,
    each; `processes` counts threads too.
    """

    command: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    network: tuple[str, ...] = ()
    memory: Annotated[int, msgspec.Meta(ge=16, le=65_536)] = 512
    processes: Annotated[int, msgspec.Meta(ge=4, le=4096)] = 64
    scratch: Annotated[int, msgspec.Meta(ge=1, le=65_536)] = 64
    url: str = ""
    headers: dict[str, str] = {}
    mates: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    addresses: dict[str, str] = {}
    apart: bool = False
    asks: Literal["changes", "once", "always", "never"] = "changes"
    costs: dict[str, Annotated[float, msgspec.Meta(ge=0)]] = {}
    ready: Annotated[float, msgspec.Meta(ge=1, le=120)] = READY
    seconds: Annotated[float, msgspec.Meta(ge=1, le=900)] = 60.0
    idle: Annotated[float, msgspec.Meta(ge=1, le=86_400)] = 300.0

    def key_names(self) -> set[str]:
        """The variables whose values it is given."""
        values = (*self.headers.values(), *self.environment.values())
        return {key for value in values for key in KEY.findall(value)}

    def filled(self, environ: Mapping[str, str]) -> McpServer:
        """The same with what its `${KEYS}` stand for."""

        def fill(values: Mapping[str, str]) -> dict[str, str]:
            named = lambda key: environ[key[1]]  # noqa: E731
            return {name: KEY.sub(named, value) for name, value in values.items()}

        return msgspec.structs.replace(
            self, environment=fill(self.environment), headers=fill(self.headers)
        )

    def readable(self, home: Path) -> tuple[Path, ...]:
        """Its folders; one that is not absolute stands in the home."""
        return tuple(home / Path(folder).expanduser() for folder in self.folders)


def is_server(written: Mapping[str, Any]) -> bool:
    """Whether a file describes an MCP server, and not one request."""
    return "command" in written or "url" in written


def read_server(name: str, written: Mapping[str, Any], environ: Mapping[str, str]) -> McpServer:
    """A server as it is written in its file, whose keys are there. Raises BadSettings."""
    try:
        server = msgspec.convert(written, McpServer)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{name}.toml: {explain_validation_error(error, McpServer)}.") from error
    if why := _wrong(name, server):
        raise BadSettings(f"{name}.toml: {why}.")
    for key in sorted(server.key_names()):
        if not environ.get(key) or CONTROL.search(environ[key]):
            raise BadSettings(f"{name}.toml: the environment variable {key} is not set, or broken.")
    return server


def _wrong(name: str, server: McpServer) -> str:
    """What is wrong with it; "" for nothing."""
    if not NAME.fullmatch(name):
        return "a server's name has up to 32 small letters, digits and _, such as github"
    if bool(server.command) == bool(server.url):
        return "it has either a command (a list: the program and its arguments) or a url"
    return _wrong_program(server) if server.command else _wrong_place(server)


def _wrong_program(server: McpServer) -> str:
    program = Path(server.command[0])
    if program.is_absolute():
        seen = [Path(each).expanduser() for each in (*SEEN, *server.folders)]
        if not any(program.is_relative_to(each) for each in seen):
            return f"the sandbox does not see {program}: add its folder to `folders`"
        starts = _interpreter(program)
        if starts and not any(starts.is_relative_to(each.resolve()) for each in seen):
            return (
                f"the sandbox does not see {starts}, which starts {program}: add its folder "
                "to `folders`, or install the program by the system's own, such as /usr/bin/python3"
            )
    if server.headers:
        return "headers are for a url; a program is given its keys in [environment]"
    if bad := next((host for host in server.network if not HOST.fullmatch(host)), ""):
        return f"{bad!r} in network is no host, such as api.example.org or *.example.org"
    return ""


def _interpreter(program: Path) -> Path | None:
    """What a script's first line names to start it, links followed; None for another program."""
    try:
        with program.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return None
    named = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    return Path(named[0]).resolve() if named else None


def _wrong_place(server: McpServer) -> str:
    place = web_parts(server.url)
    if place is None or place.username:
        return "the url must be such as https://mcp.example.org/mcp, and hold no password"
    if server.folders or server.environment or server.network:
        return "folders, environment and network are for a command; a url has headers"
    if server.key_names() and place.scheme == "http" and place.hostname not in NEAR:
        return "it sends a key, so its url must begin with https://"
    if "$" in server.url:
        return "keys stand in [headers], not in the url"
    return ""
