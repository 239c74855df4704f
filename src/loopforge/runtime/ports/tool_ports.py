"""Tools: what one is, a use of it, what it gives, and what a home gives to its tools."""

from __future__ import annotations

import fnmatch
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct

from loopforge.core.limits.budget_limits import Charge
from loopforge.core.mates.mate_file import Mate
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.policy import ResultOutcome
from loopforge.core.room_vocabulary import File
from loopforge.runtime.ports.memory_port import FoundLine, LineSearch
from loopforge.runtime.ports.model_ports import Models
from loopforge.runtime.ports.time_ports import Clock

if TYPE_CHECKING:
    from loopforge.runtime.plugins.setting_declarations import PluginSettings


def arguments_schema(required: Sequence[str], /, **properties: Any) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, by name: no others are taken."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as a mind is told of it. `schema` is the JSON schema of its arguments.

    `idempotent`: used twice is used once. `harmless`: it tells, and neither changes anything nor
    gives away what is not everybody's; with both, anybody may have it used. `reads`: it changes
    nothing, though what it tells may not be everybody's. `asks`: before each use people are shown
    exactly what is to run, and one of them has to say yes; with `owner` the owner of the home, each
    time; with `once` that yes holds for this tool of this mate in that room from then on. `address`
    names the argument that is sent for as an address of the web: where it is one that no person of
    the room gave and no tool showed that `finds` addresses, people are asked first, too. `always`:
    every mate that has tools has it, whether its file names it or not. `trusted`: what it gives
    holds no words of strangers, as of a page or a file, so that nobody is warned of them.
    `composes`: its work may use the mate's other tools, and is begun anew after each answer of
    people. `mates` are those that may be given it, by handle (none named: any). A use costs `price`
    US dollars where its result tells no cost. `keys` are the names of secrets that it holds, whose
    values it never gives back. A turn waits for it for `patience` seconds, then goes on without it;
    it may run for `limit` seconds.
    """

    name: str
    summary: str
    schema: dict[str, Any] = {}
    idempotent: bool = False
    harmless: bool = False
    reads: bool = False
    asks: bool = False
    owner: bool = False
    once: bool = False
    address: str = ""
    finds: bool = False
    always: bool = False
    trusted: bool = False
    composes: bool = False
    mates: tuple[str, ...] = ()
    price: float = 0.0
    keys: tuple[str, ...] = ()
    patience: float = 5.0
    limit: float = 30.0


def named_tools(mate: Mate, known: Collection[Tool]) -> list[Tool]:
    """The tools that a mate's file names, in its order, without those that are for other mates.

    An entry may be a pattern, such as `github_*`.
    """
    there = {tool.name: tool for tool in known if not tool.mates or mate.handle in tool.mates}
    names = (
        name
        for entry in mate.tools
        for name in ((entry,) if entry in there else fnmatch.filter(there, entry))
    )
    return [there[name] for name in dict.fromkeys(names)]


def told_to_nobody(_text: str, _part: float | None) -> None:
    """Where nobody wants to know how far a use of a tool is."""


class UsedTool(NamedTuple):
    """What a program is told of a call, as a mind is; of a long text the whole."""

    outcome: ResultOutcome
    value: str


class PeopleAsked(Exception):
    """People were asked about a call: the work ends here, and is begun anew when they answered."""


class ToolDoor(Protocol):
    """By which the work of a tool has others used. `at` is when the tool was first wanted."""

    @property
    def at(self) -> datetime:
        """The same in every run of the program."""

    async def offered(self) -> Sequence[Tool]:
        """Those that may be used, by whom its mate answers."""

    async def use(self, nth: int, tool: str, arguments: dict[str, Any]) -> UsedTool:
        """Use one, as call `nth` of the program, from 1. Raises PeopleAsked, InputError."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """One use of a tool, as the work behind it is given it.

    `id` is the same where it is made again after a crash. `mate` wants it in its `turn`, for
    `people`, those whom the turn answers, while `present` are in the room. It is ended at `until`.
    Where the tool composes, other tools are used by the `door`. While it works it may `tell` people
    how far it is: a line of text, and which part of the whole is done (0 to 1, None: unknown).
    `charge` says for whom it is paid. By `sandbox`, too, is confined what it runs. `granted` are
    the tools that the mate may use for these people; None by hand, where no rights are asked for.
    """

    arguments: dict[str, Any]
    id: str = ""
    stream: str = ""
    turn: str = ""
    mate: str = ""
    people: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    until: datetime | None = None
    door: ToolDoor | None = None
    charge: Charge = Charge()
    sandbox: SandboxProfile = SandboxProfile()
    granted: frozenset[str] | None = None
    tell: Callable[[str, float | None], None] = told_to_nobody


class ToolFile(Struct, frozen=True, kw_only=True):
    """A picture, a table or any other file that a tool gives or is given; `media` is its type."""

    name: str
    data: bytes
    media: str = ""


class ToolResult(Struct, frozen=True, kw_only=True):
    """What a tool gives: text for the mind, and files, of which it is told name, size and handle.

    `cost` in US dollars; `metered`: it was counted where it was spent, by the home's models.
    `tells` are the ids of lines and memories of which it tells: what is forgotten is found by them.
    """

    text: str = ""
    files: tuple[ToolFile, ...] = ()
    tells: tuple[str, ...] = ()
    cost: float = 0.0
    metered: bool = False


ToolWork = Callable[[ToolCall], Awaitable[str | ToolResult]]
"""The coroutine function that does the work of a tool; it raises to say that it failed."""


class RoomFiles(Protocol):
    """The kept files of a room, as far as a call may see them.

    Those that people gave to the room or mates said something with, and what tools gave to the same
    mate for the same people.
    """

    async def known(self, call: ToolCall) -> Sequence[File]:
        """All of them, the newest first."""

    async def file(self, call: ToolCall, which: str) -> File:
        """A file by its handle or name. Raises Unknown."""

    async def text(self, call: ToolCall, which: str) -> tuple[File, str]:
        """A file by its handle or name, and what can be read of it. Raises Unknown, InputError."""

    async def data(self, call: ToolCall, which: str) -> ToolFile:
        """A file by its handle or name, with its bytes. Raises Unknown, ArtifactError."""

    async def givers(self, call: ToolCall, which: str) -> Collection[str]:
        """The tools that gave a file to the same mate for the same people; none: people did.

        Raises Unknown.
        """

    async def extract(self, file: ToolFile) -> str:
        """What a document or a page (HTML in UTF-8, its address as its name) says.

        It need not be kept anywhere. Raises InputError, which says why there is nothing to read.
        """


class RoomHistory(Protocol):
    """What was said in a room, as far as all may see it who are there and whom a call is for."""

    async def lines(self, call: ToolCall, wanted: LineSearch) -> Sequence[FoundLine]:
        """The lines that are wanted, the oldest first."""


@dataclass(frozen=True)
class ToolHome:
    """What the home gives to its tools.

    `zone` is its time zone (an IANA name); `files` are those of the rooms where tools are used,
    `history` is what was said there; `models` are the language models of the home.
    """

    clock: Clock
    zone: str
    settings: PluginSettings
    files: RoomFiles
    history: RoomHistory
    models: Models


HomeWork = Callable[[ToolHome, ToolCall], Awaitable[str | ToolResult]]
"""The same for a tool that needs something of its home."""


class ToolMaker(Protocol):
    """A tool as a plugin offers it (entry points "loopforge.tools")."""

    tool: Tool

    def make(self, home: ToolHome, /) -> ToolWork | None:
        """The work of this tool in a home; made anew when the home's settings change.

        None where the home lacks what it needs: it is not offered then.
        """


class ToolPlugin:
    """A tool whose work is a coroutine function of a home and of a call there."""

    def __init__(self, tool: Tool, work: HomeWork) -> None:
        self.tool, self._work = tool, work

    def make(self, home: ToolHome, /) -> ToolWork:
        """The same work in every home."""
        return partial(self._work, home)


def tool_work(tool: Tool) -> Callable[[HomeWork], ToolPlugin]:
    """The function below does the work of this tool."""
    return partial(ToolPlugin, tool)


class Tools(Protocol):
    """Tools by name."""

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """Which of the arguments is not as the tool's schema wants it, and why; "" for none."""

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str], window: int = 0
    ) -> Sequence[Tool]:
        """Those a mate is offered now, of the tools it may use, by the last lines of the talk.

        `where` are the stream and the mate's handle. `window` is that of its model, in tokens; 0
        where it is not shown how tools are defined.
        """

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """Run it: whether it worked, and what it gives, or how it failed. Never raises."""
