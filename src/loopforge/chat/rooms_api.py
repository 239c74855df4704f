"""The front of the rooms: everything a surface may ask of them, in one place.

Surfaces (a terminal's hall, a web page) see only this: entering, hearing, commands, history,
search, why, and what was shown.
"""

from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy.engine import Connection

from loopforge.chat.commands.approval_commands import ApprovalQuestions
from loopforge.chat.commands.command_dispatch import Commands
from loopforge.chat.commands.line_versions import LineVersions
from loopforge.chat.commands.reminder_buttons import RungReminders
from loopforge.chat.room.event_wording import ERASED, SHOWN, UNCHANGING
from loopforge.chat.room.member_visibility import EVERYTHING, MemberSight, withhold_change
from loopforge.chat.room.platform_channels import Channels
from loopforge.chat.room.room_store import PREFIX, stream_of
from loopforge.chat.server import Rooms
from loopforge.chat.service.failed_deliveries import FailedDeliveries
from loopforge.chat.service.line_receipts import LineReceipts
from loopforge.chat.service.room_closing import RoomClosing
from loopforge.chat.service.room_invites import RoomInvites
from loopforge.chat.service.room_list import RoomList
from loopforge.chat.speaking.room_rules import SCREEN
from loopforge.chat.turns.voice_notes import merge_edited_text
from loopforge.chat.why.plain_summary import why_record_as_text
from loopforge.chat.why.record_building import build_why_record
from loopforge.chat.why.redaction import locate_events
from loopforge.core.delivery_states import Drafted
from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    Heard,
    LineDeleted,
    LineEdited,
    LinePinned,
    PersonReacted,
    RightsSet,
    Said,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.line_annotations import annotation_events, annotation_of, pin_events
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id, latest_revisions
from loopforge.people.accounts.access_links import AccessLinks
from loopforge.runtime.delivery_worker import Deliveries
from loopforge.runtime.ports import Tools

USES = 30
"""Uses of tools before a line among which those of its turn are looked for."""


def changed_line(event: Event) -> str:
    """The id of the line that an event changes; "" for one that changes none."""
    match event.body:
        case LineEdited(line=line) | LineDeleted(line=line):
            return line
        case _:
            return annotation_of(event)[0]


def spoken_text(event: Event) -> str | None:
    """The words of a line of people or mates; None for any other event, and for forgotten ones."""
    return event.body.text.text if isinstance(event.body, Heard | Said) else None


def _changes(connection: Connection, events: Sequence[Event]) -> list[Event]:
    """What these lines were changed to last, and what is put on them."""
    lines = [event.id for event in events]
    last = [one.event for one in latest_revisions(connection, lines).values()]
    return [*events_by_id(connection, last), *annotation_events(connection, lines)]


class RoomsApi:
    """The rooms as surfaces see them."""

    def __init__(
        self,
        rooms: Rooms,
        commands: Commands,
        deliveries: Deliveries,
        ledger: SqlLedger,
        closing: RoomClosing,
        links: AccessLinks,
        tools: Tools,
    ) -> None:
        self.rooms, self.commands, self.closing = rooms, commands, closing
        self.lobby = RoomList(ledger, rooms)
        self.inviting = RoomInvites(self.lobby, rooms, links)
        self._deliveries, self._ledger = deliveries, ledger
        self.channels, self.receipts = Channels(ledger), LineReceipts(ledger)
        self.questions = ApprovalQuestions(ledger, rooms, tools)
        self.rung = RungReminders(ledger, rooms)
        self.owed = FailedDeliveries(ledger, rooms.house, deliveries)
        self.versions = LineVersions(ledger, rooms)

    async def react(
        self, room: str, person: str, line: str, emoji: str, *, back: bool = False
    ) -> None:
        """A person put an emoji on a line, or took it back."""
        body = PersonReacted(person=person, to=line, emoji=emoji, back=back)
        await self.rooms.add(room, person, body)

    async def reactions(self, line: str) -> list[PersonReacted]:
        """What people put on a line and have not taken back, in its order."""
        put = await self._ledger.look(lambda known: annotation_events(known, [line]))
        return [each.body for each in put if isinstance(each.body, PersonReacted)]

    async def pin(self, room: str, person: str, line: str, *, back: bool = False) -> None:
        """A person pinned a line, or took that back."""
        await self.rooms.add(room, person, LinePinned(person=person, line=line, back=back))

    async def pins(self, room: str, sight: MemberSight = EVERYTHING) -> list[Event]:
        """The lines that are pinned, the last pinned first, as far as they may be seen."""
        await self.rooms.state(room)
        put = await self._ledger.look(lambda known: pin_events(known, stream_of(room)))
        found = []
        for line in map(changed_line, reversed(sight.only(put))):
            with suppress(Unknown):  # of a time they were not there
                event = await self.line(room, line, sight)
                if sight.follows(event) and spoken_text(event) is not None:
                    found.append(event)
        return found

    # ------------------------------------------------------------ places of platforms

    async def branch(self, room: str, of: str, told: str = "") -> None:
        """A room begins where a line of another one (or of none, "") stands: its rights hold here.

        `told` is what the room says of how it began. A room that began once is left as it is.
        """
        if (await self.rooms.state(room)).began:
            return
        rights = (await self.rooms.state(of)).rights if of else {}
        bodies: list[RightsSet | ConversationBegan | Told] = [
            RightsSet(who=who, rights=grant.rights, tools=grant.tools)
            for who, grant in rights.items()
        ]
        if told:
            bodies += [ConversationBegan(why="first"), Told(text=Words(told))]
        await self.rooms.add(room, "", *bodies)

    async def note(self, stream: str, body: Drafted) -> None:
        """A platform shows what a mate is saying, or (with no message) shows it no longer."""
        await self.rooms.add(stream.removeprefix(PREFIX), "", body)

    async def used(self, line: Event) -> tuple[str, ...]:
        """The tools that its mate wanted used in the turn that said this line, in order."""
        if not isinstance(line.body, Said):
            return ()
        proposed = await self._ledger.read(
            line.stream, before=line.seq, kinds=["effect.proposed"], limit=USES, newest=True
        )
        bodies = (event.body for event in proposed)
        return tuple(
            body.tool
            for body in bodies
            if isinstance(body, EffectProposed) and body.turn == line.body.turn
        )

    async def history(
        self,
        room: str,
        *,
        before: int | None = None,
        after: int = 0,
        limit: int = 50,
        sight: MemberSight = EVERYTHING,
    ) -> list[Event]:
        """Events people may see: with `after` the first `limit` after it, else the last.

        With a `sight`, only what that person may see. Raises Unknown where there is no such room.
        """
        await self.rooms.state(room)
        return await self._page(room, SHOWN, before, after, limit, sight)

    async def forgotten(self, room: str, after: int) -> int:
        """The number of the last event after `after` by which texts were forgotten; 0 for none."""
        found = await self._ledger.read(
            stream_of(room), after=after, kinds=[ERASED], limit=1, newest=True
        )
        return found[-1].seq if found else 0

    async def past(
        self,
        room: str,
        *,
        before: int | None = None,
        limit: int = 50,
        sight: MemberSight = EVERYTHING,
    ) -> list[Event]:
        """The last `limit` events people may see, not counting those that change a line.

        Of these it has, for each line, the last edit or deletion and whatever is put on it now,
        however long ago the line was said. Raises Unknown where there is no such room.
        """
        await self.rooms.state(room)
        found = await self._page(room, UNCHANGING, before, 0, limit, sight)
        changes = await self._ledger.look(lambda known: _changes(known, found))
        return sorted([*found, *sight.only(changes)], key=lambda event: event.seq)

    async def _page(
        self,
        room: str,
        kinds: Sequence[str],
        before: int | None,
        after: int,
        limit: int,
        sight: MemberSight,
    ) -> list[Event]:
        newest, found = after == 0, list[Event]()
        while True:
            page = await self._ledger.read(
                stream_of(room),
                after=after,
                before=before,
                kinds=kinds,
                limit=limit,
                newest=newest,
            )
            seen = await self._seen(await self._standing(page, sight), sight)
            found = [*seen, *found] if newest else [*found, *seen]
            if len(page) < limit or len(found) >= limit or not sight.stays:
                return found[-limit:] if newest else found[:limit]
            if newest:
                before = page[0].seq
            else:
                after = page[-1].seq

    async def _standing(self, page: Sequence[Event], sight: MemberSight) -> list[Event]:
        """Each line as it stands now: what it was changed to, as far as that may be seen."""
        if not any(isinstance(event.body, Heard | Said) for event in page):
            return list(page)
        now = await self._ledger.look(lambda found: apply_revisions(found, page))
        return [event if sight.follows(event) else withhold_change(event) for event in now]

    async def _seen(self, page: Sequence[Event], sight: MemberSight) -> list[Event]:
        """Those that may be seen; what changes a line that may not is not for these eyes either."""
        seen = sight.only(page)
        ids = {changed_line(event) for event in seen} - {""}
        if not ids or sight == EVERYTHING:
            return seen
        about = await self._ledger.look(lambda found: locate_events(found, ids))
        hidden = {id for id, place in about.items() if not sight.sees(place.seq)}
        return [event for event in seen if changed_line(event) not in hidden]

    async def search(
        self, room: str, words: str, limit: int, sight: MemberSight = EVERYTHING
    ) -> list[Event]:
        """Lines that hold these words, in order, the newest `limit` of them."""
        await self.rooms.state(room)
        wide = limit if sight == EVERYTHING else limit * 10
        found = await self._ledger.search(stream_of(room), words, wide)
        return [event for event in sight.only(found) if sight.follows(event)][:limit][::-1]

    async def line(self, room: str, id: str, sight: MemberSight = EVERYTHING) -> Event:
        """One event of this room. Raises Unknown, also where it may not be seen."""
        await self.rooms.state(room)
        nowhere = Unknown(f"There is no line {id!r} here.")
        try:
            event = await self._ledger.event(id)
        except Unknown:
            raise nowhere from None
        if event.stream != stream_of(room) or not sight.sees(event.seq):
            raise nowhere
        return (await self._standing([event], sight))[0]

    async def retyped(
        self, room: str, line: str, text: str, message: str
    ) -> tuple[str, tuple[int, ...]]:
        """What a line says once its sender typed this in one of its messages (see retyped)."""
        event = await self._ledger.event(line)
        if not isinstance(event.body, Heard) or not event.body.files:
            return text, ()
        since = await self._ledger.read(
            stream_of(room), after=event.seq, kinds=["room.line_edited"]
        )
        bodies = [each.body for each in since if isinstance(each.body, LineEdited)]
        edits = [body for body in bodies if body.line == line]
        return merge_edited_text(event.body, edits, text, message)

    async def bring(
        self, room: str, by: str, person: str, name: str, *, past: bool = False
    ) -> None:
        """A person brings another one in; with `past`, to what was said before too."""
        await self.inviting.bring(room, by, person, name, past=past)

    async def why(self, event_id: str) -> str:
        """The flight record of an event, as plain text. Raises Unknown.

        Of a line that tells of something beside the room and of no turn: what that is, and where.
        """
        names = {handle: mate.name for handle, mate in self.rooms.mates.items()}
        try:
            return why_record_as_text(await build_why_record(self._ledger, event_id, names))
        except Unknown:
            if note := await self._beside(event_id):
                return note
            raise

    async def _beside(self, id: str) -> str:
        """What a line tells of that came of no turn; "" for any other event. Raises Unknown."""
        said = await self._ledger.event(id)
        source = await self.commands.routed.source(said)
        if source is None:
            return ""
        cause = await self._ledger.event(said.cause)
        when, by = f"{cause.at:%Y-%m-%d %H:%M:%S} UTC", cause.actor
        return f"That is of no turn: {cause.kind}, {when}, by {by}. See {source.record} on the web."

    async def seen(self, room: str, person: str, seq: int, surface: str = "terminal") -> None:
        """Everything up to `seq` was shown to this person, on a terminal or a page."""
        by = f"{surface}:{person}:{seq}"
        await self._deliveries.seen(stream_of(room), SCREEN, seq, by)
