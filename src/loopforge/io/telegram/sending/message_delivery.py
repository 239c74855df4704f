"""Delivery: as messages of Telegram, by the bot of whoever speaks, each part once.

A line that was cut off half way goes on where it stopped: what is there is known from this
process, from the draft that stands, or by asking (outgoing_message.py). What was found by asking is
put right by an edit, which changes nothing where it is right already.

Knows lines and their words; does not know when something is due.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeAlias

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import data_of
from loopforge.chat.room.event_wording import platform_name
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.delivery_states import IN_DOUBT
from loopforge.core.events import Event
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.room_vocabulary import File, Heard, LineDeleted, LineEdited, Reacted, Said, Told
from loopforge.errors import ArtifactError, InputError, SendFailed
from loopforge.io.platforms.line_buttons import Press, buttons_of
from loopforge.io.session import Sessions
from loopforge.io.telegram.connection.api_errors import LARGE
from loopforge.io.telegram.connection.chat_keys import ChatKey, parse_chat_key
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.sending.arrival_check import SETTLED, ArrivalCheck, NumberSpan
from loopforge.io.telegram.sending.draft_messages import GroupDraftKey, GroupDrafts
from loopforge.io.telegram.sending.outgoing_message import UPLOAD, Buttons, TelegramMessages
from loopforge.io.telegram.text.markdown import LIMIT, EntityText, split_into_messages
from loopforge.io.text.message_split import as_file
from loopforge.runtime.ports import Clock, Outgoing
from telegram import InlineKeyboardButton, InlineKeyboardMarkup

MOST_PARTS = 8
"""A line of more messages than this is sent as a file, with its beginning before it."""
ANY = 1_000_000
MET = 20_000
"""Numbers that are remembered of a chat, or of a bot's chats."""
SENT = 200
"""Sendings that are remembered of them."""
LOOKS = 1000
"""Looks for what may have arrived that go on where they stopped."""

Like = tuple[str, ...]
"""The places (SQL) whose messages are numbered together."""


class UploadPart(NamedTuple):
    """A part that is a file, and what stands under it; `long`: the text itself, as one."""

    name: str
    data: bytes
    words: str = ""
    long: bool = False


MOST_BYTES = 50 << 20
"""Bytes of a file that Telegram's own server takes of a bot."""
UNCLEAR = "it was cut off, and nobody can tell whether it arrived."
TAKEN = EntityText("(deleted)")
"""What is left of a line that Telegram lets nobody take away any more."""
NO_MORE = ("to edit not found", "can't be edited")
"""How Telegram says that a message is not there, or not this bot's."""
NO_FILES = "to send documents"
"""How it says that a bot may give no files there."""

Part: TypeAlias = EntityText | UploadPart
StandingPart: TypeAlias = tuple[EntityText, Buttons] | None
"""What a message of a line is known to show; None where only an edit makes sure, and of a file."""


class TelegramOutgoing(NamedTuple):
    """A line as it is to be sent: by which bot, in parts, in answer to which line.

    `buttons` stand under its last part.
    """

    poll: BotPolling
    parts: tuple[Part, ...]
    reply_to: str = ""
    buttons: Buttons = None

    def under(self, part: int) -> Buttons:
        """What stands under a part."""
        return self.buttons if part == len(self.parts) - 1 else None


class _Begun:
    """The line that is being sent: what of it is there, and if its text may be given as a file."""

    def __init__(self, delivery: str) -> None:
        self.delivery, self.fileless = delivery, False
        self.there: dict[int, StandingPart] = {}


class TelegramDelivery:
    """Sends what is delivered. `own`: to another server than Telegram's, which may take more."""

    def __init__(
        self,
        polls: Sequence[BotPolling],
        sessions: Sessions,
        front: RoomsApi,
        artifacts: Artifacts,
        clock: Clock,
        *,
        own: bool = False,
    ) -> None:
        self._polls, self._sessions, self._clock, self._own = polls, sessions, clock, own
        self._front, self._artifacts = front, artifacts
        # By room and place, in which one thing is sent after the other.
        self._begun: dict[tuple[str, str], _Begun] = {}
        self._looks: BoundedMapping[str, ArrivalCheck] = BoundedMapping(LOOKS)
        # Places in doubt, by bot and chat, and numbers that may be of several of them: which topic
        # a message of ours stands in, nobody says.
        self._doubts: dict[tuple[int, int], set[str]] = defaultdict(set)
        self._unclear = set[tuple[Like, int]]()
        self.locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.drafts = GroupDrafts()
        # What stands in no ledger: numbers of strangers, commands and notices, and when what we
        # sent was begun (ticks), with the number that it was given.
        self._met: dict[Like, deque[int]] = defaultdict(lambda: deque(maxlen=MET))
        # Lines that a mate put an emoji on, and what keeps that and the marks of lines in order.
        self.own = deque[tuple[str, str]](maxlen=SENT)
        self.marking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._sent: dict[Like, deque[tuple[float, int]]] = defaultdict(lambda: deque(maxlen=SENT))

    # ------------------------------------------------------------ the two of the port

    async def sent(self, out: Outgoing) -> str | None:
        """Find out what of it is there already; its numbers, if all of it is."""
        if out.what not in ("line", "reminder"):
            return None
        async with self.locks[out.place]:
            with self._mark_doubt(out, looks=True):
                await self._find_what_is_there(out)
        return None  # what was found is put right by `send`, and only then accepted

    async def _find_what_is_there(self, out: Outgoing) -> None:
        """Find out what of a line is there. Raises SendFailed."""
        letter, there = await self._outgoing_of(out), await self._numbers_begun(out)
        missing = len(letter.parts) - len(there)
        if missing:
            settled = _seconds_to_settle(letter.parts[len(there) :])
            found = await self._unaccounted_messages(
                letter.poll, out.place, out.first, [*there], missing, settled
            )
            if len(found) > missing:
                raise SendFailed(UNCLEAR, uncertain=True)
            there |= dict.fromkeys(found)

    async def _unaccounted_messages(
        self,
        poll: BotPolling,
        place: str,
        before: str,
        told: Sequence[int] = (),
        wanted: int = 1,
        settled: float = SETTLED,
    ) -> Sequence[int]:
        """Messages of ours since an event that nothing accounts for. Raises SendFailed."""
        like = _numbered_together(poll, parse_chat_key(place))
        anchor = await self._sessions.channels.highest(like, place, before)
        alone = self._was_there_for(like, anchor)
        look = self._looks.pop(f"{place} {before}", None)
        look = look or ArrivalCheck(poll, parse_chat_key(place), self._clock, settled)
        try:
            found = await self._messages_above(
                look, poll, parse_chat_key(place), anchor, told, wanted, alone=alone
            )
        except SendFailed as refused:
            if not refused.uncertain:
                self._looks[f"{place} {before}"] = look
            raise
        numbers = {(like, number) for number in found}
        others = self._doubts[poll.number, parse_chat_key(place).chat] - {place}
        if numbers and (others or numbers & self._unclear):
            self._unclear |= numbers
            raise SendFailed(UNCLEAR, uncertain=True)
        return found

    async def _messages_above(
        self,
        look: ArrivalCheck,
        poll: BotPolling,
        at: ChatKey,
        anchor: int,
        told: Sequence[int] = (),
        wanted: int = 1,
        *,
        alone: bool = True,
    ) -> Sequence[int]:
        like = _numbered_together(poll, at)

        async def read() -> NumberSpan:
            top = await self._sessions.channels.top(like)
            known = await self._sessions.channels.numbers_above(like, anchor)
            known = known.union(told, (number for number in self._met[like] if number > anchor))
            known |= {number for _, number in self._sent[like]}  # not in the ledger yet, perhaps
            return NumberSpan(anchor, top, known, partial(self._lowest_number_since, like))

        return await look.ours(read, wanted, alone=alone)

    def _was_there_for(self, like: Like, number: int) -> bool:
        """Whether this process was there for a message, and so for all notices since."""
        return number in self._met[like] or any(each == number for _, each in self._sent[like])

    async def anchor(self, poll: BotPolling, at: ChatKey, reply: int | None) -> int:
        """A number above which everything stands that is sent from now on, in answer to that."""
        like = _numbered_together(poll, at)
        return reply or max([await self._sessions.channels.top(like), *self._met[like]])

    async def arrived(self, look: ArrivalCheck, poll: BotPolling, at: ChatKey, anchor: int) -> bool:
        """Whether something of ours that is no line stands above this number. Raises SendFailed."""
        async with self.locks[at.key]:
            found = await self._messages_above(look, poll, at, anchor)
        for number in found:
            self.met(poll, at.key, number)
        return bool(found)

    def _lowest_number_since(self, like: Like, began: float) -> int:
        """The lowest number of what began to be sent at this time or later; 0: nothing was."""
        return min((number for at, number in self._sent[like] if at >= began), default=0)

    def met(self, poll: BotPolling, place: str, number: int) -> None:
        """A message of this number is known for what it is, though it is no line of a room."""
        self._met[_numbered_together(poll, parse_chat_key(place))].append(number)

    async def stray(self, poll: BotPolling, key: GroupDraftKey) -> int:
        """The draft of a turn whose posting broke off; 0 if none stands, or nobody can tell.

        Raises SendFailed where that can be told later.
        """
        drafted = self.drafts[key]
        if not drafted.lost:
            return 0
        try:
            found = await self._unaccounted_messages(poll, key.place, key.turn)
        except SendFailed as failure:
            if not failure.uncertain:
                raise
            found = ()
        drafted.lost = False
        return found[0] if len(found) == 1 else 0

    async def send(self, out: Outgoing) -> str:
        """Send what is missing, put right what is there. Raises SendFailed."""
        async with self.locks[out.place]:
            with self._mark_doubt(out):
                return await self._send_out(out)

    @contextmanager
    def _mark_doubt(self, out: Outgoing, *, looks: bool = False) -> Iterator[None]:
        """Keep in mind whether a place is in doubt: while it `looks`, and after what broke off.

        What was begun is kept in mind until it ends; of what was given up, until the next thing.
        """
        at = parse_chat_key(out.place)
        places = self._doubts[self._speaker_of(out.event, at).number, at.chat]
        if looks:
            places.add(out.place)
        try:
            yield
        except SendFailed as refused:
            if refused.final or refused.uncertain:
                places.discard(out.place)
                self._begun.pop((out.stream, out.place), None)
            elif not refused.unsent:
                places.add(out.place)
            raise
        if not looks:
            places.discard(out.place)
            self._begun.pop((out.stream, out.place), None)

    async def _send_out(self, out: Outgoing) -> str:
        match out.event.body:
            case Reacted(mate=mate, to=line, emoji=emoji):
                await self._send_reaction(out, mate, line, emoji)
                return out.delivery
            case LineEdited(line=line):
                return await self._send_edit(out, line)
            case LineDeleted(line=line):
                await self._take_away(out, line)
                return out.delivery
            case _ if out.what == "approval":
                return await self._settle_question(out)
            case _:
                return await self._send_line(out)

    async def _send_line(self, out: Outgoing) -> str:
        letter = await self._outgoing_of(out)
        there = await self._numbers_begun(out)
        at, outward = parse_chat_key(out.place), TelegramMessages(letter.poll)
        for nth, (number, part) in enumerate(zip(tuple(there), letter.parts, strict=False)):
            under = letter.under(nth)
            if isinstance(part, EntityText) and there[number] != (part, under):
                try:
                    await outward.edit(at, number, part, under)
                    there[number] = (part, under)
                except SendFailed as refused:
                    if not any(sign in refused.why for sign in NO_MORE):
                        raise
                    for gone in [*there][nth:]:  # a moderator took the draft away: it is sent anew
                        del there[gone]
                    break
        reply = await self.message(out.place, letter.reply_to)
        for nth, part in enumerate(letter.parts[len(there) :], len(there)):
            to, began, under = reply if nth == 0 else None, self._clock.ticks(), letter.under(nth)
            if isinstance(part, UploadPart):
                with self._note_refused_file(out, part):
                    number = await _give_file(outward, at, part, to, under)
            else:
                number = await outward.post(at, part, to, under)
            there[number] = (part, under) if isinstance(part, EntityText) else None
            self._sent[_numbered_together(letter.poll, at)].append((began, number))
        return " ".join(map(str, there))

    @contextmanager
    def _note_refused_file(self, out: Outgoing, part: UploadPart) -> Iterator[None]:
        """Where a long text may not be given as a file, it is sent in messages at the next try."""
        try:
            yield
        except SendFailed as refused:
            if not part.long or NO_FILES not in refused.why:
                raise
            self._begun_of(out).fileless = True
            raise SendFailed(refused.why, unsent=True) from None

    def _begun_of(self, out: Outgoing) -> _Begun:
        begun = self._begun.get(key := (out.stream, out.place))
        if begun is None or begun.delivery != out.delivery:
            begun = self._begun[key] = _Begun(out.delivery)
        return begun

    async def _numbers_begun(self, out: Outgoing) -> dict[int, StandingPart]:
        """The numbers of what is there of it already; it is drafted there no more."""
        there = self._begun_of(out).there
        draft = await self._sessions.channels.draft(out.place, out.event.id)
        if not there and draft.isdigit():
            there[int(draft)] = None
        if isinstance(out.event.body, Said):
            key = GroupDraftKey(out.place, out.event.body.turn)
            self.drafts[key].end()
            if draft == IN_DOUBT and not there:
                self.drafts[key].lose()
            poll = self._speaker_of(out.event, parse_chat_key(out.place))
            if not there and (stray := await self.stray(poll, key)):
                there[stray] = None
        return there

    async def _send_reaction(self, out: Outgoing, mate: str, line: str, emoji: str) -> None:
        self.own.append((out.place, line))
        if message := await self.message(out.place, line):
            at = parse_chat_key(out.place)
            async with self.marking[out.place]:
                await TelegramMessages(self.by(mate, at)).react(at, message, emoji)

    async def _send_edit(self, out: Outgoing, line: str) -> str:
        """A line that was changed elsewhere is changed here, in the messages that it has.

        Those it needs no more go. Its files stay.
        """
        text = str(out.event.body.text)  # type: ignore[attr-defined]
        return await self._reword(out, await self._line_of(out, line), text)

    async def _settle_question(self, out: Outgoing) -> str:
        """A question that was answered says so, and has no buttons any more."""
        told = await self._front.questions.about(out.event)
        if told is None:
            return out.delivery
        text = await self._front.questions.settled(out.event, told)
        return await self._reword(out, told, text)

    async def _reword(self, out: Outgoing, event: Event, text: str) -> str:
        at, line = parse_chat_key(out.place), event.id
        letter = await self._word_line(event, at, text)
        posts = await self._sessions.channels.posts(out.place, line)
        files, outward = len(getattr(event.body, "files", ())), TelegramMessages(letter.poll)
        posts = posts[: len(posts) - files]
        parts = _fit_parts(text, letter.parts[: len(letter.parts) - files], len(posts))
        last = min(len(posts), len(parts)) - 1
        for nth, (number, part) in enumerate(zip(posts, parts, strict=False)):
            under = letter.buttons if nth == last else None
            await self._change_message(outward, at, int(number), part, under)
        for number in posts[len(parts) :]:
            await outward.delete(at, int(number))
        return out.delivery

    async def _change_message(
        self, outward: TelegramMessages, at: ChatKey, number: int, part: Part, under: Buttons
    ) -> None:
        """Let a message be this part; what became a file once stays one. One that is gone is."""
        given = part if isinstance(part, UploadPart) else UploadPart("text.md", b"", part.text)
        name, data, words, _ = given
        try:
            if isinstance(part, EntityText):
                await outward.edit(at, number, part, under)
            else:
                await outward.fill(at, number, name, data, words)
        except SendFailed as refused:
            if "no text in the message" in refused.why:
                await outward.fill(at, number, name, words.encode(), words)
            elif "not found" not in refused.why:
                raise

    async def _take_away(self, out: Outgoing, line: str) -> None:
        event, at = await self._line_of(out, line), parse_chat_key(out.place)
        poll = self._speaker_of(event, at)
        outward = TelegramMessages(poll)
        for number in await self._sessions.channels.posts(out.place, line):
            try:
                await outward.delete(at, int(number))
            except SendFailed as refused:
                if "can't be deleted" not in refused.why:
                    raise
                await self._change_message(
                    outward, at, int(number), TAKEN, None
                )  # too old: 48 hours

    async def _line_of(self, out: Outgoing, line: str) -> Event:
        return await self._front.line(out.stream.removeprefix(PREFIX), line)

    # ------------------------------------------------------------ words

    async def _outgoing_of(self, out: Outgoing) -> TelegramOutgoing:
        most = ANY if self._begun_of(out).fileless else MOST_PARTS
        return await self._word_line(out.event, parse_chat_key(out.place), most=most)

    async def _word_line(
        self, event: Event, at: ChatKey, text: str | None = None, *, most: int = MOST_PARTS
    ) -> TelegramOutgoing:
        """A line as it is to be sent."""
        poll, body = self._speaker_of(event, at), event.body
        match body:
            case Said(mate=mate, reply_to=reply):
                head = self.head(poll, mate)
                given = [await self._upload_part(file) for file in body.files]
                parts = (*parts_of(head + (text or str(body.text)), most), *given)
                return TelegramOutgoing(poll, parts, reply, await self._buttons_under(event))
            case Heard(person=person, surface=surface, reply_to=reply):
                scene = await self._front.rooms.scene(event.stream.removeprefix(PREFIX))
                where = platform_name(surface) if ":" in surface else surface
                head = f"**{scene.person(person)}** ({where}): "
                files = [await self._upload_part(file) for file in body.files]
                parts = parts_of(head + (text if text is not None else str(body.text)), most)
                return TelegramOutgoing(poll, (*parts, *files), reply)
            case Told():
                buttons = None if text is not None else await self._buttons_under(event)
                said = str(body.text) if text is None else text
                parts = parts_of(said if body.asks else f"_{said}_")
                return TelegramOutgoing(poll, parts, buttons=buttons)
            case _:
                raise SendFailed("this is nothing that could be sent to Telegram.", final=True)

    async def _buttons_under(self, event: Event) -> Buttons:
        return _button_rows(await buttons_of(self._front, event))

    async def _upload_part(self, file: File) -> UploadPart:
        try:
            part = UploadPart(str(file.name), await data_of(self._artifacts, file))
        except (InputError, ArtifactError):  # also where even its name is forgotten
            return UploadPart(f"{file.name}.txt", b"This file is kept no longer.")
        taken = part.data and (self._own or len(part.data) <= MOST_BYTES)
        return part if taken else _untaken(part)

    # ------------------------------------------------------------ who, where

    def head(self, poll: BotPolling, mate: str) -> str:
        """What stands before a mate's words: its name, where others speak by the same bot."""
        known = self._front.rooms.mates.get(mate)
        own = not poll.shared and mate in poll.mates
        return "" if own else f"**{known.name if known else mate}:** "

    def by(self, mate: str, at: ChatKey) -> BotPolling:
        """The bot by which a mate speaks in a place. Raises SendFailed."""
        polls = [each for each in self._polls if at.bot is None or each.number == at.bot]
        own = [each for each in polls if mate in each.mates and not each.shared]
        for each in (*own, *(each for each in polls if each.speaks_for(mate))):
            return each
        if polls:
            return polls[0]
        raise SendFailed("no bot of this home is in that chat.")

    def _speaker_of(self, event: Event, at: ChatKey) -> BotPolling:
        return self.by(event.body.mate if isinstance(event.body, Said) else "", at)

    async def message(self, place: str, line: str) -> int | None:
        """The number of the first message that a line is in a place."""
        posts = await self._sessions.channels.posts(place, line) if line else []
        return int(posts[0]) if posts and posts[0].isdigit() else None


def _numbered_together(poll: BotPolling, at: ChatKey) -> Like:
    """The places (SQL) whose messages are numbered together with those of this one.

    In supergroups and channels numbers are the chat's own; elsewhere they are the bot's, over all
    its chats.
    """
    if not at.counts:
        return (f"telegram:%@{poll.number}",)
    chat = ChatKey(at.chat).key
    return (chat, f"{chat}/%", f"{chat}#%")


async def _give_file(
    outward: TelegramMessages, at: ChatKey, part: UploadPart, to: int | None, under: Buttons
) -> int:
    """Send a file, or where the server takes none so large, why it is not there; the number."""
    try:
        return await outward.file(at, part.name, part.data, to, under)
    except SendFailed as refused:
        if refused.why != LARGE:
            raise
    word = _untaken(part)
    return await outward.file(at, word.name, word.data, to, under)


def _untaken(part: UploadPart) -> UploadPart:
    """What stands in place of a file whose size no server takes of a bot."""
    why = f"This file has {len(part.data):,} bytes: of that size Telegram takes none of a bot."
    return UploadPart(f"{part.name}.txt", why.encode())


def _seconds_to_settle(parts: Sequence[Part]) -> float:
    """How long what broke off of these may still be on its way: large files are passed on after."""
    largest = max((len(each.data) for each in parts if isinstance(each, UploadPart)), default=0)
    return max(SETTLED, UPLOAD * largest / MOST_BYTES)


def _button_rows(presses: Sequence[Press]) -> Buttons:
    """Those that say yes, or later, in one row, no in another: none is pressed for the other."""
    if not presses:
        return None
    made = [InlineKeyboardButton(one.label, callback_data=one.data) for one in presses]
    return InlineKeyboardMarkup([row for row in (made[:-1], made[-1:]) if row])


def _fit_parts(text: str, parts: Sequence[Part], most: int) -> Sequence[Part]:
    """A text as so many messages at most: the last is a file with all of it, where it is more."""
    words = [part for part in parts if isinstance(part, EntityText)]
    whole = as_file(text, LIMIT, 0)
    if not most or whole is None or (len(parts) <= most and len(words) == len(parts)):
        return parts
    under = words[most - 1].text if len(words) >= most else ""
    return (*words[: most - 1], UploadPart(whole.name, whole.data, under))


def parts_of(text: str, most: int = MOST_PARTS) -> tuple[Part, ...]:
    """A text as so many messages at most, or as its beginning and a file."""
    if long := as_file(text, LIMIT, most):
        file = UploadPart(long.name, long.data, long=True)
        return (*split_into_messages(long.preview.text)[:1], file)
    return split_into_messages(text)
