"""Tools used within a use of a tool: what a program that a mate wrote has done by the others.

    program -> door -> proposed, with the program as its cause -> judged, run, ended -> program

Each is an effect of its own. Nothing else of a program is kept: where people are asked about a
call, the program ends there, and is begun anew when they have answered, or after a crash. It is
then given what stands on record until it comes to where it was. So a yes may come days later, a
text that was forgotten meanwhile is gone, and no call is made twice.

Does not know who may use what: that is the site's to say, for each call anew.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from loopforge.core.effect_states import (
    EffectDenied,
    EffectEnd,
    EffectExpired,
    EffectFailed,
    EffectProposed,
    EffectReturned,
    EffectStopped,
    EffectUnknown,
)
from loopforge.core.events import Event, Fact
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.policy import Call, ResultOutcome
from loopforge.errors import InputError
from loopforge.runtime.mind_containment import as_json
from loopforge.runtime.ports import (
    CallPermission,
    InnerPermission,
    InnerSite,
    Ledger,
    PeopleAsked,
    Tool,
    UsedTool,
)

OTHERWISE = "it does otherwise than before at call {nth}, so nobody knows where it was"
FORGOTTEN = "what it rested on has been forgotten"
PROGRAM_OVER = "the program that wanted it is over"
TOLD: dict[type, ResultOutcome] = {
    EffectReturned: "returned",
    EffectFailed: "failed",
    EffectDenied: "refused",
    EffectUnknown: "unknown",
    EffectStopped: "cancelled",
    EffectExpired: "timed_out",
}
"""What a mind is told of each end."""


class InnerSites:
    """The sites of several kinds of streams, each known by how the names of those begin."""

    def __init__(self, rooms: InnerSite) -> None:
        self._rooms = rooms
        self._others: dict[str, InnerSite] = {}

    def add(self, prefix: str, site: InnerSite) -> None:
        """Streams whose names begin so have a site of their own."""
        self._others[prefix] = site

    def _of(self, stream: str) -> InnerSite:
        found = (site for prefix, site in self._others.items() if stream.startswith(prefix))
        return next(found, self._rooms)

    async def offered(self, program: Event) -> Sequence[Tool]:
        """See `InnerSite.offered`."""
        return await self._of(program.stream).offered(program)

    async def permission(
        self, program: Event, call: Call, gave: Sequence[tuple[str, str]]
    ) -> InnerPermission:
        """See `InnerSite.permission`."""
        return await self._of(program.stream).permission(program, call, gave)

    async def lapsed(self, effect: Event) -> str:
        """See `InnerSite.lapsed`."""
        return await self._of(effect.stream).lapsed(effect)

    async def granted(self, effect: Event) -> frozenset[str]:
        """See `InnerSite.granted`."""
        return await self._of(effect.stream).granted(effect)

    async def sandbox(self, stream: str, mate: str) -> SandboxProfile:
        """See `InnerSite.sandbox`."""
        return await self._of(stream).sandbox(stream, mate)


class InnerWorker(Protocol):
    """Who works effects off."""

    def inner_proposal(
        self, call: Call, program: Event, nth: int, permission: CallPermission
    ) -> list[Fact]:
        """The facts that a program wants a tool used, and whether it may."""

    async def inner_end(self, effect: str, program: str) -> EffectEnd | None:
        """How it ended, once it did; None where people are asked first."""


@dataclass(frozen=True)
class InnerCalls:
    """The door of one program, given to its work for one run.

    `known` are its calls before that, by number; `asked` are those that wait for people.
    """

    program: Event
    ledger: Ledger
    worker: InnerWorker
    site: InnerSite
    read: Callable[[str], Awaitable[bytes]]
    known: Mapping[int, Event]
    gave: list[tuple[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def at(self) -> datetime:
        """See `ToolDoor.at`."""
        return self.program.at

    async def offered(self) -> Sequence[Tool]:
        """See `ToolDoor.offered`."""
        return await self.site.offered(self.program)

    async def use(self, nth: int, tool: str, arguments: dict[str, Any]) -> UsedTool:
        """See `ToolDoor.use`."""
        call, recorded = Call(tool, arguments), self.known.get(nth)
        effect = recorded.id if recorded else await self._propose(nth, call)
        if recorded is not None:
            assert isinstance(recorded.body, EffectProposed)
            if recorded.body.arguments.text is None:
                raise InputError(FORGOTTEN)
            if (recorded.body.tool, recorded.body.arguments.text) != (tool, as_json(arguments)):
                raise InputError(OTHERWISE.format(nth=nth))
        end = await self.worker.inner_end(effect, self.program.id)
        if end is None:
            self.asked.append(effect)
            raise PeopleAsked(tool)
        text = await self._whole(end)
        returned = isinstance(end, EffectReturned)
        self.gave.append((tool if returned else f"{tool}, {TOLD[type(end)]}", text))
        return UsedTool(TOLD[type(end)], text)

    async def _propose(self, nth: int, call: Call) -> str:
        async with self.turn:  # one at a time, so that each knows what those before it spent
            judged = await self.site.permission(self.program, call, self.gave)
            facts = self.worker.inner_proposal(call, self.program, nth, judged.permission)
            if getattr(facts[0].body, "asks", False):
                facts += judged.asking(facts[0].id)
            facts += judged.told
            await self.ledger.append(self.program.stream, facts)
        return facts[0].id

    async def _whole(self, end: EffectEnd) -> str:
        """What is told of it; of a long text all of it, without its rows of handles."""
        if end.value.text is None:
            raise InputError(FORGOTTEN)
        if not isinstance(end, EffectReturned) or not end.whole:
            return end.value.text
        if not end.files[0].hash.text:
            raise InputError(FORGOTTEN)
        return (await self.read(str(end.files[0].hash))).decode()


async def calls_within(ledger: Ledger, program: Event) -> dict[int, Event]:
    """The calls of a program that are on record, by their numbers."""
    found = await ledger.read(program.stream, after=program.seq, kinds=["effect.proposed"])
    return {
        event.body.nth: event
        for event in found
        if isinstance(event.body, EffectProposed) and event.body.within == program.id
    }


async def spent_within(ledger: Ledger, program: Event) -> tuple[int, float]:
    """How many calls a program made, and what they cost in US dollars."""
    calls = await calls_within(ledger, program)
    if not calls:
        return 0, 0.0
    ids = {event.id for event in calls.values()}
    ends = await ledger.read(program.stream, after=program.seq, kinds=["effect.returned"])
    bodies = (event.body for event in ends)
    cost = sum(
        body.cost for body in bodies if isinstance(body, EffectReturned) and body.effect in ids
    )
    return len(calls), cost
