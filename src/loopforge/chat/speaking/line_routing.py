"""Lines that something beside the room takes up, so that no mate of it takes a turn about them.

    weighed lines --LineRoute--> taken: every mate passes, for that reason
                             --> not taken: as they were weighed

Where nothing is wired, no line goes elsewhere. Does not know what takes them. What mates say by
`RoomVoice` is the answer to no turn, and calls nobody.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from loopforge.chat.room.guest_rules import is_guest_line
from loopforge.chat.room.permissions import grant_in_room, may
from loopforge.chat.room.room_state import RoomState
from loopforge.core.context_window import ContextEntry
from loopforge.core.room_vocabulary import Weight
from loopforge.runtime.ports import LineRoute, RoomLine

TAKEN = "taken up elsewhere"
"""The reason for which no mate answers a line."""
NAMING = ("mention", "reply", "name")
"""By what a line names a mate."""
_LEAD = r"[\s,:;.!–-]*"


class LineRouting:
    """Asks the route that is wired, if one is."""

    def __init__(self) -> None:
        self.route: LineRoute | None = None

    async def routed(
        self,
        state: RoomState,
        batch: Sequence[ContextEntry],
        weights: Sequence[Weight],
        names: Sequence[tuple[str, str]],
    ) -> list[Weight]:
        """The weights of one speaker's lines; `names` are handles and names of mates."""
        last = batch[-1]
        if self.route is None or last.kind != "heard" or last.bot or state.stopped:
            return list(weights)
        if not await self.route.line(_line(state, batch, weights, names)):
            return list(weights)
        return [replace(each, score=0, reasons={TAKEN: 0}, verdict="pass") for each in weights]


def is_posted_by_program(entry: ContextEntry) -> bool:
    """Whether a mate said it by `RoomVoice`: what comes of a plan always bears its mode."""
    return entry.kind == "said" and not entry.mode


def _line(
    state: RoomState,
    batch: Sequence[ContextEntry],
    weights: Sequence[Weight],
    names: Sequence[tuple[str, str]],
) -> RoomLine:
    last = batch[-1]
    text = "\n".join(str(entry.text) for entry in batch if str(entry.text).strip())
    return RoomLine(
        stream=state.stream,
        line=last.id,
        person=last.who,
        text=unaddressed(text, names),
        surface=last.surface,
        reply_to=next((entry.reply_to for entry in reversed(batch) if entry.reply_to), ""),
        files=tuple(file for entry in batch for file in entry.files),
        calls=tuple(each.mate for each in weights if each.verdict == "speak"),
        named=tuple(
            each.mate for each in weights if each.verdict == "speak" and each.summons in NAMING
        ),
        here=here_of(state),
        tools=tools_of(state, last.who, keeper=last.keeper, owner=last.owner, barred=_barred(last)),
        owner=last.owner,
        changes=may(state, last.who, "change", keeper=last.keeper, owner=last.owner),
    )


def _barred(entry: ContextEntry) -> bool:
    """Whether nothing is done for whoever said it beyond an answer."""
    return entry.untrusted or is_guest_line(entry)


def here_of(state: RoomState) -> tuple[str, ...]:
    """The mates of a room, whoever answers what names nobody first."""
    return tuple(sorted(state.mates, key=lambda mate: mate != state.default_mate))


def tools_of(
    state: RoomState, person: str, *, keeper: bool, owner: bool, barred: bool
) -> frozenset[str]:
    """The tools that a person may have used in a room, by what is granted; "*" for all."""
    grant = grant_in_room(state, person, keeper=keeper, owner=owner)
    return frozenset(grant.tools) if "tools" in grant.rights and not barred else frozenset()


def unaddressed(text: str, names: Sequence[tuple[str, str]]) -> str:
    """What is said, without the name of a mate before or after it."""
    known = "|".join(
        re.escape(each) for pair in names for each in sorted(set(pair), key=len, reverse=True)
    )
    if not known:
        return text.strip()
    text = re.sub(rf"\A\s*@?(?:{known})\b{_LEAD}", "", text, count=1, flags=re.IGNORECASE)
    said = text.rstrip()
    end = said[-1:] if said.endswith((".", "!", "?")) else ""
    bare = said.removesuffix(end).rstrip()
    named = re.search(rf",\s*@?(?:{known})\Z", bare, flags=re.IGNORECASE)
    return (f"{bare[: named.start()]}{end}" if named else said).strip()
