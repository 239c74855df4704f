"""Queries: the commands that change nothing: how things stand here, and why.

Plain text, for whoever asked. Nobody is told of lines that they may not see.
"""

from collections.abc import Awaitable, Callable

from loopforge.chat.commands.budget_commands import ITSELF
from loopforge.chat.commands.command_catalogue import help_text
from loopforge.chat.commands.command_request import CommandRequest, member_of, number_of
from loopforge.chat.room.event_wording import platform_name
from loopforge.chat.room.member_visibility import EVERYTHING, MemberSight, sight_in_stream
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.room_loop import SCRIBE
from loopforge.chat.server import Rooms
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.why.plain_summary import why_record_as_text
from loopforge.chat.why.record_building import build_redacted_record, build_why_record
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import Said
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import InputError, Unknown
from loopforge.ledger.storage.revised_lines import apply_revisions
from loopforge.ledger.table_access import ReadableLedger
from loopforge.people.account_linking import AccountLinking
from loopforge.runtime.ports import LineSource, Models, Route

LOOKED_BACK = 200
"""Lines of mates that are looked through for one that the asker may see."""


class QueryCommands:
    """Tells about rooms. `going` says how much of a stream is on its way."""

    def __init__(
        self,
        rooms: Rooms,
        ledger: ReadableLedger,
        models: Models,
        going: Callable[[str], int],
        rules: RoomRules,
        linking: AccountLinking,
    ) -> None:
        self._rooms, self._ledger, self._models = rooms, ledger, models
        self._going, self._rules = going, rules
        self._linking = linking
        self.source: Callable[[Event], Awaitable[LineSource | None]] = _nowhere
        """Where more is told of a line that what goes on beside a room had said."""
        self.table = {
            "status": self.status,
            "why": self.why,
            "mates": self.mates,
            "model": self.model,
            "link": self.link,
            "help": self.help,
        }

    # ------------------------------------------------------------ how things stand

    async def status(self, asked: CommandRequest) -> str:
        """Who is here, what is running, and what is still on its way."""
        state = await self._rooms.state(asked.room)
        people = ", ".join(str(person.name) for person in state.people.values())
        mates = ", ".join(f"{self._name(m)} ({self._model(m)})" for m in state.mates)
        left, energy = f"{state.energy.left} of {state.energy.capacity}", state.energy
        lines = [
            f"People here: {people or 'none'}.",
            f"Mates here: {mates or 'none'}.",
            f"Energy: {left} lines; each line of a person gives {energy.refill} back.",
            self._running(state),
            "Mates speak when they are called."
            if state.quiet
            else "Mates may speak without being called.",
        ]
        for key, place in state.places.items():
            lines.append(f"Part of this room: {place.name} on {platform_name(key)}.")
        for mate, one in state.stand_ins.items():
            lines.append(f"{self._name(one.mate)} answers for {self._name(mate)}.")
        going = self._going(stream_of(asked.room))
        lines.append(f"On its way: {pluralize(going, 'delivery', 'deliveries')}.")
        return "\n".join(lines)

    def _running(self, state: RoomState) -> str:
        if state.stopped:
            return "Stopped: mates stay still until somebody speaks to them."
        thinking = [self._name(turn.mate) for turn in state.open.values()]
        due = [self._name(due.mate) for due in state.due]
        now = f"Thinking: {', '.join(thinking) or 'nobody'}."
        return f"{now} Next: {', '.join(due)}." if due else now

    def _name(self, handle: str) -> str:
        return ITSELF if handle == SCRIBE else mate_name(self._rooms.mates, handle)

    def _model(self, handle: str) -> str:
        mate = self._rooms.mates.get(handle)
        return self._models.facts(Route.of(mate)).name if mate else "cannot answer just now"

    async def model(self, asked: CommandRequest) -> str:
        """Which language model answers for whom."""
        state = await self._rooms.state(asked.room)
        mates = list(state.mates)
        if asked.argument:
            mates = [member_of(state, asked.argument, self._rooms.mates)]
        if asked.person and not asked.owner:
            lines = [f"{self._name(mate)}: {self._model(mate)}" for mate in mates]
            return "\n".join([*lines, "The owner of this home chooses them."])
        lines = [f"{self._name(mate)}: {self._asks_for(mate)}" for mate in mates]
        where = "A mate's model is set in its file, by `model` or `tier`."
        return "\n".join([*lines, where])

    def _asks_for(self, handle: str) -> str:
        mate: Mate | None = self._rooms.mates.get(handle)
        if mate is None:
            return "cannot answer just now: its file is broken or gone"
        asks = f"the model {mate.model}" if mate.model else f"tier {mate.tier}"
        return f"{self._model(handle)} (its file asks for {asks})"

    async def mates(self, asked: CommandRequest) -> str:
        """All mates of the home."""
        here = (await self._rooms.state(asked.room)).mates
        lines = [
            f"{mate.name} (@{handle})"
            + (f", {mate.role}" if mate.role else "")
            + (": here" if handle in here else "")
            for handle, mate in self._rooms.mates.items()
        ]
        return "\n".join(lines) or "This home has no mate yet."

    # ------------------------------------------------------------ why

    async def why(self, asked: CommandRequest) -> str:
        """The flight record of the last line a mate said, or of this line."""
        stream = stream_of(asked.room)
        await self._rooms.state(asked.room)
        names = {handle: mate.name for handle, mate in self._rooms.mates.items()}
        seen = await self.sight(asked.room, asked.person)
        line = await self._line(asked, seen)
        if source := await self._source(line, stream, seen):
            return source.words
        record = await (
            build_redacted_record(self._ledger, line, stream, seen, names, owner=asked.owner)
            if asked.person
            else build_why_record(self._ledger, line, names)
        )
        return why_record_as_text(record, self._rules.zone)

    async def _source(self, line: str, stream: str, seen: MemberSight) -> LineSource | None:
        """Where it is told of a line that stands here for what goes on beside the room."""
        try:
            event = await self._ledger.event(line)
        except Unknown:
            return None
        here = event.stream == stream and seen.sees(event.seq)
        return await self.source(event) if here else None

    async def sight(self, room: str, person: str) -> MemberSight:
        """What somebody may see of a room."""
        if not person:
            return EVERYTHING
        return await self._ledger.look(
            lambda found: sight_in_stream(found, stream_of(room), person)
        )

    async def _line(self, asked: CommandRequest, seen: MemberSight) -> str:
        """The id of the line that is asked about. Raises Unknown."""
        stream, seq = stream_of(asked.room), number_of(asked.argument)
        if asked.argument and not seq:
            return asked.argument.split()[0]
        if seq:
            found = await self._ledger.read(stream, after=seq - 1, before=seq + 1)
        else:
            found = await self._ledger.read(
                stream, kinds=["room.said"], limit=LOOKED_BACK, newest=True
            )
        for event in reversed(found):
            if seen.sees(event.seq) and (seq or isinstance(event.body, Said)):
                return event.id
        raise Unknown(
            f"There is no line #{seq} here that you may see."
            if seq
            else "No mate has said anything here that you may see."
        )

    async def said(
        self, room: str, seen: MemberSight, *, before: int, most: int
    ) -> list[tuple[int, str, str]]:
        """The last lines of mates before this number, newest first: number, mate, words.

        As they stand now, and only those that this sight may see.
        """
        found = await self._ledger.read(
            stream_of(room), before=before, kinds=["room.said"], limit=most, newest=True
        )
        now = await self._ledger.look(lambda tables: apply_revisions(tables, seen.only(found)))
        return [
            (event.seq, event.body.mate, event.body.text.text)
            for event in reversed(now)
            if isinstance(event.body, Said) and event.body.text.text is not None
        ]

    # ------------------------------------------------------------ the rest

    async def link(self, asked: CommandRequest) -> str:
        """A code for another account, or the use of one."""
        if not asked.argument:
            if not asked.person:
                raise InputError("Somebody has to ask for a code; the machine itself is nobody.")
            code = await self._linking.offer_code(asked.person)
            return (
                f"Your code is {code}. Where your other account is, give it to a mate in private: "
                f"/link {code}. Whoever types it becomes you, so show it to nobody."
            )
        if not asked.account:
            raise InputError("A code is typed where the other account is, not here.")
        await self._linking.claim(asked.argument, asked.surface, asked.account)
        return "Done: this account and the one that the code came from are one person now."

    async def help(self, _asked: CommandRequest) -> str:
        """The menu."""
        return help_text()


async def _nowhere(line: Event) -> None:
    """There is nothing beside the room."""
