"""Incoming lines: what a platform brings in, taken into the rooms; the same for every platform.

    a message  --> who is that? may they come in? which room? is it late? --> heard, once
    an edit, a deletion, a reaction --> of which line?                    --> in the ledger
    a command  --> in which room, by whom?                                --> an answer

An adapter says what came (`IncomingMessage`) and shows what it is told (a notice, an answer). No
model is asked for a stranger: that is decided here, before anything is heard. An adapter that would
fetch files asks before that (`admit`, `may_give`). What a stranger may do is prove who they are, by
a code that they were given where they are known.

Does not know any platform, nor how a notice is shown. Does not fetch files.
"""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.room.permissions import may
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.chat.rooms_api import RoomsApi
from loopforge.chat.speaking.exposed_keys import key_warnings
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, TooEarly, Unknown
from loopforge.io.platforms.emoji_reactions import EMOJI_ANSWERS, SKINS, STOP_EMOJIS
from loopforge.io.platforms.line_buttons import Admission, LineButtons, Presser, PressGround
from loopforge.io.platforms.place_allowlist import ServedPlace, ServedPlaces
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.session import Sessions
from loopforge.people.account_linking import AccountLinking
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)


WAITS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds to wait for a message of ours that somebody answers before its acceptance is recorded."""
SAID_BEFORE = timedelta(minutes=2)
"""What was said longer ago than this is kept with when it was said."""
UNHEEDED = timedelta(hours=1)
"""So long who may not stop a place is not told so again when they put a stop sign there."""
PRESS_WAITS = WAITS[:4]
"""The same where whoever pressed a button under it waits for an answer."""

OUTSIDE = "The owner of this home has to let you in first."
LINKED = "Done: this account and the one that the code came from are one person now."
EXPOSED = (
    "That code stood here for others to read, so it links nothing any more. Ask for a new one by "
    "/link where you are known, and give it to a mate in private."
)

_LINK = re.compile(r"/link\s+(\S+)", re.IGNORECASE)
"""The command as words, where a platform's own menu of commands was passed by."""


class IncomingMessage(Struct, frozen=True, kw_only=True):
    """A message as a platform brings it.

    `spot` is where, `mates` the handles of those who are there, `message` the platform's id (a
    number), `account` and `name` who says it, `at` when it was said. `reply_to` is the id of the
    message it answers, `ours`: that is one of our bots'. `keeper`: they may manage that place on
    the platform. `called`: a bot of ours was spoken to that is there for several mates. `files` are
    kept as artifacts already, `pieces` the ids of the other messages in which they came, `captions`
    how many characters of the text each of all these says. `quotes`: whose words (their account) it
    brings up, by no right of theirs.
    """

    spot: ChannelSpot
    mates: tuple[str, ...]
    message: str
    account: str
    name: str
    text: str
    at: datetime
    reply_to: str = ""
    ours: bool = False
    bot: bool = False
    keeper: bool = False
    called: bool = False
    files: tuple[File, ...] = ()
    pieces: tuple[str, ...] = ()
    captions: tuple[int, ...] = ()
    quotes: str = ""

    @property
    def platform(self) -> str:
        """The platform's name."""
        return self.spot.key.partition(":")[0]


class ReceivedLine(Struct, frozen=True, kw_only=True):
    """What became of a message: the line that was heard, or a notice to show, or neither.

    A `warning` is shown where nobody waits for an answer, too; `private` is for whoever said it,
    and stands where it was said if they cannot be told alone.
    """

    heard: Event | None = None
    room: str = ""
    notice: str = ""
    warning: str = ""
    private: str = ""


def note_refused_files(text: str, refused: Sequence[str]) -> str:
    """What was said with files, some of which were `refused`: mates are to know that these came."""
    count = len(refused)
    files = "a file" if count == 1 else f"{count} files"
    if not count:
        return text
    return (
        f"{text}\n[{files} that came with this could not be taken]"
        if text.strip()
        else f"[{files} that came could not be taken]"
    )


def is_link_command(spot: ChannelSpot, command: str, argument: str) -> bool:
    """Whether a command says who somebody is, which is not for those alone who were let in."""
    return spot.kind == "private" and command == "link" and bool(argument.strip())


class IncomingLines:
    """Takes in what platforms bring. `patience` is how old a message may be to be answered.

    `time` is the platform's own: a surface tells it the `Date` of each answer.
    """

    def __init__(
        self,
        front: RoomsApi,
        people: PersonRegistry,
        clock: Clock,
        admission: Admission,
        linking: AccountLinking,
        grounds: ServedPlaces,
        patience: timedelta = timedelta(hours=12),
    ) -> None:
        self._front, self._people, self._clock = front, people, clock
        self._admission, self._linking = admission, linking
        self._grounds, self._patience = grounds, patience
        self.sessions, self.time = Sessions(front), PlatformTime(clock)
        self._unheeded: dict[tuple[str, str], datetime] = {}
        self._pressing = PressGround(front, people, self._pressed_line, admission)
        self.buttons = LineButtons(self._pressing)

    async def serves(self, ground: ServedPlace, account: str, *, asked: bool) -> str | None:
        """Whether mates talk in a server or group: None, or a notice to show ("": nothing).

        Asked before anything else is done there; `asked`: a mate of ours is spoken to.
        """
        person = self._people.who(ground.platform, account)
        known = person is not None and (
            self._admission.owns(person.id) or self._admission.trusts(person.id)
        )
        if self._grounds.decided(ground):
            return None
        places = await self.sessions.channels.all(ground.platform)
        return self._grounds.serves(ground, places, known=known, asked=asked)

    async def admit(
        self, spot: ChannelSpot, account: str, name: str, *, bot: bool = False
    ) -> str | None:
        """Whether somebody may say anything in a place: None, or a notice to show ("": nothing).

        Asked before anything that they brought along is fetched.
        """
        if spot.kind != "private":
            return None
        if bot:
            return ""
        return await self._admission.knock(spot.key.partition(":")[0], account, name, spot.key)

    async def may_give(self, spot: ChannelSpot, account: str, *, keeper: bool = False) -> bool:
        """Whether files that come with somebody's line are kept: not of who may not talk here."""
        room = await self.sessions.known(spot.key)
        person = self._people.who(spot.key.partition(":")[0], account)
        if not room:
            return True
        state, id = await self._front.rooms.state(room), person.id if person is not None else "?"
        return may(state, id, "talk", keeper=keeper, owner=self._admission.owns(id))

    async def heard(self, place: str, message: str | int) -> bool:
        """Whether a message is a line already, heard before or ours: nothing of it is fetched."""
        return bool(await self.sessions.channels.line(place, str(message)))

    async def take(self, coming: IncomingMessage) -> ReceivedLine:
        """Hear a message, once. Raises BadLine, TooLarge for one that cannot be heard.

        A message that is a line already was heard before, or is one of ours.
        """
        if await self.heard(coming.spot.key, coming.message):
            return ReceivedLine()
        typed = _LINK.fullmatch(coming.text.strip())
        if typed and not coming.bot and is_link_command(coming.spot, "link", typed[1]):
            return await self._link_by_typed_code(coming, typed[1])
        person = await self._people.meet(
            coming.platform, coming.account, coming.name, bot=coming.bot
        )
        notice = await self.admit(coming.spot, coming.account, coming.name, bot=coming.bot)
        if notice is not None:
            return ReceivedLine(notice=notice)
        room = await self.sessions.room(coming.spot, coming.mates)
        await self._front.rooms.arrive(room, person.id, coming.name, coming.platform)
        reply, warning = (
            await self._answered_line(coming),
            await self.exposed(coming.spot, coming.text),
        )
        age = self.time.age(coming.at)
        heard = await self._front.rooms.hear(
            room,
            Heard(
                person=person.id,
                text=Words(coming.text),
                surface=coming.spot.key,
                source=coming.message,
                reply_to=reply,
                files=tuple(coming.files),
                bot=coming.bot,
                late=age > self._patience,
                ago=int(age.total_seconds()) if age > SAID_BEFORE else 0,
                untrusted=not (self._admission.trusts(person.id) and self._trusts_quoted(coming)),
                keeper=coming.keeper,
                owner=self._admission.owns(person.id) and not coming.quotes,
                called=coming.called,
                pieces=coming.pieces,
                captions=coming.captions,
            ),
        )
        group = coming.spot.kind != "private" and not coming.bot
        keys = key_warnings(coming.text, coming.spot.name) if group else []
        return ReceivedLine(heard=heard, room=room, warning=warning, private="\n".join(keys))

    def _trusts_quoted(self, coming: IncomingMessage) -> bool:
        """Whether the words that a message brings up, if any, are of somebody who is known here."""
        author = self._people.who(coming.platform, coming.quotes) if coming.quotes else None
        return not coming.quotes or (author is not None and self._admission.trusts(author.id))

    async def exposed(self, spot: ChannelSpot, text: str) -> str:
        """What is said of a code that others can read here, which is good no more by that.

        `take` asks it; of an edit, and where no mate talks, a surface does.
        """
        if spot.kind == "private":
            return ""
        return EXPOSED if await self._linking.expose(text) else ""

    async def _link_by_typed_code(self, coming: IncomingMessage, code: str) -> ReceivedLine:
        """Link somebody who typed the command as words; how long to wait is said once."""
        try:
            told = await self.command(
                coming.spot, coming.mates, coming.account, coming.name, "link", code
            )
        except TooEarly as early:
            told = "" if early.told else str(early)
        return ReceivedLine(notice=told)

    async def _answered_line(self, coming: IncomingMessage) -> str:
        """The line that a message answers; one of ours is waited for till it is recorded."""
        for pause in (*WAITS, 0.0):
            reply = await self.sessions.channels.line(coming.spot.key, coming.reply_to)
            if reply or not (coming.reply_to and coming.ours):
                return reply
            await self._clock.sleep(pause)
        return ""

    async def edited(
        self,
        place: str,
        message: str,
        account: str,
        text: str,
        own: Callable[[str], str] = str,
    ) -> None:
        """Somebody changed a message; what was never heard, or is the same, is passed over.

        `own` tells what of a text is its author's: only that can be changed by them.
        """
        line = await self.sessions.channels.line(place, message)
        person = self._people.who(place.partition(":")[0], account)
        if line and person is not None:
            room = await self.sessions.channels.stands(line)
            try:
                said = (await self._front.line(room, line)).body
                if isinstance(said, Heard) and message in said.pieces and not said.captions:
                    return  # heard before it was known who of an album says what
                words, captions = await self._front.retyped(room, line, text, message)
                if isinstance(said, Heard) and own(str(said.text)) == own(words):
                    return
                await self._front.rooms.edit(room, person.id, line, words, captions)
            except InputError as error:
                log.info("an edit of a line in %s was passed over: %s", place, error)

    async def deleted(self, place: str, message: str) -> None:
        """A message is no more: with its first message a line is gone, whoever said it.

        Its other messages may go without it: we take them away ourselves when it becomes shorter.
        """
        line = await self.sessions.channels.line(place, message)
        if line and (await self.sessions.channels.posts(place, line))[:1] == [message]:
            room = await self.sessions.channels.stands(line)
            try:
                await self._front.rooms.delete(room, "", line)
            except Unknown:
                log.debug("a message in %s was of a line that is gone already", place)

    async def reacted(
        self,
        place: str,
        message: str,
        by: Presser,
        emoji: str,
        *,
        back: bool = False,
    ) -> str:
        """Somebody put an emoji on a message, or took it back; a person's stop sign stops.

        A thumb up or down on a question whether a mate may use a tool answers it, if it is a
        person's. Of a line of a room that its place is no part of any more nobody comes into that
        room, and it decides nothing there; what is stopped is the room that is there now. Returns
        what is to be shown in private, "" for nothing.
        """
        plain = emoji.rstrip(SKINS)
        find = (
            self._find_when_arrived([place], message)
            if plain in EMOJI_ANSWERS
            else self._find_line(place, message)
        )
        room, line = await find
        if not line:
            return ""
        person = await self._people.meet(place.partition(":")[0], by.account, by.name)
        there = await self.sessions.channels.stands(line)
        try:
            if there == room:
                await self._front.rooms.arrive(room, person.id, by.name, place.partition(":")[0])
            if there == room or person.id in (await self._front.rooms.state(there)).people:
                await self._front.react(there, person.id, line, emoji, back=back)
        except Unknown:  # its room was deleted since
            if emoji not in STOP_EMOJIS:
                return ""
        command, number = ("stop", "") if emoji in STOP_EMOJIS else ("", "")
        if plain in EMOJI_ANSWERS and there == room:
            asked = (await self._front.line(room, line)).body
            asks = asked.asks if isinstance(asked, Told) else 0
            command, number = (EMOJI_ANSWERS[plain], str(asks)) if asks else ("", "")
        if not command or back or by.bot:
            return ""
        try:
            return await self._pressing.commanded(room, person.id, place, by, command, number)
        except InputError as refused:
            return str(refused) if command != "stop" else self.unheeded(place, by, str(refused))

    async def cleared(self, place: str, message: str, emoji: str = "") -> None:
        """Somebody took all emojis off a message, or each of this one: those of people there."""
        line = await self.sessions.channels.line(place, message)
        for put in await self._front.reactions(line) if line else ():
            selves = self._people.selves(put.person)
            there = any(one.surface == place.partition(":")[0] for one in selves)
            if there and emoji in ("", put.emoji):
                room = await self.sessions.channels.stands(line)
                with suppress(Unknown):  # its room was deleted since
                    await self._front.react(room, put.person, line, put.emoji, back=True)

    def unheeded(self, place: str, by: Presser, why: str) -> str:
        """What is said of a stop sign that stops nothing: why, once an hour for each person."""
        now, who = self._clock.now(), (place, by.account)
        self._unheeded = {one: at for one, at in self._unheeded.items() if now - at < UNHEEDED}
        if who in self._unheeded:
            return ""
        self._unheeded[who] = now
        return why

    async def command(
        self,
        spot: ChannelSpot,
        mates: Sequence[str],
        account: str,
        name: str,
        command: str,
        argument: str,
        *,
        keeper: bool = False,
        reply_to: str = "",
        at: datetime | None = None,
    ) -> str:
        """Do what a command asks, and say what was done. Raises InputError.

        `keeper`: who asks may manage that place on the platform; `reply_to` is the message that it
        answers, `at` when they asked, where that may be long ago. By a code that links them (wrong
        ones are counted, people/account_linking.py) somebody comes in who was not let in before.
        """
        platform = spot.key.partition(":")[0]
        if is_link_command(spot, command, argument):
            await self._linking.claim(argument.strip(), platform, account)
            notice = await self.admit(spot, account, name)
            return f"{LINKED} {notice or ''}".strip()
        person = await self._people.meet(platform, account, name)
        notice = await self.admit(spot, account, name)
        if notice is not None:
            return notice or OUTSIDE
        room = await self.sessions.room(spot, mates)
        await self._front.rooms.arrive(room, person.id, name, platform)
        answered = await self.sessions.channels.line(spot.key, reply_to) if reply_to else ""
        by = Presser(account=account, name=name, keeper=keeper)
        asked = self._pressing.request(room, person.id, spot.key, by)
        return await self._front.commands.carry_out(
            command, replace(asked, argument=argument, reply_to=answered, said=self._said(at))
        )

    def _said(self, at: datetime | None) -> datetime | None:
        """When something was asked, by this home's clock; None where that is just now."""
        age = self.time.age(at) if at is not None else timedelta()
        return self._clock.now() - age if age > SAID_BEFORE else None

    async def complete(
        self, place: str, account: str, command: str, begun: str, mates: Sequence[str] = ()
    ) -> list[str]:
        """What a command's argument may be, as whoever types it may know.

        `mates` are those who are in a place where nobody has spoken yet.
        """
        room = await self.sessions.known(place)
        person = self._people.who(place.partition(":")[0], account)
        who = person.id if person is not None else ""
        owns = person is not None and self._admission.owns(who)
        return await self._front.commands.complete(
            room, who, command, begun, owner=owns, mates=mates
        )

    async def _pressed_line(self, places: Sequence[str], message: str) -> tuple[str, str]:
        """The same for what was pressed, which waits for an answer."""
        return await self._find_when_arrived(places, message, PRESS_WAITS)

    async def _find_when_arrived(
        self, places: Sequence[str], message: str, waits: Sequence[float] = WAITS
    ) -> tuple[str, str]:
        """The same for one of these places, and a message of ours that may have just arrived."""
        for pause in (0.0, *waits):
            await self._clock.sleep(pause)
            for place in places:
                room, line = await self._find_line(place, message)
                if line:
                    return room, line
        return "", ""

    async def _find_line(self, place: str, message: str) -> tuple[str, str]:
        """The room of a place, and the line that a message there is; both "" if it is none."""
        line = await self.sessions.channels.line(place, message)
        room = await self.sessions.known(place) if line else ""
        return (room, line) if room else ("", "")
