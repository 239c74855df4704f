"""Effects: uses of tools as the runtime keeps them, and what it must know of where they happen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple, Protocol

from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event, Fact
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import File
from loopforge.runtime.ports.signal_ports import Signals
from loopforge.runtime.ports.tool_ports import Tool, ToolFile


class OpenEffect(NamedTuple):
    """An effect that is not over: its id, of which turn, how far it is, why it is to be stopped."""

    effect: str
    stream: str
    turn: str
    tool: str
    idempotent: bool
    state: str
    halted: str

    @classmethod
    def proposed(cls, event: Event) -> OpenEffect | None:
        """The effect that an event begins, if it begins one."""
        body = event.body
        if not isinstance(body, EffectProposed):
            return None
        return cls(event.id, event.stream, body.turn, body.tool, body.idempotent, "proposed", "")


class EffectQueue(Protocol):
    """The ledger's view of open effects."""

    async def open_effects(self) -> list[OpenEffect]:
        """Every open effect, oldest first."""


class CallPermission(NamedTuple):
    """Whether a call may run: at once, once somebody was asked, or not; by what; and for whom.

    `by` is "rights" or "a standing yes"; where it may not run the rule (as in `EffectDenied`), and
    `why`. `granted` are tools that may be used, of which the nearest are named.
    """

    verdict: Literal["runs", "asks", "refused"] = "refused"
    by: str = "grant"
    people: tuple[str, ...] = ()
    granted: Collection[str] = frozenset()
    why: str = ""


class EffectPlace(NamedTuple):
    """Where a use of a tool is wanted: by which request of which turn in a stream; for whom."""

    stream: str
    turn: str
    nth: int
    charge: Charge | None = None


class EffectFiles(Protocol):
    """Where what tools give is kept."""

    async def keep(self, file: ToolFile) -> File:
        """Keep it. Raises ArtifactError."""

    async def read(self, hash: str) -> bytes:
        """What was kept, by its hash. Raises ArtifactError."""


class EffectRooms(Protocol):
    """What must be known of the streams in which tools are used."""

    async def present(self, stream: str) -> tuple[str, ...]:
        """Who is there."""

    async def places(self, stream: str) -> tuple[str, ...]:
        """Where a question was shown to people, to be told how it ended."""


class InnerPermission(NamedTuple):
    """Whether a call of a program may run; `asking` gives what people are told, by its effect.

    `told` is what they are told besides.
    """

    permission: CallPermission
    asking: Callable[[str], Sequence[Fact]]
    told: Sequence[Fact] = ()


class InnerSite(Protocol):
    """Says of calls of programs what a turn's seat says of a mind's; how programs are confined.

    And of every use that people were asked about, whether it still may be when they said yes.

    `program` is its proposal.
    """

    async def offered(self, program: Event) -> Sequence[Tool]:
        """The tools that it may use now."""

    async def permission(
        self, program: Event, call: Call, gave: Sequence[tuple[str, str]]
    ) -> InnerPermission:
        """Whether this call may run now; `gave` is what tools gave the program, by their names."""

    async def lapsed(self, effect: Event) -> str:
        """Why a use that waited for a yes may not run as things stand now; "" where it may.

        A clause, of a mind's use as of one of its programs; `effect` is its proposal.
        """

    async def granted(self, effect: Event) -> frozenset[str]:
        """The tools, by name, that its mate may use now for whom this use is."""

    async def sandbox(self, stream: str, mate: str) -> SandboxProfile:
        """How what this mate runs there is confined, beside the limits of the home."""


class SiteRouter(InnerSite, Protocol):
    """The site of all streams, to which those of some kinds of streams are added."""

    def add(self, prefix: str, site: InnerSite) -> None:
        """Streams whose names begin so have a site of their own."""


class EffectSite(NamedTuple):
    """Where effects happen; `inner` says whether calls of programs may run.

    By `signals` people see how far they are.
    """

    files: EffectFiles
    rooms: EffectRooms
    inner: SiteRouter
    signals: Signals
