"""What a mate heard, as a tool: by what it is about, here and where presence allows it.

`room_history` lists lines of a room by exact words, by whom and by when; this finds what fits a
question, also in other words, also from other rooms. Which lines may be used is decided where they
are looked for (memory_visibility.py), by who is present and whom the turn answers. What comes is
told with when, where and from whom, as material that gives no orders. What the mate keeps beyond
lines comes after them, likewise.
"""

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.chat.service.history_access import NOBODY
from loopforge.chat.turns.turn_recall import FITS, LAYERS, speaker_names
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import InputError
from loopforge.runtime.ports import ItemRecall, Recall, Tool, ToolCall, ToolResult, arguments_schema
from loopforge.runtime.ports.memory_port import KeptItem, RecalledLine, RecallQuery

MOST = 20
"""Lines that are told at most."""
LONGEST = 600
"""Characters of one line."""
OUTSIDE = (
    "what was said in rooms is recalled in rooms alone; a task goes by what stands in it: say what "
    "is missing"
)
RECALL = Tool(
    name="recall",
    summary="Finds what you heard before, here or with the same people, by what it is about.",
    schema=arguments_schema(
        ["about"],
        about={"type": "string", "minLength": 1, "description": "a question, or words"},
        here={"type": "boolean", "description": "only of this room"},
        limit={"type": "integer", "minimum": 1, "maximum": MOST},
    ),
    idempotent=True,
    harmless=True,
    reads=True,
    always=True,
)


class RecallTool:
    """Tells a mate what it heard, in the home's time zone."""

    def __init__(
        self,
        recall: Recall,
        items: ItemRecall,
        house: RoomStore,
        mates: Mapping[str, Mate],
        zone: ZoneInfo,
    ) -> None:
        self._recall, self._items, self._house, self._zone = recall, items, house, zone
        self._mates = mates

    async def tell(self, call: ToolCall) -> ToolResult:
        """The lines that fit, the best first. Raises InputError outside of a room."""
        if not call.stream.startswith(PREFIX):
            raise InputError(OUTSIDE)
        state = await self._house.state(call.stream)
        limit = int(call.arguments.get("limit") or 8)
        query = RecallQuery(
            text=str(call.arguments["about"]),
            stream=call.stream,
            present=tuple(dict.fromkeys((*call.present, *call.people))),
            mate=call.mate,
            asker=f"person:{call.people[0]}" if len(call.people) == 1 else "",
            names=speaker_names(state, self._mates),
            everywhere=not call.arguments.get("here"),
            limit=limit + 1,
        )
        turn = state.open.get(call.turn)
        asking = turn.line if turn else ""
        found = [each for each in await self._recall.recall(query) if each.line.id != asking]
        rows = [await self._row(call.stream, each) for each in found[:limit]]
        every = await self._items.recall_items(query)
        kept = [one.item for one in every if one.score >= FITS][:limit]
        rows += [await self._kept_row(call.stream, item) for item in kept]
        if not rows:
            return ToolResult(text="Nothing was heard of it that everybody here may know.")
        head = f"{len(rows)} lines that may fit, the likeliest first:"
        tells = (*(each.line.id for each in found[:limit]), *(item.id for item in kept))
        return ToolResult(text="\n".join([head, *rows]), tells=tells)

    async def _kept_row(self, here: str, item: KeptItem) -> str:
        """One thing that it keeps: of when, from whom, what kind, what."""
        state = await self._house.state(here)
        who = f" from {_name(state, item.told_by)}" if item.told_by else ""
        over = f" until {item.until.astimezone(self._zone):%Y-%m-%d}" if item.until else ""
        mark = "" if item.trusted else " [a stranger's]"
        day = f"{(item.since or item.at).astimezone(self._zone):%Y-%m-%d}"
        text = " ".join(str(item.text).split())
        return f"- {day}{over}{who}{mark} (kept: {LAYERS[item.layer]}): {text}"

    async def _row(self, here: str, found: RecalledLine) -> str:
        """One line: when, from whom, where, what."""
        line, body = found.line, found.line.body
        assert isinstance(body, Heard | Said)
        state = await self._house.state(line.stream)
        if isinstance(body, Said):
            who = mate_name(self._mates, body.mate)
        else:
            who = _name(state, body.person)
        room = line.stream.removeprefix(PREFIX)
        where = f"/rooms/{room}?at={line.seq}#l-{line.seq}"
        place = where if line.stream == here else f"in another room, {where}"
        short = truncate_text(" ".join(str(body.text).split()), LONGEST)
        return f"- {line.at.astimezone(self._zone):%Y-%m-%d %H:%M} {who} ({place}): {short}"


def _name(state: RoomState, person: str) -> str:
    known = state.people.get(person) or state.former.get(person)
    return str(known.name) if known else NOBODY
