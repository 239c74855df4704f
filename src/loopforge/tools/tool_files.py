"""What files of a home describe: a tool, or an MCP server, for each `tools/NAME.toml`."""

import os
from collections.abc import Container
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from loopforge.core.limits.toml_reading import toml_of
from loopforge.errors import BadSettings
from loopforge.runtime.installation.home_files import text_of
from loopforge.runtime.plugins.setting_declarations import PluginSettings
from loopforge.runtime.ports import Tool, ToolWork
from loopforge.tools.mcp.server_options import McpServer, is_server, read_server
from loopforge.tools.web.described_service import DescribedService, read_service, service_tool
from loopforge.tools.web.http_request import place_of
from loopforge.tools.web.network_guard import GuardedNetwork

FOLDER = "tools"
SECRET = 12
"""Characters from which a key is looked for in what mates say; a shorter one stands in any text."""


FileMarks = dict[str, tuple[int, int, int]]
"""Of files by name: when each was written, its size, its number on the disk."""


class DescribedTools(NamedTuple):
    """What the files give: tools, MCP servers, their keys, and what is wrong in which file."""

    tools: list[tuple[Tool, ToolWork]]
    servers: dict[str, McpServer]
    secrets: set[str]
    flaws: list[str]


def file_marks(home: Path) -> FileMarks:
    """The files by name, each with marks that are others once it was written anew."""
    found: FileMarks = {}
    with suppress(OSError), os.scandir(home / FOLDER) as entries:
        for entry in entries:
            if entry.name.endswith(".toml"):
                with suppress(OSError):  # it went meanwhile
                    about = entry.stat()
                    found[entry.name] = (about.st_mtime_ns, about.st_size, about.st_ino)
    return found


def load_described_tools(settings: PluginSettings, taken: Container[str] = ()) -> DescribedTools:
    """The tools of a home's files; `taken` are names that other tools have. Never raises."""
    found = DescribedTools([], {}, set(), [])
    for path in sorted((settings.home / FOLDER).glob("*.toml")):
        try:
            if path.stem in taken:
                raise BadSettings(f"{path.name}: another tool is called {path.stem}; rename it.")
            written = toml_of(text_of(path))
            if is_server(written):
                server = read_server(path.stem, written, settings.environ)
                found.servers[path.stem] = server.filled(settings.environ)
                found.secrets.update(_secrets(settings, server))
                continue
            service = read_service(path.stem, written)
            found.tools.append(
                service_tool(path.stem, service, settings.environ, partial(_network, service))
            )
        except (BadSettings, OSError, ValueError) as error:
            said = str(error)
            named = said if said.startswith(path.name) else f"{path.name}: {said}"
            found.flaws.append(named)
            continue
        found.secrets.update(_secrets(settings, service))
    return found


def _secrets(settings: PluginSettings, what: DescribedService | McpServer) -> set[str]:
    """The keys that it is given, of those that are looked for."""
    values = (settings.environ[each] for each in what.key_names())
    return {key for key in values if len(key) >= SECRET}


def _network(service: DescribedService) -> GuardedNetwork:
    """The public web, and the one place that the owner wrote down."""
    return GuardedNetwork([place_of(service.address)])
