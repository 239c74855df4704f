"""Versions of a mate's last line: said anew, gone on from, chosen between.

    wanted "again" --> a turn of the same moment --> LineEdited, with that turn's words
    chosen         --> LineEdited, with the words of an earlier version

No version vanishes: each stands in the event that first had it. Only the last line of a mate in a
conversation has versions to be made and chosen; what stands there is what the room holds.
"""

from typing import Literal

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.permissions import may, who_may
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.server import Rooms
from loopforge.core.context_window import ContextEntry
from loopforge.core.events import Body, Event
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import AnswerWanted, LineEdited, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived
from loopforge.errors import InputError, Unknown
from loopforge.runtime.ports import Ledger

Wish = Literal["again", "more"]
NONE = "No mate has said anything in this conversation that could be said anew."
PASSED = "That is no longer the last line of a mate here; the last one alone has other versions."
BUSY = "A mate is speaking already; wait until it has."
SPENT = "There are no more answers today."


class LineVersions:
    """Other versions of the last line of a mate in each room."""

    def __init__(self, ledger: Ledger, rooms: Rooms) -> None:
        self._ledger, self._rooms = ledger, rooms

    async def want(self, asked: CommandRequest, how: Wish, line: str = "") -> None:
        """Have a mate say its last line anew, or go on from it. Raises InputError and Unknown.

        `line` is the one that is meant; "" for the last, whichever that is.
        """
        state = await self._rooms.state(asked.room)
        last = self._last(state, asked, line)
        began = await self._ledger.event(last.turn)
        if not isinstance(began.body, Perceived) or began.stream != state.stream:
            raise InputError("This line tells of work; it is not said anew.")
        if how == "again" and last.files:
            raise InputError("A line with files is not said anew.")
        if asked.guest:
            self._rooms.guests.bring(last.who)
        charge = Charge(
            stream=state.stream,
            person=asked.person,
            surface=asked.surface,
            guest=asked.guest,
            owner=asked.owner,
        )
        if await self._rooms.quota.over(charge):
            name = str(state.people[asked.person].name)
            raise InputError(await self._rooms.quota.why(charge, name) or SPENT)
        body = AnswerWanted(
            person=asked.person,
            line=last.id,
            mate=last.who,
            how=how,
            surface=asked.surface,
            owner=asked.owner,
            guest=asked.guest,
        )

        def decide(now: RoomState) -> tuple[Body, ...]:
            self._last(now, asked, last.id)
            thinking = (turn for turn in now.open.values() if turn.mate in now.mates)
            if now.due or any(not turn.halted for turn in thinking):
                raise InputError(BUSY)
            return (body,)

        await self._rooms.answer(asked.room, asked.person, decide)

    async def choose(self, asked: CommandRequest, nth: int, line: str = "") -> None:
        """Have version `nth` (from 1) of the last line stand there. Raises InputError, Unknown."""
        state = await self._rooms.state(asked.room)
        last = self._last(state, asked, line)
        newest = state.page.newest
        if not 1 <= nth <= len(newest.versions):
            raise Unknown(f"There is no version {nth} of this line; it has {len(newest.versions)}.")
        version = newest.versions[nth - 1]
        body = _chosen(last.id, asked.person, await self._ledger.event(version))

        def decide(now: RoomState) -> tuple[Body, ...]:
            self._last(now, asked, last.id)
            return (body,) if now.page.newest.now != version else ()

        # the words stay the mate's: they are not forgotten with who chose them
        await self._rooms.answer(asked.room, asked.person, decide, by=f"mate:{last.who}")

    def _last(self, state: RoomState, asked: CommandRequest, line: str) -> ContextEntry:
        """The last line of a mate, where this person may have it changed."""
        if asked.person not in state.people:
            raise Unknown(f"You are not in the room {state.name!r}; enter it first.")
        if not may(state, asked.person, "talk", owner=asked.owner, keeper=asked.keeper):
            raise InputError(f"Having a line said anew is for {who_may(state, 'talk')}.")
        found = state.lines.get(state.page.newest.line)
        if found is None or found.who not in state.mates:
            raise InputError(NONE)
        if line and line != found.id:
            raise InputError(PASSED)
        return found


def _chosen(line: str, person: str, version: Event) -> LineEdited:
    """The line with the words of this version."""
    body = version.body
    assert isinstance(body, Said | LineEdited)
    if body.text.text is None:
        raise Unknown("The words of this version were forgotten.")
    return LineEdited(
        line=line,
        text=_copied(body.text),
        by=f"person:{person}",
        version=version.id,
        mode=body.mode,
        narrative=_copied(body.narrative),
        rule=_copied(body.rule),
    )


def _copied(words: Words) -> Words:
    return Words(words.text, public=words.public)


class VersionCommands:
    """Commands about a mate's last line: again, more."""

    def __init__(self, versions: LineVersions) -> None:
        self._versions = versions
        self.table = {"again": self.again, "more": self.more}

    async def again(self, asked: CommandRequest) -> str:
        """Say it anew; with a number, let that version stand."""
        if not asked.argument:
            await self._want(asked, "again")
            return "Its last line is said anew; what stood there stays a version of it."
        if not asked.argument.isdecimal() or len(asked.argument) > 5:
            raise InputError("Say which version is to stand, such as /again 1.")
        nth = int(asked.argument)
        await self._versions.choose(asked, nth)
        return f"Version {nth} stands there now."

    async def more(self, asked: CommandRequest) -> str:
        """Go on from it."""
        await self._want(asked, "more")
        return "It goes on."

    async def _want(self, asked: CommandRequest, how: Wish) -> None:
        if asked.untrusted:
            raise InputError("Who is not known here does not have lines said anew.")
        await self._versions.want(asked, how)
