"""The port of a sink: what a package declares to be one, and what it does with events.

    [project.entry-points."loopforge.sinks"]
    shelf = "loopforge_shelf:SINK"      # a SinkPlugin of the name "shelf"

A sink takes events in the order of each stream, and knows how far it came, so that nothing is lost
or doubled by a restart. Knows no sink, nor who reads the ledger for it (sink_runner.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from loopforge.runtime.plugins.installed_plugins import installed
from loopforge.runtime.plugins.setting_rows import PluginSettings, setting

if TYPE_CHECKING:
    from loopforge.core.events import Event

GROUP = "loopforge.sinks"


class EventSink(Protocol):
    """Where events go. What raises here is tried again later, from what `had` says then."""

    async def had(self) -> Mapping[str, int]:
        """How far each stream came here: the sequence number of the last event that it has."""
        ...

    async def put(self, events: Sequence[Event]) -> None:
        """Take these in; they are of one stream, in order, and follow what it had of it.

        Erased events come whatever kinds are chosen: the texts they name are to be forgotten here.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class SinkChoice:
    """What every sink lets people choose; its own settings are declared below this."""

    streams: str = setting(
        "room:", "Which streams go there: beginnings of names, with commas between."
    )
    kinds: str = setting(
        "", "Which kinds of event: their names, with commas between.", shown="all of them"
    )
    texts: bool = setting(False, "Whether private texts go there too, in plain.")


@dataclass(frozen=True, kw_only=True)
class SinkPlugin:
    """A sink as a package declares it.

    `settings` is a dataclass below SinkChoice. `make` is given what is set and the home's folder;
    None where nobody wants it.
    """

    title: str
    settings: type[SinkChoice]
    make: Callable[[Any, Path], EventSink | None]


class InstalledSink(NamedTuple):
    """A sink that is wanted, by its name, with what was chosen for it."""

    name: str
    sink: EventSink
    choice: SinkChoice


def sinks_of(settings: PluginSettings) -> list[InstalledSink]:
    """The sinks that are installed and wanted, as this home's settings want them."""
    found = []
    for name, plugin in installed(GROUP).items():
        choice = settings.of(name, plugin.settings)
        if (sink := plugin.make(choice, settings.home)) is not None:
            found.append(InstalledSink(name, sink, choice))
    return found
