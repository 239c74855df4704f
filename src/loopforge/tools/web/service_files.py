"""The tools that files of a home describe: one for each `tools/NAME.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Container
from functools import partial
from typing import NamedTuple

from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_rows import PluginSettings
from loopforge.runtime.ports import Tool, ToolWork
from loopforge.tools.web.described_service import Service, read_service, service_tool
from loopforge.tools.web.endpoint_request import place_of
from loopforge.tools.web.network_guard import GuardedNetwork

FOLDER = "tools"
SECRET = 12
"""Characters from which a key is looked for in what mates say; a shorter one stands in any text."""


class DescribedTools(NamedTuple):
    """What the files give: tools, the keys that they send, and what is wrong in which file."""

    tools: list[tuple[Tool, ToolWork]]
    secrets: set[str]
    flaws: list[str]


def described(settings: PluginSettings, taken: Container[str] = ()) -> DescribedTools:
    """The tools of a home's files; `taken` are names that other tools have. Never raises."""
    found = DescribedTools([], set(), [])
    for path in sorted((settings.home / FOLDER).glob("*.toml")):
        try:
            if path.stem in taken:
                raise BadSettings(f"{path.name}: another tool is called {path.stem}; rename it.")
            service = read_service(path.stem, tomllib.loads(path.read_text("utf-8")))
            found.tools.append(
                service_tool(path.stem, service, settings.environ, partial(_network, service))
            )
        except (BadSettings, OSError, ValueError) as error:
            said = str(error)
            named = said if said.startswith(path.name) else f"{path.name}: {said}"
            found.flaws.append(named)
            continue
        found.secrets.update(
            key for each in service.key_names() if len(key := settings.environ[each]) >= SECRET
        )
    return found


def _network(service: Service) -> GuardedNetwork:
    """The public web, and the one place that the owner wrote down."""
    return GuardedNetwork([place_of(service.address)])
