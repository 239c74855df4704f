"""The ports of a sink: what a package declares to be one, and what it does with events.

    [project.entry-points."loopforge.sinks"]
    shelf = "loopforge_shelf:SINK"      # a SinkPlugin of the name "shelf"

A sink takes events in the order of each stream. An EventSink knows how far it came, so that nothing
is lost or doubled by a restart; for an EventOutlet, which cannot tell, the home keeps a cursor:
nothing is lost, and what was under way when the home was killed comes once more. Knows no sink, nor
who reads the ledger for it (sink_runner.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from loopforge.core.events import Event
from loopforge.errors import BadSettings
from loopforge.runtime.plugins.installed_plugins import load_plugins, make_plugin
from loopforge.runtime.plugins.setting_declarations import PluginSettings, setting
from loopforge.sinks.cloud_events import TOLD

GROUP = "loopforge.sinks"


@runtime_checkable
class EventSink(Protocol):
    """Where events go. What raises here is tried again later, from what `had` says then."""

    async def had(self) -> Mapping[str, int]:
        """How far each stream came here: the sequence number of the last event that it has."""

    async def put(self, events: Sequence[Event]) -> None:
        """Take these in; they are of one stream, in order, and follow what it had of it.

        Erased events come whatever kinds are chosen, of any stream where the plugin `forgets`: the
        texts they name are to be forgotten here.
        """


@runtime_checkable
class HashedSink(EventSink, Protocol):
    """An EventSink that can tell whether the ledger is the one that it has the events of."""

    def last_hash(self, stream: str) -> str:
        """The hash of the event that `had` last named of a stream."""


@runtime_checkable
class EventOutlet(Protocol):
    """Where events are sent without being asked after.

    `most` is how many it takes at once. Raises SendFailed, with `final` where it is these very
    events that are refused: then other streams go on meanwhile; and anything else.
    """

    @property
    def most(self) -> int:
        """How many it takes at once."""

    async def send(self, events: Sequence[Event]) -> None:
        """Send these, of one stream, in order; Erased events whatever kinds are chosen."""

    async def close(self) -> None:
        """Send no more."""


@dataclass(frozen=True, kw_only=True)
class SinkChoice:
    """What every sink lets people choose; its own settings are declared below this."""

    streams: str = setting(
        "room:, task:", "Which streams go there: beginnings of names, with commas between."
    )
    kinds: str = setting(
        "", "Which kinds of event: their names, with commas between.", shown="all of them"
    )
    texts: bool = setting(False, "Whether private texts go there too, in plain.")


@dataclass(frozen=True, kw_only=True)
class OutletChoice(SinkChoice):
    """What is chosen of places where events are sent."""

    streams: str = setting(
        "task:",
        "Which streams go there: beginnings of names, with commas between, such as `task:, room:`.",
    )
    kinds: str = setting(
        TOLD, "Which kinds of event: their names, with commas between; none: all of them."
    )
    history: bool = setting(
        False, "Whether what happened before this was first set goes there, too."
    )


class SinkFinding(NamedTuple):
    """One thing that was looked at, for `loopforge doctor --deep`; `mend` says what to do."""

    state: Literal["ok", "warn", "bad"]
    said: str
    mend: str


@dataclass(frozen=True, kw_only=True)
class SinkPlugin:
    """A sink as a package declares it.

    `settings` is a dataclass below SinkChoice (OutletChoice for an outlet). `make` is given what is
    set and the home's folder; None where nobody wants it. `where` words where that is. `forgets`:
    what is erased, in whatever stream, is forgotten there, too; of others an erasure says that it
    cannot be called back.
    `examine` looks at the real place, and changes nothing there.
    """

    title: str
    settings: type[SinkChoice]
    make: Callable[[Any, Path], EventSink | EventOutlet | None]
    where: Callable[[Any], str] = lambda _: ""
    forgets: bool = False
    examine: Callable[[Any], Iterable[SinkFinding]] = lambda _: ()


def split_by_comma(text: str) -> list[str]:
    """What stands in a setting with commas between."""
    return [each.strip() for each in text.split(",") if each.strip()]


class InstalledSink(NamedTuple):
    """A sink that is wanted, by its name, with what was chosen for it."""

    name: str
    sink: EventSink | EventOutlet
    choice: SinkChoice
    plugin: SinkPlugin

    @property
    def place(self) -> str:
        """What it is and where, in words."""
        return " ".join(filter(None, (self.plugin.title, self.plugin.where(self.choice))))


def sinks_of(settings: PluginSettings) -> list[InstalledSink]:
    """The sinks that are installed and wanted, as this home's settings want them."""
    found = []
    for name, plugin in load_plugins(GROUP).items():
        choice = settings.of(name, plugin.settings)
        sink = make_plugin(GROUP, name, partial(plugin.make, choice, settings.home))
        _fit(name, sink)
        if sink is not None and not split_by_comma(choice.streams):
            raise BadSettings(
                f"`{name}_streams` names no streams, so nothing would go there. Name some, such as "
                f'"task:, room:", or set nothing else that begins with `{name}_`.'
            )
        if sink is not None:
            found.append(InstalledSink(name, sink, choice, plugin))
    return found


def _fit(name: str, sink: object) -> None:
    """Raises BadSettings for what a plugin made that is no sink."""
    whole = isinstance(sink, EventOutlet)
    if sink is None or (not whole and isinstance(sink, EventSink)):
        return
    wrong = "" if whole else "has neither `had` and `put` nor `most`, `send` and `close`"
    if isinstance(sink, EventOutlet) and sink.most < 1:
        wrong = f"takes {sink.most} events at once"
    if wrong:
        raise BadSettings(
            f"The plugin {name!r} of {GROUP} makes no sink: it {wrong}. Mend or uninstall that "
            "package."
        )


def beyond_recall(settings: PluginSettings) -> list[str]:
    """Where texts went in plain from which nothing is taken back: places, in words."""
    wanted = sinks_of(settings)
    return [one.place for one in wanted if one.choice.texts and not one.plugin.forgets]
