"""The few tools that a turn is offered where there are many, with what stands in front kept there.

A mate that may use no more than are offered is offered all of them, and nothing is ranked. Does not
know who may use what: it is given the tools that may be used.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from loopforge.core.effect_states import QUESTION_HOURS
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.perception import FINDER
from loopforge.errors import LoopforgeError
from loopforge.runtime.plugins.setting_declarations import PluginSettings, SettingsPart, setting
from loopforge.runtime.ports import Embeddings, Tool
from loopforge.tools.tool_suggestion import RankedTool, ToolIndex

log = logging.getLogger(__name__)

ROOM = 3_000
"""Bytes of JSON that the tools of a turn may take; pinned ones are there even beyond it."""
OF_WINDOW = 3 / 8
"""Bytes of them for each token of the model's window, where that is less: about a tenth of it. In
a window of 4,096 tokens they left no room for the talk."""
PLACES = 1_000
"""Rooms and mates of which it is known what they were offered last."""


class _Chosen(NamedTuple):
    """The names of what was offered last, and of all that might be used."""

    offered: tuple[str, ...]
    may: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """What can be set of tools."""

    offered: int = setting(
        8,
        "How many tools a mate is shown that may use more: those that fit the talk best. It finds "
        "the others by `find_tools`.",
        least=1,
        most=100,
    )
    pinned: str = setting(
        "", "Tools that such a mate is shown always, by name, with commas between.", shown="none"
    )
    calls: int = setting(
        8,
        "How often a mate may use tools in one turn. A room and a mate's file may say less.",
        least=0,
        most=100,
        live=True,
    )
    depth: int = setting(
        6,
        "How many steps after a person's line tools may still be used. Each line of another mate, "
        "and each tool that ended, which calls a mate again is one step.",
        least=1,
        most=100,
        live=True,
    )
    seconds: float = setting(
        120.0,
        "Seconds of one turn after which no tool is used or waited for.",
        least=1,
        most=86_400,
        live=True,
    )
    output: int = setting(
        40_000,
        "Characters of what tools give that a mate may be told in one turn.",
        least=100,
        most=10_000_000,
        live=True,
    )
    money: float = setting(
        0.0,
        "US dollars that one turn may cost before no tool is used any more: of models and tools, "
        "as far as their prices are known. 0: any.",
        least=0,
        most=10_000,
        live=True,
    )

    question_hours: int = setting(
        QUESTION_HOURS,
        "Hours for which a tool that asks first waits for a yes; after that it is not done, and "
        "the mate is told so.",
        least=1,
        most=8760,
        live=True,
    )

    @property
    def bounds(self) -> TurnBounds:
        """The bounds of every turn of this home."""
        return TurnBounds(
            calls=self.calls,
            depth=self.depth,
            seconds=self.seconds,
            output=self.output,
            money=self.money or None,
        )


PART = SettingsPart("Tools", ToolSettings)


class ToolShortlist:
    """What is offered, turn by turn. `embeddings` is called when vectors are first needed."""

    def __init__(self, settings: PluginSettings, embeddings: Callable[[], Embeddings]) -> None:
        wanted = settings.of("tools", ToolSettings)
        self._most = wanted.offered
        self._pinned = frozenset(name.strip() for name in wanted.pinned.split(","))
        self._embeddings = embeddings
        self._index: ToolIndex | None = None
        self._last: BoundedMapping[tuple[str, str], _Chosen] = BoundedMapping(PLACES)

    async def choose(
        self,
        where: tuple[str, str],
        may: Sequence[Tool],
        every: Sequence[Tool],
        talk: Sequence[str],
        window: int = 0,
    ) -> list[Tool]:
        """Those of `may` that are offered now; `where` are the room and the mate.

        `window` is that of its model, in tokens; 0 where their definitions take nothing of it.
        `every` tool there is is indexed, so that it is done once for all mates. Those that every
        mate has are pinned; what leads to the others (FINDER) is not offered where there are none.
        """
        few = [tool for tool in may if tool.name != FINDER]
        room = min(ROOM, int(window * OF_WINDOW)) if window else ROOM
        if (
            sum(not tool.always for tool in few) <= self._most
            and sum(map(definition_size, few)) <= room
        ):
            return few
        allowed = frozenset(tool.name for tool in few)
        ranked = [each for each in await self.rank(every, talk) if each.name in allowed]
        last = self._last.get(where)
        found = offered(
            may,
            ranked,
            pinned=self._pinned.union(tool.name for tool in may if tool.always),
            before=last.offered if last else (),
            most=self._most,
            room=room,
        )
        self._last[where] = _Chosen(tuple(tool.name for tool in found), allowed)
        return found

    def may(self, where: tuple[str, str], every: Sequence[Tool]) -> list[Tool]:
        """Those of `every` that might be used when something was offered there last.

        All of them where that is not known, as after a start; a use is judged anyway.
        """
        last = self._last.get(where)
        return [tool for tool in every if last is None or tool.name in last.may]

    async def rank(self, tools: Sequence[Tool], talk: Sequence[str]) -> list[RankedTool]:
        """All of these tools, the fittest first, for a talk (its lines, the newest last)."""
        if self._index is None:
            try:
                self._index = ToolIndex(self._embeddings())
            except LoopforgeError as error:
                log.warning("Tools are found by words alone. %s", error)
                self._index = ToolIndex()
        return await self._index.rank(tools, talk)

    async def close(self) -> None:
        """Make no more vectors."""
        if self._index is not None:
            await self._index.close()


def offered(
    tools: Sequence[Tool],
    fits: Iterable[RankedTool],
    *,
    pinned: Collection[str] = (),
    before: Sequence[str] = (),
    most: int = 8,
    room: int = 4_000,
) -> list[Tool]:
    """The tools that a turn is offered, so that what stands in front changes as seldom as can be.

    Pinned ones come first, by name, always. Then those that were offered `before`, in that order,
    then the `most` that fit best, in theirs; where all of that is more than twice `most`, or is
    larger than `room` bytes of JSON, those of before go, and the front is made anew.
    """
    known = {tool.name: tool for tool in tools}
    front = sorted(name for name in {*pinned} if name in known)
    fitting = [fit.name for fit in fits if fit.name not in front][:most]
    earlier = [name for name in before if name in known and name not in front]
    kept = list(dict.fromkeys([*earlier, *fitting]))
    left = room - sum(definition_size(known[name]) for name in front)
    if len(kept) > 2 * most or sum(definition_size(known[name]) for name in kept) > left:
        kept = []
        for name in fitting:
            if (needs := definition_size(known[name])) <= left:
                kept.append(name)
                left -= needs
    return [known[name] for name in (*front, *kept)]


def definition_size(tool: Tool) -> int:
    """How many bytes a tool's definition takes in a prompt, about."""
    return len(msgspec.json.encode((tool.name, tool.summary, tool.schema)))
