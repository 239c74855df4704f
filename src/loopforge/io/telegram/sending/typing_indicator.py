"""Live updates: typing signs, drafts and marks as Telegram can show them.

In private chats a draft is Telegram's own (it fades by itself when the message comes). In groups it
is a message that is edited, seldom enough that lines are not held up (api_errors.py); its number is
in the ledger, and the line takes its place.
"""

import asyncio
import contextlib
import logging
import zlib
from collections.abc import Sequence

from telegram.constants import ChatAction
from telegram.error import TelegramError

from loopforge.chat.room.room_store import stream_of
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.delivery_states import IN_DOUBT, Drafted
from loopforge.core.turn_events import Perceived
from loopforge.errors import SendFailed, Unknown
from loopforge.io.platforms.emoji_reactions import Mark
from loopforge.io.platforms.typing_updates import LiveSpeech
from loopforge.io.session import Sessions
from loopforge.io.telegram.connection.api_errors import as_send_failure
from loopforge.io.telegram.connection.chat_keys import NAME, parse_chat_key
from loopforge.io.telegram.sending.draft_messages import GroupDraftKey, draft_as_message
from loopforge.io.telegram.sending.message_delivery import TelegramDelivery
from loopforge.io.telegram.sending.outgoing_message import TelegramMessages
from loopforge.io.telegram.sending.status_emojis import STATUS_EMOJIS
from loopforge.io.telegram.text.markdown import as_entity_text

log = logging.getLogger(__name__)
TYPING_AGAIN = 4.5
"""Seconds after which Telegram lets a typing sign fade."""


class TelegramLiveUpdates:
    """Shows what is in the air of a room."""

    name = NAME

    def __init__(self, sending: TelegramDelivery, sessions: Sessions, front: RoomsApi) -> None:
        self._sending, self._sessions, self._front = sending, sessions, front
        self._left: dict[str, list[tuple[LiveSpeech, int]]] = {}

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is typing, for five seconds."""
        at = parse_chat_key(place)
        bot = self._sending.by(mate, at).bot
        await bot.send_chat_action(at.chat, ChatAction.TYPING, message_thread_id=at.topic)

    async def draft(self, speech: LiveSpeech, text: str) -> float:
        """Show what it is saying so far; seconds to wait, where it is not yet time.

        What is refused for good is drafted no more: the line itself will come.
        """
        at, key = parse_chat_key(speech.place), GroupDraftKey(speech.place, speech.turn)
        flood = self._sending.by(speech.mate, at).flood
        if not at.private and (wait := flood.drafting(at.chat)):
            return wait
        try:
            async with self._sending.locks[speech.place]:
                if not self._sending.drafts[key].over:
                    await self._show(speech, draft_as_message(text))
        except (SendFailed, TelegramError) as error:
            refused = error if isinstance(error, SendFailed) else as_send_failure(error)
            self._sending.drafts[key].over |= refused.final
            return 0.0 if refused.final else refused.after or 1.0
        return 0.0

    async def _show(self, speech: LiveSpeech, text: str) -> None:
        at, key = parse_chat_key(speech.place), GroupDraftKey(speech.place, speech.turn)
        poll = self._sending.by(speech.mate, at)
        shown = as_entity_text(self._sending.head(poll, speech.mate) + text)
        if at.private:
            draft = zlib.crc32(speech.turn.encode()) or 1
            await poll.bot.send_message_draft(at.chat, draft, shown.text, at.topic)
            return
        drafted, outward = self._sending.drafts[key], TelegramMessages(poll)
        if number := drafted.message or await self._known(key):
            drafted.message = number
            await outward.edit(at, number, shown)
            return
        if drafted.over:
            return
        reply = await self._sending.message(speech.place, speech.answers)
        try:
            number = await outward.post(at, shown, reply)
        except (SendFailed, asyncio.CancelledError) as broken:
            if not (isinstance(broken, SendFailed) and (broken.final or broken.unsent)):
                drafted.lose()
                await self._note(speech, IN_DOUBT)
            raise
        drafted.message = number
        await self._note(speech, str(number))

    async def withdraw(self, speech: LiveSpeech) -> None:
        """Take a draft away."""
        key, poll = (
            GroupDraftKey(speech.place, speech.turn),
            self._sending.by(speech.mate, parse_chat_key(speech.place)),
        )
        async with self._sending.locks[speech.place]:
            drafted = self._sending.drafts[key]
            number = drafted.end() or await self._known(key)
            lost = drafted.lost
            if number := number or await self._sending.stray(poll, key):
                await self._away(speech, number)
            elif lost:
                await self._note(speech, "")

    async def _known(self, key: GroupDraftKey) -> int:
        """The message that shows a turn since before this process, and has no line; 0: none.

        Where one may stand, it is lost from now on.
        """
        found = await self._front.channels.drafts(key.place)
        mine = (each.message for each in found if each.turn == key.turn and not each.line)
        if (message := next(mine, "0")) == IN_DOUBT:
            self._sending.drafts[key].lose()
            return 0
        return int(message)

    async def mark(self, place: str, line: str, mate: str, new: Mark, _old: Sequence[Mark]) -> None:
        """Put a mark on the message that a line is, in place of the one that is there.

        A bot has one emoji on a message: where a mate put its own, that stays.
        """
        number = await self._sending.message(place, line)
        if number is None:
            return
        at = parse_chat_key(place)
        async with self._sending.marking[place]:
            if (place, line) not in self._sending.own:
                outward = TelegramMessages(self._sending.by(mate, at))
                await outward.react(at, number, STATUS_EMOJIS[new])

    async def clear(self) -> None:
        """Take away what a home that died left standing of turns that said nothing."""
        for stray in await self._sessions.channels.strays(NAME):
            room, mate = await self._sessions.known(stray.place), ""
            with contextlib.suppress(Unknown):
                turn = (await self._front.line(room, stray.turn)).body
                mate = turn.mate if isinstance(turn, Perceived) else ""
            try:
                await self.withdraw(LiveSpeech(room, stray.place, stray.turn, mate))
            except SendFailed as refused:
                log.info("telegram: a draft is looked for at the next start: %s", refused.why)

    async def _away(self, speech: LiveSpeech, number: int) -> None:
        at = parse_chat_key(speech.place)
        try:
            await TelegramMessages(self._sending.by(speech.mate, at)).delete(at, number)
        except SendFailed as refused:
            if not refused.final:
                raise
            if refused.gone:
                self._left.setdefault(speech.place, []).append((speech, number))
        await self._note(speech, "")

    async def returned(self, place: str) -> None:
        """Something arrived there: what was drafted before the bot was sent away goes now."""
        for speech, number in self._left.pop(place, ()):
            try:
                await self._away(speech, number)
            except SendFailed as refused:
                log.info("telegram: a draft stays: %s", refused.why)

    async def _note(self, speech: LiveSpeech, number: str) -> None:
        if speech.room:
            body = Drafted(turn=speech.turn, surface=speech.place, message_id=number)
            await self._front.note(stream_of(speech.room), body)
