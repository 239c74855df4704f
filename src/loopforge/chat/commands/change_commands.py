"""Commands that change a room, each a fact or two and a plain sentence.

Whether somebody may is decided before (command_dispatch.py, by the menu and the rights of the
room).
"""

from collections.abc import Collection
from typing import Literal

from loopforge.chat.commands.command_request import CommandRequest, handle_of, line_of, member_of
from loopforge.chat.room import rights_parsing
from loopforge.chat.room.energy_limit import MOST_ENERGY
from loopforge.chat.room.permissions import grant_in_room
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.server import Rooms
from loopforge.chat.speaking.line_sanitizing import title_as_kept
from loopforge.chat.speaking.triggers import CALLS
from loopforge.core.limits import turn_bounds
from loopforge.core.mates.mate_file import mate_name
from loopforge.core.mates.unprompted_times import describe_unprompted_times
from loopforge.core.memory.memory_vocabulary import MACHINE
from loopforge.core.room_vocabulary import (
    BoundsSet,
    ConversationBegan,
    ConversationEnded,
    DefaultMateSet,
    EnergySet,
    Marked,
    MateJoined,
    MateLeft,
    PaceSet,
    PolicyChosen,
    RightsSet,
    TalkSet,
    Titled,
    TriggersSet,
    UnpromptedSet,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, Unknown
from loopforge.mates.mate_editing import MateEditing

SWITCH = {"on": True, "off": False}
TALK = {"free": True, "called": False}
NOBODY = "none"
OWN = "own"
"""The way back to what mates' files say."""
FILED = "what its file says"
MAKING = {
    "new": "Say its name and what it does, such as /mate new Otto train driver.",
    "edit": "Say which mate and what it is to be, such as /mate edit otto You are Otto. ...",
    "fork": "Say which mate, and what the new one is called, such as /mate fork otto Otto Two.",
}
"""What /mate does for the owner, and how to ask for it."""


class ChangeCommands:
    """Changes rooms. `policies` are the names that may be chosen."""

    def __init__(self, rooms: Rooms, policies: Collection[str], workshop: MateEditing) -> None:
        self._rooms, self._policies, self._workshop = rooms, policies, workshop
        self.table = {
            "stop": self.stop,
            "new": self.new,
            "end": self.end,
            "title": self.title,
            "energy": self.energy,
            "bounds": self.bounds,
            "keep": self.keep,
            "spent": self.spent,
            "policy": self.policy,
            "triggers": self.triggers,
            "add": self.add,
            "remove": self.remove,
            "mate": self.mate,
            "talk": self.talk,
            "unprompted": self.unprompted,
            "pace": self.pace,
            "rights": self.rights,
        }

    # ------------------------------------------------------------ the conversation

    async def stop(self, asked: CommandRequest) -> str:
        """Halt everything mates do."""
        await self._rooms.stop(asked.room, asked.person)
        return "Stopped. Mates stay still until somebody speaks to them again."

    async def new(self, asked: CommandRequest) -> str:
        """Begin a new conversation."""
        state = await self._rooms.state(asked.room)
        ended = (ConversationEnded(why="asked"),) if state.conversation else ()
        began = ConversationBegan(why="asked" if state.began else "first")
        await self._rooms.add(asked.room, asked.person, *ended, began)
        return "A new conversation. What was said before stays in the ledger."

    async def end(self, asked: CommandRequest) -> str:
        """End the conversation."""
        state = await self._rooms.state(asked.room)
        if not state.conversation:
            return "No conversation is going on; the next line begins one."
        await self._rooms.add(asked.room, asked.person, ConversationEnded(why="asked"))
        return "The conversation is over; the next line begins another."

    async def title(self, asked: CommandRequest) -> str:
        """Fix the title, or let the room find its own."""
        if not asked.argument:
            await self._rooms.add(asked.room, asked.person, Titled(title=Words(""), by=""))
            return "The room will find a title of its own."
        title = title_as_kept(asked.argument)
        titled = Titled(title=Words(title), by=asked.person or MACHINE)
        await self._rooms.add(asked.room, asked.person, titled)
        return f"The room is called {title}."

    async def energy(self, asked: CommandRequest) -> str:
        """Set, or tell, how many lines mates may say without a person."""
        energy = (await self._rooms.state(asked.room)).energy
        if not asked.argument:
            return (
                f"{energy.left} of {energy.capacity} lines are left to mates; "
                f"each line of a person gives {energy.refill} back."
            )
        capacity, _, refill = asked.argument.partition(" ")
        try:
            numbers = int(capacity), int(refill) if refill.strip() else energy.refill
        except ValueError:
            raise InputError(
                f"{asked.argument!r} is no number of lines. Say how many, such as /energy 6, "
                "and perhaps what a person's line gives back, such as /energy 6 4."
            ) from None
        if not all(0 <= number <= MOST_ENERGY for number in numbers):
            raise InputError(f"Energy lies between 0 and {MOST_ENERGY}.")
        body = EnergySet(capacity=numbers[0], refill=numbers[1])
        await self._rooms.add(asked.room, asked.person, body)
        return (
            f"Mates may say {numbers[0]} lines in a row; a person's line gives {numbers[1]} back."
        )

    async def bounds(self, asked: CommandRequest) -> str:
        """Set, or tell, what one turn may have done by tools."""
        if asked.argument:
            words = [] if asked.argument == NOBODY else asked.argument.replace(",", " ").split()
            bounds = turn_bounds.read(words)
            await self._rooms.add(asked.room, asked.person, BoundsSet(bounds=bounds))
        here = (await self._rooms.state(asked.room)).bounds
        home = self._rooms.bounds
        return (
            f"Limits of tools in one turn: in this room {turn_bounds.said(here)}; "
            f"in this home {turn_bounds.said(home)}. The strictest counts, a mate's own too."
        )

    async def keep(self, asked: CommandRequest) -> str:
        """Keep a line in mind."""
        await self._mark_line(asked, "keep")
        return "Kept: where the talk gets too long for a model, this line is left out last."

    async def spent(self, asked: CommandRequest) -> str:
        """Let a line go first."""
        await self._mark_line(asked, "spent")
        return "Where the talk gets too long for a model, this line is left out first."

    async def _mark_line(self, asked: CommandRequest, mark: Literal["keep", "spent"]) -> None:
        line = line_of(await self._rooms.state(asked.room), asked.argument)
        body = Marked(line=line, mark=mark, by=f"person:{asked.person}")
        await self._rooms.add(asked.room, asked.person, body)

    # ------------------------------------------------------------ mates

    def _mate_here(self, state: RoomState, said: str) -> str:
        """A mate that is here, by its handle or name. Raises Unknown."""
        return member_of(state, said, self._rooms.mates)

    def _name_of(self, handle: str) -> str:
        return mate_name(self._rooms.mates, handle)

    async def policy(self, asked: CommandRequest) -> str:
        """Choose, or tell, which kind of mind runs."""
        state = await self._rooms.state(asked.room)
        if not asked.argument:
            chosen = state.policy("") or "each mate's own, or talk"
            return f"Policy here: {chosen}. Known: {', '.join(sorted(self._policies))}."
        policy, _, mate = asked.argument.partition(" ")
        if policy not in (OWN, *self._policies):
            known = ", ".join([*sorted(self._policies), OWN])
            raise Unknown(f"There is no policy {policy!r}. Known: {known}.")
        mate = self._mate_here(state, mate.strip()) if mate.strip() else ""
        body = PolicyChosen(policy="" if policy == OWN else policy, mate=mate)
        await self._rooms.add(asked.room, asked.person, body)
        if policy == OWN:
            after = state.policy("") if mate else ""
            runs = after or ("its own policy" if mate else "each mate's own policy")
            return f"From now on {runs} runs here" + (f" for {mate}." if mate else ".")
        return f"From now on {policy} runs here" + (f" for {mate}." if mate else ".")

    async def triggers(self, asked: CommandRequest) -> str:
        """Set, or tell, what may call a mate."""
        state = await self._rooms.state(asked.room)
        said, *calls = asked.argument.split()
        mate = self._mate_here(state, said)
        if calls == [OWN]:
            await self._rooms.add(asked.room, asked.person, TriggersSet(mate=mate))
            return f"{mate} is called here by: {FILED}."
        if calls == [NOBODY]:
            calls = []
        elif wrong := [call for call in calls if call not in CALLS]:
            raise Unknown(f"Nothing calls by {wrong[0]!r}. Known: {', '.join(CALLS)}; none; {OWN}.")
        elif not calls:
            chosen = state.triggers.get(mate)
            now = FILED if chosen is None else ", ".join(chosen) or "nothing"
            return f"{mate} is called here by: {now}."
        body = TriggersSet(mate=mate, triggers=tuple(calls))
        await self._rooms.add(asked.room, asked.person, body)
        return f"{mate} is called here by: {', '.join(calls) or 'nothing'}."

    async def add(self, asked: CommandRequest) -> str:
        """Bring a mate in."""
        known = self._rooms.mates
        handle = handle_of(asked.argument, known)
        mate = known.get(handle)
        if mate is None:
            raise Unknown(f"There is no mate {handle!r}. Known: {', '.join(known) or 'none'}.")
        if asked.guest:
            self._rooms.guests.bring(handle)
        state = await self._rooms.state(asked.room)
        guests = {one.mate for one in state.stand_ins.values() if one.guest}
        if handle in state.mates and handle not in guests:
            return f"{mate.name} is here already."
        await self._rooms.add(asked.room, asked.person, MateJoined(mate=handle))
        return f"{mate.name} is here now."

    async def remove(self, asked: CommandRequest) -> str:
        """Send a mate out."""
        mate = self._mate_here(await self._rooms.state(asked.room), asked.argument)
        await self._rooms.add(asked.room, asked.person, MateLeft(mate=mate))
        return f"{self._name_of(mate)} has left."

    async def mate(self, asked: CommandRequest) -> str:
        """Choose, or tell, who answers lines that name no mate."""
        word, rest = _first_word_and_rest(asked.argument)
        if word in MAKING:
            return await self._make_or_edit_mate(asked, word, rest)
        state = await self._rooms.state(asked.room)
        if asked.argument:
            none = asked.argument == NOBODY
            mate = "" if none else self._mate_here(state, asked.argument)
            await self._rooms.add(asked.room, asked.person, DefaultMateSet(mate=mate))
            state = await self._rooms.state(asked.room)
        here, chosen = ", ".join(map(self._name_of, state.mates)), state.default_mate
        who = f"{self._name_of(chosen)} answers" if chosen else "Nobody in particular answers"
        several = chosen and len(state.people) > 1
        but = "; what people say among themselves calls nobody" if several else ""
        return f"{who} lines that name no mate{but}. Mates here: {here or 'none'}."

    async def _make_or_edit_mate(self, asked: CommandRequest, word: str, rest: str) -> str:
        """Make a mate, or give one another character; for the home's owner alone."""
        if not asked.owner and asked.person:
            raise InputError(f"/mate {word} is for the owner of this home.")
        name, more = _first_word_and_rest(rest)
        if not name:
            raise InputError(MAKING[word])
        if word == "new":
            mate = await self._workshop.new(name, more, asked.person)
            await self._rooms.add(asked.room, asked.person, MateJoined(mate=mate.handle))
            return (
                f"{mate.name} is made, and is here now. /mate edit {mate.handle} gives a character."
            )
        handle = handle_of(name, self._rooms.mates)
        if word == "fork":
            if not more:
                raise InputError(MAKING[word])
            mate = await self._workshop.fork(handle, more, asked.person)
            await self._rooms.add(asked.room, asked.person, MateJoined(mate=mate.handle))
            return f"{mate.name} is made as {handle} is, and is here now. Each goes its own way."
        if not more:
            return f"{handle} is:\n\n{self._workshop.character(handle)}\n\n{MAKING[word]}"
        mate = await self._workshop.edit(handle, more, asked.person)
        return f"{mate.name} has another character from now on; the one before stays on record."

    # ------------------------------------------------------------ who may what

    async def talk(self, asked: CommandRequest) -> str:
        """Set, or tell, whether mates speak without being called."""
        if asked.argument and asked.argument not in TALK:
            raise InputError("Say /talk free, or /talk called.")
        free = not (await self._rooms.state(asked.room)).quiet
        if asked.argument:
            free = TALK[asked.argument]
            await self._rooms.add(asked.room, asked.person, TalkSet(free=free))
        if free:
            return "Mates speak here without being called, whenever they have something to say."
        return "Mates speak here only when they are called."

    async def unprompted(self, asked: CommandRequest) -> str:
        """Set, or tell, whether mates may speak up by themselves."""
        if asked.argument and asked.argument not in SWITCH:
            raise InputError("Say /unprompted on, or /unprompted off.")
        if asked.argument:
            body = UnpromptedSet(allowed=SWITCH[asked.argument])
            await self._rooms.add(asked.room, asked.person, body)
        state = await self._rooms.state(asked.room)
        known = [self._rooms.mates[one] for one in state.mates if one in self._rooms.mates]
        able = [
            f"{one.name} {describe_unprompted_times(one.unprompted)}"
            for one in known
            if one.unprompted
        ]
        who = f"; as their files say: {', '.join(able)}" if able else "; but no file here says when"
        if not state.lets_unprompted:
            return "Mates do not speak up here by themselves."
        return f"Mates may speak up here by themselves{who}."

    async def pace(self, asked: CommandRequest) -> str:
        """Set, or tell, whether mates take the time that typing takes."""
        if asked.argument and asked.argument not in SWITCH:
            raise InputError("Say /pace on, or /pace off.")
        if asked.argument:
            await self._rooms.add(asked.room, asked.person, PaceSet(kept=SWITCH[asked.argument]))
        state = await self._rooms.state(asked.room)
        known = [self._rooms.mates[one] for one in state.mates if one in self._rooms.mates]
        slow = [f"{one.name} {one.pace:g} characters a second" for one in known if one.pace]
        if state.unpaced:
            return "Mates answer here at once, whatever pace their files name."
        who = f"; as their files say: {', '.join(slow)}" if slow else "; but no file here names one"
        return f"Mates type here at a pace of their own{who}."

    async def rights(self, asked: CommandRequest) -> str:
        """Set, or tell, who may do what."""
        state = await self._rooms.state(asked.room)
        if not asked.argument:
            return rights_parsing.told(state)
        who, grant = rights_parsing.read(state, asked.argument, self._rooms.same)
        own = grant_in_room(state, asked.person, keeper=asked.keeper, owner=asked.owner)
        if not (own | rights_parsing.held(state, who)).holds(grant):
            raise InputError(
                "Nobody gives rights that they do not have; the owner of this home has them all."
            )
        body = RightsSet(who=who, rights=grant.rights, tools=grant.tools)
        await self._rooms.add(asked.room, asked.person, body)
        return rights_parsing.sentence(state, who, grant)


def _first_word_and_rest(text: str) -> tuple[str, str]:
    """The first word, and what follows it, on the same line or the next."""
    first, *more = text.split(maxsplit=1) or [""]
    return first, more[0].strip() if more else ""
