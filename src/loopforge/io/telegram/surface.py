"""Telegram: the mates of this home in private chats, groups and topics.

    updates  --Poll--> inward --> reception --> the room
    the room --> deliveries --> send --> outward --> messages, each part once
    the room's air --> watching --> typing signs, drafts, marks

A mate has a bot of its own, or one bot is there for many, whose names then stand before their
lines (Telegram knows no other way). Does not know pages, other platforms, or what a mate is.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from telegram.constants import ChatType
from telegram.error import TelegramError

import telegram
from loopforge.artifacts.receive import Limits, receive
from loopforge.artifacts.store import Artifacts
from loopforge.chat.commands import COMMANDS
from loopforge.chat.front import Front
from loopforge.chat.places import Spot
from loopforge.core.room import File
from loopforge.errors import InputError, LedgerError, LoopforgeError, SendFailed
from loopforge.io.reception import Coming, Reception, Taken, proves
from loopforge.io.telegram import inward
from loopforge.io.telegram.answers import Answer, Answers
from loopforge.io.telegram.crowd import Crowd
from loopforge.io.telegram.place import NAME, Where, where
from loopforge.io.telegram.poll import Poll
from loopforge.io.telegram.sending import Sending
from loopforge.io.telegram.stage import Stage
from loopforge.io.tokens import Account
from loopforge.io.watching import Watch
from loopforge.runtime.ports import Clock, Outgoing
from loopforge.runtime.tasks import Tasks

log = logging.getLogger(__name__)
MOST = 20_000_000
"""Bytes of a file that Telegram lets bots have."""
AGAIN = 4.5
"""Seconds after which Telegram lets a typing sign fade."""
TOGETHER = (
    "; in a group that is no supergroup it hears and speaks for all mates: make it a supergroup, "
    "and each has its own voice"
)

PRIVATELY = "This is for you alone: write to me in private first, then ask again."


class Options(Struct, frozen=True, kw_only=True):
    """How it behaves. `base` is the address of another server of the Bot API ("": Telegram's)."""

    streams: bool = True
    marks: bool = True
    limits: Limits = Limits(5_000_000, 200_000)
    base: str = ""


class Telegram:
    """The surface. `run` until `close`; `send` and `sent` are for the deliveries."""

    name = NAME

    def __init__(
        self,
        accounts: Sequence[Account],
        reception: Reception,
        front: Front,
        artifacts: Artifacts,
        clock: Clock,
        options: Options,
    ) -> None:
        self._reception, self._front, self._artifacts = reception, front, artifacts
        self._clock, self._options, self._tasks = clock, options, Tasks()
        self._polls = [
            Poll(each.token, each.mates, clock, self._hear, options.base) for each in accounts
        ]
        self._order: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._moving = asyncio.Lock()
        self._ears: dict[int, Poll] = {}
        self._crowd = Crowd(self._polls, front.mates)
        sending = Sending(self._polls, reception.sessions, front, artifacts, clock)
        self._sending = sending
        self._answers = Answers(sending, clock)
        stage = Stage(sending, reception.sessions, front)
        self._stage = stage
        self._watch = Watch(
            front, stage, clock, again=AGAIN, streams=options.streams, marks=options.marks
        )

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        """Be on Telegram until this is cancelled."""
        for room in (await self._reception.sessions.all(NAME)).values():
            self._watch.room(room)
        for poll in self._polls:
            self._tasks.spawn(poll.run(), f"telegram {', '.join(poll.mates)}")
        await self._stage.clear()
        await asyncio.Event().wait()

    def attend(self, room: str) -> None:
        """Show from now on what is going on in this room."""
        self._watch.room(room)

    async def close(self) -> None:
        """Be there no longer."""
        await self._watch.close()
        await self._tasks.close()
        await self._answers.close()
        for poll in self._polls:
            await poll.close()

    def states(self) -> dict[str, str]:
        """How it stands with each account, by its mates."""
        return {
            ", ".join(poll.mates): poll.state
            + (TOGETHER if poll.for_all and poll.state == "connected" else "")
            for poll in self._polls
        }

    async def send(self, out: Outgoing) -> str:
        """Send it, each part once; the numbers of its messages. Raises SendFailed."""
        return await self._sending.send(out)

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is there already. Raises SendFailed where nobody can know."""
        return await self._sending.sent(out)

    # ------------------------------------------------------------ updates

    async def _hear(self, poll: Poll, updates: Sequence[telegram.Update]) -> None:
        """Take in what came: places side by side, in each one after the other."""
        lanes: dict[int, list[telegram.Update]] = defaultdict(list)
        for update in updates:
            chat = update.effective_chat
            lanes[chat.id if chat else 0].append(update)
        work = (self._lane(poll, lane) for lane in lanes.values())
        for failed in await asyncio.gather(*work, return_exceptions=True):
            if failed is not None:
                raise failed

    async def _lane(self, poll: Poll, updates: Sequence[telegram.Update]) -> None:
        """Take in what came in one chat. Raises LedgerError: it comes again, none of it lost."""
        for update in updates:
            if update.update_id in poll.done:
                continue
            chat = update.effective_chat
            async with self._order[str(chat.id if chat else 0)]:
                try:
                    await self._update(poll, update)
                except LedgerError:
                    raise
                except Exception as error:
                    at = traceback.extract_tb(error.__traceback__)[-1]
                    said = "telegram: an update was taken in by half: %s in %s, line %s"
                    log.warning(said, type(error).__name__, at.name, at.lineno)
            poll.done.add(update.update_id)

    async def _update(self, poll: Poll, update: telegram.Update) -> None:
        if message := update.message or update.channel_post:
            await self._message(poll, message)
        elif edited := update.edited_message or update.edited_channel_post:
            if await self._ear(poll, edited.chat) is not poll:
                return
            place = inward.spot(edited, poll.number).key
            text = inward.words(edited, self._crowd.names())
            number, by = str(edited.message_id), inward.author(edited).account
            await self._reception.edited(place, number, by, text)
        elif reaction := update.message_reaction:
            await self._reacted(poll, reaction)
        elif change := update.my_chat_member:
            there = change.new_chat_member.status not in ("left", "kicked")
            poll.came(change.chat.id, there=there)
            self._ears.pop(change.chat.id, None)
            private = change.chat.type == ChatType.PRIVATE
            alone = private or await self._crowd.here(poll, change.chat.id) == [poll]
            if not there and alone:
                for place in await self._places_in(change.chat.id, poll.number if private else 0):
                    await self._reception.sessions.part(place, "the bot was sent away")

    async def _message(self, poll: Poll, message: telegram.Message) -> None:
        spot, by = inward.spot(message, poll.number), inward.author(message)
        if by.account not in map(str, self._crowd.ours()):
            self._sending.met(poll, spot.key, message.message_id)
        if message.migrate_to_chat_id or message.migrate_from_chat_id:
            before = message.migrate_from_chat_id or message.chat.id
            after = message.migrate_to_chat_id or message.chat.id
            await self._moved(before, Spot(Where(after).key, spot.name, "group"))
            return
        ear = await self._ear(poll, message.chat)
        if by.account in map(str, self._crowd.ours()):
            return
        order, ground = inward.order(message), inward.ground(message)
        if ground is not None:
            asked = inward.answers(message, self._crowd.ours())
            asked = asked or inward.mentions(message, ear.bot.username)
            closed = await self._reception.serves(ground, by.account, asked=asked)
            if closed is not None:
                if closed and ear is poll:
                    await self._answer(poll, spot, message, closed)
                return
        if order is not None:
            if ear is poll or order.to:
                here = inward.spot(message, ear.number)
                try:
                    await self._command(poll, here, by, order, message)
                except LedgerError:
                    self._crowd.failed(spot.key, message.message_id)
                    raise
            return
        if ear is not poll:
            return
        text, attached = inward.words(message, self._crowd.names()), inward.attachments(message)
        if not text.strip() and not attached:
            return
        if attached and await self._stays_out(poll, spot, by, message):
            return
        keeper = spot.kind == "private" or await poll.keeps(message)
        given = attached and await self._reception.may_give(spot, by.account, keeper=keeper)
        files, refused = await self._files(poll, attached if given else ())
        if not text.strip() and not files:
            if refused and self._crowd.acts(spot.key, message.message_id):
                await self._answer(poll, spot, message, "\n".join(refused))
            return
        coming = Coming(
            spot=spot,
            mates=await self._crowd.mates(poll, where(spot.key)),
            message=str(message.message_id),
            account=by.account,
            name=by.name,
            text=text,
            at=message.date,
            reply_to=inward.reply(message),
            ours=inward.answers(message, self._crowd.ours()),
            called=self._crowd.called(message),
            bot=by.bot,
            keeper=keeper,
            files=tuple(files),
        )
        try:
            taken = await self._reception.take(coming)
        except InputError as error:
            taken = Taken(notice=str(error))
        if taken.room:
            self._watch.room(taken.room)
        notice = "\n".join([*filter(None, [taken.notice]), *refused])
        if notice and self._crowd.acts(spot.key, message.message_id):
            await self._answer(poll, spot, message, notice)

    async def _reacted(self, poll: Poll, change: telegram.MessageReactionUpdated) -> None:
        user = change.user
        if user is None:
            return
        number = str(change.message_id)
        new = {e.emoji for e in change.new_reaction if isinstance(e, telegram.ReactionTypeEmoji)}
        old = {e.emoji for e in change.old_reaction if isinstance(e, telegram.ReactionTypeEmoji)}
        for place in await self._places_in(change.chat.id, poll.number):
            for emoji in sorted(new ^ old):
                await self._reception.reacted(
                    place,
                    number,
                    str(user.id),
                    user.full_name,
                    emoji,
                    back=emoji in old,
                )

    async def _command(
        self,
        poll: Poll,
        spot: Spot,
        by: inward.Author,
        order: inward.Order,
        message: telegram.Message,
    ) -> None:
        if order.to and order.to.casefold() != poll.bot.username.casefold():
            return
        if not self._crowd.acts(inward.spot(message, poll.number).key, message.message_id):
            return
        name = "help" if order.name == "start" else order.name
        proving = proves(spot, name, order.argument)
        if not proving and await self._stays_out(poll, spot, by, message):
            return
        known = {command.name: command for command in COMMANDS}
        if name not in known:
            if order.to or spot.kind == "private":
                await self._answer(poll, spot, message, f"There is no command /{name}. See /help.")
            return
        try:
            mates = await self._crowd.mates(poll, where(spot.key))
            answer = await self._reception.command(
                spot,
                mates,
                by.account,
                by.name,
                name,
                order.argument,
                keeper=spot.kind == "private" or await poll.keeps(message, now=True),
            )
        except InputError as error:
            answer = str(error)
        here = where(spot.key)
        said = Answer(poll=poll, at=here, text=answer, reply=message.message_id)
        if getattr(known[name], "private", False) and spot.kind != "private":
            said = _in_private(said, by.account)
        await self._answers.say(said)

    async def _stays_out(
        self, poll: Poll, spot: Spot, by: inward.Author, message: telegram.Message
    ) -> bool:
        """Whether somebody may not say anything here, which they are told as the door wants it."""
        notice = await self._reception.admit(spot, by.account, by.name, bot=by.bot)
        if notice:
            await self._answer(poll, spot, message, notice)
        return notice is not None

    async def _answer(self, poll: Poll, spot: Spot, message: telegram.Message, text: str) -> None:
        here = where(spot.key)
        await self._answers.say(Answer(poll=poll, at=here, text=text, reply=message.message_id))

    # ------------------------------------------------------------ who and what is there

    async def _places_in(self, chat: int, bot: int) -> list[str]:
        """The places of a chat that are part of rooms, as this bot knows them (0: as any does)."""
        known = await self._reception.sessions.all(NAME)
        mine = [place for place in known if where(place).chat == chat]
        return [place for place in mine if not bot or where(place).bot in (None, bot)]

    async def _moved(self, before: int, there: Spot) -> None:
        """A group became a supergroup, or has another ear, and so another key: the room goes along.

        Of a supergroup both numbers tell, in no certain order; the first that comes does it.
        """
        async with self._moving:
            self._ears.pop(before, None)
            for place in await self._places_in(before, 0):
                room = await self._reception.sessions.known(place)
                if place != there.key and room:
                    state = await self._front.settings_of(room)
                    await self._reception.sessions.join(there, room, tuple(state.mates))
                    await self._front.unsettle(room, place, "the group became another one")

    async def _ear(self, poll: Poll, chat: telegram.Chat) -> Poll:
        """Which bot of ours hears a chat, and speaks there: in a basic group one for all."""
        if chat.type != ChatType.GROUP:
            return poll
        if (ear := self._ears.get(chat.id)) is None:
            here = await self._crowd.here(poll, chat.id)
            known = {where(place).bot for place in await self._places_in(chat.id, 0)}
            ear = self._crowd.ear(here, known)
            await self._moved(chat.id, inward.basic(chat, ear.number))
            self._ears[chat.id] = ear
            if len(here) > 1 and not ear.for_all:
                ear.for_all = True
                log.warning("telegram: %s%s", ", ".join(ear.mates), TOGETHER)
        return ear

    async def _files(
        self, poll: Poll, attached: Sequence[inward.Attachment]
    ) -> tuple[list[File], list[str]]:
        """The files that came along, kept; and what is to be said of those that were not."""
        files, refused = [], []
        limits = self._options.limits
        for each in attached:
            most = min(limits.size, MOST)
            if each.size > most:
                refused.append(
                    f"{each.name} is too large: {each.size:,} bytes of at most {most:,}. "
                    "Give a part of it."
                )
                continue
            try:
                found = await poll.bot.get_file(each.id)
                data = bytes(await found.download_as_bytearray())
                files.append(await receive(self._artifacts, each.name, data, limits))
            except LoopforgeError as error:
                refused.append(str(error))
            except TelegramError:
                refused.append(f"{each.name} could not be fetched from Telegram. Give it again.")
        return files, refused


def _in_private(answer: Answer, account: str) -> Answer:
    """The same for one person alone; where it cannot be sent, it is said why."""
    if not account.isdigit():
        return replace(answer, text=PRIVATELY)

    def instead(refused: SendFailed) -> Answer:
        told = f"The answer could not be sent to you: {refused.why} Ask again later."
        return replace(answer, text=PRIVATELY if refused.gone else told)

    there = Where(int(account), bot=answer.poll.number)
    return replace(answer, at=there, reply=None, otherwise=instead)
