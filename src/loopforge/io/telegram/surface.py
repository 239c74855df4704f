"""Telegram: the mates of this home in private chats, groups and topics.

    updates  --BotPolling--> incoming_message --> incoming_lines --> the room
    the room --> deliveries --> send --> outward --> messages, each part once
    the room's air --> watching --> typing signs, drafts, marks

A mate has a bot of its own, or one bot is there for many, whose names then stand before their
lines (Telegram knows no other way). Does not know pages, other platforms, or what a mate is.
"""

import asyncio
import logging
import traceback
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from msgspec.structs import replace
from telegram.constants import ChatType

import telegram
from loopforge.chat.commands.command_catalogue import BY_NAME
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.chat.room.platform_cursors import UNKNOWN
from loopforge.core.edited_lines import caption_lengths, join_captions
from loopforge.errors import (
    InputError,
    LedgerError,
    NotLetIn,
    SendFailed,
    TooEarly,
)
from loopforge.io.platforms.emoji_reactions import says_something
from loopforge.io.platforms.incoming_lines import (
    IncomingMessage,
    is_link_command,
    note_refused_files,
)
from loopforge.io.platforms.line_buttons import Presser, denial_reason
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.io.platforms.typing_updates import RoomWatch
from loopforge.io.telegram.bot_accounts import BotAccounts
from loopforge.io.telegram.button_presses import ButtonPresses
from loopforge.io.telegram.connection.chat_keys import NAME, ChatKey, parse_chat_key
from loopforge.io.telegram.connection.polling import BotPolling, is_inside
from loopforge.io.telegram.file_download import FileDownload
from loopforge.io.telegram.sending.command_replies import (
    CommandReplies,
    ReplyAnswer,
    start_greeting,
)
from loopforge.io.telegram.sending.message_delivery import TelegramDelivery
from loopforge.io.telegram.sending.typing_indicator import TYPING_AGAIN, TelegramLiveUpdates
from loopforge.io.telegram.text import incoming_message
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Outgoing

log = logging.getLogger(__name__)
TOGETHER = (
    "; in a channel, or a group that is no supergroup, it hears and speaks for all mates: make the "
    "group a supergroup, and each has its own voice"
)
START = "start"
"""The command that Telegram gives for whoever presses *Start*, or brings a bot by its link."""
PRIVATELY = "This is for you alone: write to me in private first, then ask again."


class _Arrival(NamedTuple):
    """A message as a bot of ours was told of it: where, and by whom."""

    poll: BotPolling
    message: telegram.Message
    spot: ChannelSpot
    by: incoming_message.Author


def _arrival_of(poll: BotPolling, message: telegram.Message) -> _Arrival:
    spot = incoming_message.spot(message, poll.number)
    return _Arrival(poll, message, spot, incoming_message.author(message))


class Telegram:
    """The surface. `run` until `close`; `send` and `sent` are for the deliveries.

    `base` is the address of another server of the Bot API ("": Telegram's).
    """

    name = NAME

    def __init__(self, parts: SurfaceParts, base: str = "") -> None:
        logging.getLogger("telegram").setLevel(logging.WARNING)  # it would log every request
        self._reception, self._front = parts.reception, parts.front
        self._taken = parts.front.rooms.taken
        self._tasks, clock, manners = BackgroundTasks(), parts.clock, parts.manners
        self._polls = [
            BotPolling(each, clock, self._take_in, parts.reception.time, base)
            for each in parts.accounts
        ]
        self._order: dict[tuple[int, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._moving = asyncio.Lock()
        self._ears: dict[int, BotPolling] = {}
        self._grown: dict[int, BotPolling] = {}
        """The last ears of groups that became supergroups, of which others of us may hear later."""
        self._fetch = FileDownload(parts.artifacts, manners.limits, own=bool(base))
        self._crowd = BotAccounts(self._polls, parts.front.rooms.mates)
        sessions = parts.reception.sessions
        sending = TelegramDelivery(
            self._polls, sessions, parts.front, parts.artifacts, clock, own=bool(base)
        )
        self._sending = sending
        self._answers = CommandReplies(sending, clock)
        buttons, say = parts.reception.buttons, self._answers.say
        self._presses = ButtonPresses(buttons, self._places_in, self._taken, say)
        self._stage = stage = TelegramLiveUpdates(sending, sessions, parts.front)
        streams, marks = manners.streams, manners.marks
        self._watch = RoomWatch(
            parts.front, stage, clock, again=TYPING_AGAIN, streams=streams, marks=marks
        )
        self.sent, self.attend = sending.sent, self._watch.room

    # ------------------------------------------------------------ running

    async def run(self) -> None:
        """Be on Telegram until this is cancelled."""
        for room in (await self._reception.sessions.channels.all(NAME)).values():
            self._watch.room(room)
        for poll in self._polls:
            self._tasks.spawn(poll.run(), f"telegram {', '.join(poll.mates)}")
        await self._stage.clear()
        await asyncio.Event().wait()

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

    # ------------------------------------------------------------ deliveries

    async def send(self, out: Outgoing) -> str:
        """Send what is missing. Raises SendFailed; a group's new number is taken from a refusal."""
        try:
            sent = await self._sending.send(out)
        except SendFailed as refused:
            room = await self._reception.sessions.known(out.place) if refused.moved else ""
            places = (await self._front.rooms.state(room)).places if room else {}
            if spot := places.get(out.place):  # else somebody else has moved it by now
                there = ChannelSpot(refused.moved, str(spot.name), "group")
                await self._move_room_along(parse_chat_key(out.place).chat, there)
            raise
        await self._stage.returned(out.place)
        return sent

    # ------------------------------------------------------------ updates

    async def _take_in(self, poll: BotPolling, whole: Sequence[telegram.Update]) -> None:
        """Take in one update, or the album that several are, in a group no two at once.

        Raises LedgerError: it comes again. Presses of buttons wait for nothing.
        """
        update, chat = whole[0], whole[0].effective_chat
        private = chat is not None and chat.type == ChatType.PRIVATE
        key = (chat.id if chat else 0, poll.number if private else 0)
        async with nullcontext() if update.callback_query else self._order[key]:
            try:
                await self._take_update(
                    poll, update, [each.effective_message for each in whole[1:]]
                )
            except LedgerError:
                raise
            except Exception as error:
                at = traceback.extract_tb(error.__traceback__)[-1]
                said = "telegram: an update was taken in by half: %s in %s, line %s"
                log.warning(said, type(error).__name__, at.name, at.lineno)

    async def _take_update(
        self, poll: BotPolling, update: telegram.Update, rest: Sequence[telegram.Message | None]
    ) -> None:
        if update.effective_chat and update.effective_chat.is_direct_messages:
            return  # many people's private talks with a channel, in one chat
        if message := update.message or update.channel_post:
            await self._take_message(poll, message, list(filter(None, rest)))
        elif edited := update.edited_message or update.edited_channel_post:
            await self._take_edit(poll, edited)
        elif reaction := update.message_reaction:
            await self._take_reaction(poll, reaction)
        elif query := update.callback_query:
            await self._presses.pressed(poll, query)
        elif change := update.my_chat_member:
            await self._came_or_went(poll, change)

    async def _take_edit(self, poll: BotPolling, edited: telegram.Message) -> None:
        moves = edited.location is not None  # who shares where they are is heard once
        if moves or await self._hearing_bot(poll, edited.chat) is not poll:
            return
        one = _arrival_of(poll, edited)
        if await self._first_called(one):
            await self._take_message(poll, edited)
            return
        text = incoming_message.words(edited, self._crowd.names(edited))
        await self._reception.edited(one.spot.key, str(edited.message_id), one.by.account, text)
        await self._spend_exposed_code(one)

    async def _first_called(self, one: _Arrival) -> bool:
        """Whether an edit mentions a bot of ours that was told of nothing before."""
        if not self._crowd.mentioned(one.message) or incoming_message.order(one.message):
            return False
        return not await self._reception.heard(one.spot.key, one.message.message_id)

    async def _came_or_went(self, poll: BotPolling, change: telegram.ChatMemberUpdated) -> None:
        """A bot was let into a chat, or sent away: of no bot of ours, the place is in no room."""
        there = is_inside(change.new_chat_member)
        poll.groups.came(change.chat.id, there=there)
        self._ears.pop(change.chat.id, None)
        private = change.chat.type == ChatType.PRIVATE
        alone = private or await self._crowd.here(poll, change.chat.id) == [poll]
        if not there and alone:
            for place in await self._places_in(change.chat.id, poll.number if private else 0):
                await self._reception.sessions.part(place, "the bot was sent away", lost=True)

    async def _take_message(
        self, poll: BotPolling, message: telegram.Message, rest: Sequence[telegram.Message] = ()
    ) -> None:
        """Take in a message, with the `rest` of its album."""
        if message.chat.type == ChatType.CHANNEL and await self._is_for_another_bot(poll, message):
            return
        one = _arrival_of(poll, message)
        ours = one.by.account in map(str, self._crowd.ours())
        if not ours:
            self._sending.met(poll, one.spot.key, message.message_id)
        if message.migrate_to_chat_id or message.migrate_from_chat_id:
            before = message.migrate_from_chat_id or message.chat.id
            after = message.migrate_to_chat_id or message.chat.id
            await self._move_room_along(
                before, ChannelSpot(ChatKey(after).key, one.spot.name, "group")
            )
            return
        if message.new_chat_title or message.forum_topic_edited:
            await self._rename_places(one)
            return
        ear = await self._hearing_bot(poll, message.chat)
        if ours or await self._answers_no(one):
            return
        asked = incoming_message.answers(message, self._crowd.ours())
        asked = asked or (
            ear.known and incoming_message.is_bot_mentioned(message, ear.bot.username)
        )
        if await self._is_unserved(one, ear, asked=asked):
            return
        if not one.by.bot and (order := incoming_message.order(message)):
            await self._do_own_command(one, ear, order)
        elif ear is poll and not await self._reception.heard(one.spot.key, message.message_id):
            waits = asked or self._crowd.mentioned(message)
            await self._hear_line(
                one, rest, waits=waits or incoming_message.ground(message) is None
            )

    async def _is_unserved(self, one: _Arrival, ear: BotPolling, *, asked: bool) -> bool:
        """Whether mates do not talk in this group, as whoever `asked` them there is told."""
        ground = incoming_message.ground(one.message)
        if ground is None:
            return False
        closed = await self._reception.serves(ground, one.by.account, asked=asked)
        if closed is None:
            return False
        await self._spend_exposed_code(one)
        if closed and ear is one.poll:
            await self._answer_there(one, closed)
        return True

    async def _hear_line(
        self, one: _Arrival, rest: Sequence[telegram.Message], *, waits: bool
    ) -> None:
        """Let a line be heard; whoever `waits` for an answer is told which files were refused."""
        poll, message, spot, by = one
        album = [message, *rest]
        told = incoming_message.told(album, self._crowd.names)
        attached = [file for each in album for file in incoming_message.attachments(each)]
        if not attached and not join_captions(told).strip():
            return
        if attached and await self._stays_out(one):
            return
        keeper = await self._may_manage(one)
        given = attached and await self._reception.may_give(spot, by.account, keeper=keeper)
        files, refused = await self._fetch(poll, attached if given else ())
        notices = refused if waits else []  # else the line alone says that something is missing
        if join_captions(told).strip() or files:
            told[-1] = note_refused_files(told[-1], refused).strip()
            coming = IncomingMessage(
                spot=spot,
                mates=await self._crowd.mates(poll, parse_chat_key(spot.key)),
                message=str(message.message_id),
                account=by.account,
                name=by.name,
                text=join_captions(told),
                at=message.date,
                reply_to=incoming_message.reply(message),
                ours=incoming_message.answers(message, self._crowd.ours()),
                called=self._crowd.called(message),
                bot=by.bot,
                keeper=keeper,
                files=tuple(files),
                pieces=tuple(str(each.message_id) for each in rest),
                captions=caption_lengths(told) if rest else (),
            )
            notices = [*filter(None, await self._let_be_heard(one, coming)), *notices]
        if notices:
            await self._answer_once(one, "\n".join(notices))

    async def _may_manage(self, one: _Arrival, *, now: bool = False) -> bool:
        """Whether who says this may manage the place; see `GroupAdmins.keeps`."""
        return one.spot.kind == "private" or await one.poll.groups.keeps(one.message, now=now)

    async def _spend_exposed_code(self, one: _Arrival) -> None:
        """Spend a code for linking that others can read in it, and say so."""
        text = incoming_message.words(one.message, self._crowd.names(one.message))
        if told := await self._reception.exposed(one.spot, text):
            await self._answer_there(one, told)

    async def _let_be_heard(self, one: _Arrival, coming: IncomingMessage) -> list[str]:
        """Let a message be heard; what is to be said of that."""
        try:
            taken = await self._reception.take(coming)
        except InputError as error:
            return [str(error)]
        if taken.room:
            self._watch.room(taken.room)
        if taken.private:
            said = self._reply(one, taken.private)
            await self._answers.say(_in_private(said, one.by.account, taken.private))
        return [taken.notice, taken.warning]

    async def _take_reaction(
        self, poll: BotPolling, change: telegram.MessageReactionUpdated
    ) -> None:
        who = change.user or change.actor_chat  # who manages a group may speak as the group
        if who is None:
            return
        number = str(change.message_id)
        new = {e.emoji for e in change.new_reaction if isinstance(e, telegram.ReactionTypeEmoji)}
        old = {e.emoji for e in change.old_reaction if isinstance(e, telegram.ReactionTypeEmoji)}
        keeper = change.chat.type == ChatType.PRIVATE or who.id == change.chat.id
        if any(map(says_something, new - old)) and change.user:
            keeper = keeper or await poll.groups.keeper(change.chat.id, who.id, now=True)
        bot = change.user is not None and change.user.is_bot
        name = incoming_message.called(who)
        by = Presser(account=str(who.id), name=name, keeper=keeper, bot=bot)
        for place in await self._places_in(change.chat.id, poll.number):
            for emoji in sorted(new ^ old):
                await self._reception.reacted(place, number, by, emoji, back=emoji in old)

    async def _answers_no(self, one: _Arrival) -> bool:
        """Whether a message answers a question with a no, which it then is."""
        reason = denial_reason(one.message.text or "")
        if reason is None or not incoming_message.answers(one.message, self._crowd.ours()):
            return False
        keeper = await self._may_manage(one, now=True)
        who = Presser(account=one.by.account, name=one.by.name, keeper=keeper, bot=one.by.bot)
        to = incoming_message.reply(one.message)
        told = await self._reception.buttons.questions.denied([one.spot.key], to, who, reason)
        if told is not None:
            await self._answer_once(one, told)
        return told is not None

    async def _do_own_command(
        self, one: _Arrival, ear: BotPolling, order: incoming_message.BotCommand
    ) -> None:
        """Do a command that is this bot's to do, unless another one of ours did."""
        poll, message = one.poll, one.message
        named = order.to.casefold()
        mine = named == poll.bot.username.casefold() if named else ear is poll
        if not mine or not self._crowd.acts(one.spot.key, message.message_id):
            return
        here = incoming_message.spot(message, ear.number)
        try:
            await self._run_command(one._replace(spot=here), order)
        except LedgerError:
            self._crowd.failed(one.spot.key, message.message_id)
            raise

    async def _run_command(self, one: _Arrival, order: incoming_message.BotCommand) -> None:
        poll, message, spot, by = one
        name = order.name
        proving = is_link_command(spot, name, order.argument)
        if not proving and await self._stays_out(one):
            return
        if name == START:
            await self._answer_there(one, await self._greeting_for(one))
            return
        if name not in BY_NAME:
            if order.to or spot.kind == "private":
                await self._answer_there(one, f"There is no command /{name}. See /help.")
            return
        nonce, taken = f"{spot.key}/{message.message_id}", self._taken
        once = not proving and BY_NAME[name].changes(order.argument)
        if once and (before := await taken.begin(NAME, nonce)):
            if before == "begun":
                await self._answer_there(one, UNKNOWN)
                await taken.over(NAME, nonce)
            return
        try:
            answer = await self._reception.command(
                spot,
                await self._crowd.mates(poll, parse_chat_key(spot.key)),
                by.account,
                by.name,
                name,
                order.argument,
                keeper=await self._may_manage(one, now=True),
                reply_to=incoming_message.reply(message),
                at=message.date,
            )
        except NotLetIn as wrong:
            if (isinstance(wrong, TooEarly) and wrong.told) or not poll.flood.answers_wrong():
                return
            answer = str(wrong)
        except InputError as error:
            answer = str(error)
        except LedgerError:
            taken.failed(NAME, nonce)
            raise
        alone = BY_NAME[name].private and spot.kind != "private"
        await self._answer_there(one, answer, alone=alone)
        if once:
            await taken.over(NAME, nonce)

    async def _greeting_for(self, one: _Arrival) -> str:
        """What is said to whoever begins to talk with a bot, or brings it into a group."""
        poll, mates, chat = one.poll, self._front.rooms.mates, one.message.chat.id
        names = [mates[each].name for each in self._crowd.mates_of(poll) if each in mates]
        private = one.spot.kind == "private"
        hears_all = private or await poll.hears_all(chat)
        return start_greeting(names, poll.bot.username, private=private, hears_all=hears_all)

    async def _stays_out(self, one: _Arrival) -> bool:
        """Whether somebody may not say anything here, which they are told as the door wants it."""
        by = one.by
        notice = await self._reception.admit(one.spot, by.account, by.name, bot=by.bot)
        if notice:
            await self._answer_there(one, notice)
        return notice is not None

    async def _answer_once(self, one: _Arrival, text: str) -> None:
        """Answer, unless another bot of ours did something about this message before."""
        if self._crowd.acts(one.spot.key, one.message.message_id):
            await self._answer_there(one, text)

    async def _answer_there(self, one: _Arrival, text: str, *, alone: bool = False) -> None:
        """Answer where it was said, or whoever said it `alone`."""
        said = self._reply(one, text)
        await self._answers.say(_in_private(said, one.by.account) if alone else said)

    def _reply(self, one: _Arrival, text: str) -> ReplyAnswer:
        at, reply = parse_chat_key(one.spot.key), one.message.message_id
        return ReplyAnswer(poll=one.poll, at=at, text=text, reply=reply)

    # ------------------------------------------------------------ who and what is there

    async def _places_in(self, chat: int, bot: int) -> list[str]:
        """The places of a chat that are part of rooms, as this bot knows them (0: as any does)."""
        known = await self._reception.sessions.channels.all(NAME)
        mine = [place for place in known if parse_chat_key(place).chat == chat]
        return [place for place in mine if not bot or parse_chat_key(place).bot in (None, bot)]

    async def _move_room_along(self, before: int, there: ChannelSpot) -> None:
        """A group became a supergroup, or has another ear, and so another key: the room goes along.

        Of a supergroup both numbers tell, in no certain order; the first that comes does it.
        """
        async with self._moving:
            self._ears.pop(before, None)
            for place in await self._places_in(before, 0):
                if parse_chat_key(there.key).bot is None:
                    ears = [
                        each for each in self._polls if each.number == parse_chat_key(place).bot
                    ]
                    self._grown |= {before: ears[0]} if ears else {}
                room = await self._reception.sessions.known(place)
                if place != there.key and room:
                    state = await self._front.rooms.state(room)
                    mates = tuple(state.mates)
                    await self._reception.sessions.join(there, room, mates, instead=place)

    async def _rename_places(self, one: _Arrival) -> None:
        """A group or one of its topics bears another name; a topic's ends in that of its group."""
        sessions, chat = self._reception.sessions, one.message.chat.id
        await sessions.renamed(one.spot)
        for key in await self._places_in(chat, 0) if one.message.new_chat_title else ():
            if parse_chat_key(key).topic:
                known = (await self._front.rooms.state(await sessions.known(key))).places[key]
                name = f"{str(known.name).rpartition(' in ')[0]} in {one.message.new_chat_title}"
                await sessions.renamed(ChannelSpot(key, name, "thread"))

    async def _is_for_another_bot(self, poll: BotPolling, post: telegram.Message) -> bool:
        """Whether a channel's post is another bot's to hear, or was heard or said by one before."""
        if await self._hearing_bot(poll, post.chat) is not poll:
            return True
        line, number = self._reception.sessions.channels.line, str(post.message_id)
        keys = [incoming_message.eared(post.chat, each.number).key for each in self._polls]
        return any([await line(key, number) for key in keys])

    async def _hearing_bot(self, poll: BotPolling, chat: telegram.Chat) -> BotPolling:
        """Which bot of ours hears a chat, and speaks there: in some kinds one for all."""
        if chat.type not in incoming_message.EARED:
            return poll
        if chat.id in self._grown:
            return self._grown[chat.id]
        ear, sessions = self._ears.get(chat.id), self._reception.sessions
        if ear is None or not await sessions.known(incoming_message.eared(chat, ear.number).key):
            known = {parse_chat_key(place).bot for place in await self._places_in(chat.id, 0)}
            here = await self._crowd.here(poll, chat.id, known)
            ear = self._crowd.ear(here, known)
            await self._move_room_along(chat.id, incoming_message.eared(chat, ear.number))
            self._ears[chat.id] = ear
            if len(here) > 1 and not ear.for_all:
                ear.for_all = True
                log.warning("telegram: %s%s", ", ".join(ear.mates), TOGETHER)
        return ear


def _in_private(answer: ReplyAnswer, account: str, openly: str = "") -> ReplyAnswer:
    """The same for one person alone; where it cannot be sent, `openly` this, else why."""
    if not account.isdigit():
        return replace(answer, text=openly or PRIVATELY)

    def instead(refused: SendFailed) -> ReplyAnswer:
        told = f"The answer could not be sent to you: {refused.why} Ask again later."
        return replace(answer, text=openly or (PRIVATELY if refused.gone else told))

    there = ChatKey(int(account), bot=answer.poll.number)
    return replace(answer, at=there, reply=None, otherwise=instead)
