"""What bots say and do in chats: messages, files, edits, reactions, drafts.

A method is named for the Bot API's; it returns its result as JSON or raises Refused in Telegram's
words. What the documents leave open (which error is looked for first, say) is a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.telegram import shapes, text
from tests.telegram.records import Body, Draft
from tests.telegram.things import File, Message, Room
from tests.telegram.turn import Turn, keyboard, plain, said
from tests.telegram.wire import bad

if TYPE_CHECKING:
    from aiogram import methods as m

_EMOJI = (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u200d🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 "
    "😈 😴 😭 🤓 👻 👨\u200d💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u200d♂ 🤷 "
    "🤷\u200d♀ 😡"
)
EMOJI = frozenset(_EMOJI.split())
"""With which a message may be answered; Telegram has no others."""
_ACTIONS = (
    "typing upload_photo record_video upload_video record_voice upload_voice "
    "upload_document choose_sticker find_location record_video_note upload_video_note"
)
ACTIONS = frozenset(_ACTIONS.split())
FETCH = 20 * 2**20
"""Bytes that a bot can download at most."""
QUERY = 900.0
"""Seconds in which a press can be answered. Telegram's documents name none; it is some.

Here are many, so that a slow machine with a fast clock fails no test."""
DELETABLE = 48 * 3600
"""Seconds after which no bot can take a message away."""
STALE = "query is too old and response timeout expired or query ID is invalid"
TOAST = 200
"""Signs of an answer to a press."""
UNCHANGED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


class Speaking(Turn):
    """Calls that say something."""

    def _where(self, room: Room, topic: int | None) -> int | None:
        if topic is None:
            return None
        if topic not in room.topics:
            raise bad("message thread not found")
        if room.topics[topic].closed and not self.is_admin(room):
            raise bad("TOPIC_CLOSED")
        return topic

    def _answered(self, room: Room, call: Any) -> Message | None:
        reply = call.reply_parameters
        if reply is None:
            return None
        if reply.chat_id not in (None, room.id):
            raise bad("chat not found")
        message = room.find(self.bot.id, reply.message_id)
        if message is None and said(reply.allow_sending_without_reply):
            return None
        if message is None:
            raise bad("message to be replied not found")
        return message

    def _send(self, call: Any, words: str, entities: list[Body], **more: Any) -> Body:
        room = self.room(call.chat_id)
        topic = self._where(room, call.message_thread_id)
        if room.direct and not (call.direct_messages_topic_id or call.reply_parameters):
            raise bad("direct messages topic must be specified")
        reply = self._answered(room, call)
        if topic is None and reply is not None:
            topic = reply.topic
        message = self.town.write(
            room,
            self.bot,
            words,
            entities=entities,
            topic=topic,
            reply=reply,
            markup=keyboard(call.reply_markup),
            **more,
        )
        return shapes.message(message, self.bot)

    def send_message(self, call: m.SendMessage) -> Body:
        words, entities = text.read(call.text, said(call.parse_mode), plain(call.entities))
        if not words:
            raise bad("message text is empty")
        if text.units(words) > text.LIMIT:
            raise bad("message is too long")
        return self._send(call, words, entities, preview=_preview(call))

    def send_document(self, call: m.SendDocument) -> Body:
        return self._send_file(call, self.given("document", call.document))

    def _send_file(self, call: Any, file: File) -> Body:
        words, entities = text.read(
            call.caption or "", said(call.parse_mode), plain(call.caption_entities)
        )
        if text.units(words) > text.CAPTION:
            raise bad("message caption is too long")
        return self._send(call, words, entities, file=file)

    def edit_message_text(self, call: m.EditMessageText) -> Body:
        message = self._mine(call)
        if message.file is not None:
            raise bad("there is no text in the message to edit")
        words, entities = text.read(call.text or "", said(call.parse_mode), plain(call.entities))
        if not words:
            raise bad("message text is empty")
        if text.units(words) > text.LIMIT:
            raise bad("MESSAGE_TOO_LONG")
        return self._change(message, words, entities, keyboard(call.reply_markup), _preview(call))

    def _mine(
        self,
        call: m.EditMessageText | m.EditMessageMedia | m.EditMessageReplyMarkup,
    ) -> Message:
        """The message to be edited, if it is this bot's."""
        if call.chat_id is None or call.message_id is None:
            raise bad("message identifier is not specified")
        room = self.room(call.chat_id)
        message = self.message(room, call.message_id, "message to edit not found")
        if message.author is not self.bot or message.service:
            raise bad("message can't be edited")
        return message

    def _change(
        self,
        message: Message,
        words: str,
        entities: list[Body],
        markup: Body | None,
        preview: Body | None,
    ) -> Body:
        new = (words, entities, markup, preview)
        if new == (message.text, message.entities, message.markup, message.preview):
            raise bad(UNCHANGED)
        message.markup, message.preview = markup, preview
        self.town.rewrite(message, words, entities)
        return shapes.message(message, self.bot)

    def edit_message_media(self, call: m.EditMessageMedia) -> Body:
        from aiogram.types import InputMediaDocument

        message = self._mine(call)
        if not isinstance(call.media, InputMediaDocument):
            raise bad("only documents are modelled by the twin")
        caption, style = call.media.caption or "", said(call.media.parse_mode)
        words, entities = text.read(caption, style, plain(call.media.caption_entities))
        if text.units(words) > text.CAPTION:
            raise bad("MEDIA_CAPTION_TOO_LONG")
        message.file = self.given("media", call.media.media)
        for bot in message.room.bots():
            self.town.files[shapes.file_id(message.file, bot)] = message.file
        return self._change(message, words, entities, keyboard(call.reply_markup), None)

    def edit_message_reply_markup(self, call: m.EditMessageReplyMarkup) -> Body:
        message, markup = self._mine(call), keyboard(call.reply_markup)
        if markup == message.markup:
            raise bad(UNCHANGED)
        message.markup = markup
        self.town.touch()
        return shapes.message(message, self.bot)

    def stop_message_live_location(self, call: m.StopMessageLiveLocation) -> Body:
        """End a live location. The twin has none, so that whatever is there is refused."""
        if call.chat_id is None or call.message_id is None:
            raise bad("message identifier is not specified")
        room = self.room(call.chat_id)
        missing = "message with live location to stop not found"
        message = self.message(room, call.message_id, missing)
        if message.author is not self.bot or message.service:
            raise bad("message can't be edited")
        raise bad("there is no live location in the message to edit")

    def answer_callback_query(self, call: m.AnswerCallbackQuery) -> bool:
        query = self.town.queries.get(call.callback_query_id)
        if query is None or query.bot is not self.bot or query.answered:
            raise bad(STALE)
        if self.town.clock.ticks() - query.at > QUERY:
            raise bad(STALE)
        if text.units(call.text or "") > TOAST:
            raise bad("MESSAGE_TOO_LONG")
        if call.url:
            raise bad("URL_INVALID")
        query.answered, query.text = True, call.text or ""
        query.alert = bool(said(call.show_alert))
        self.town.touch()
        return True

    def delete_message(self, call: m.DeleteMessage) -> bool:
        room = self.room(call.chat_id)
        message = self.message(room, call.message_id, "message to delete not found")
        if not (message.author is self.bot or room.kind == "private" or self.is_admin(room)):
            raise bad("message can't be deleted")
        if self.town.now() - message.at > DELETABLE:
            raise bad("message can't be deleted for everyone")
        message.deleted = True
        self.town.touch()
        return True

    def set_message_reaction(self, call: m.SetMessageReaction) -> bool:
        room = self.room(call.chat_id)
        message = self.message(room, call.message_id, "message to react not found")
        emoji = [getattr(one, "emoji", "") for one in call.reaction or ()]
        if len(emoji) > 1:
            raise bad("REACTIONS_TOO_MANY")
        if not EMOJI.issuperset(emoji):
            raise bad("REACTION_INVALID")
        message.reactions[self.bot.id] = emoji
        self.town.touch()
        return True

    def send_chat_action(self, call: m.SendChatAction) -> bool:
        if call.action not in ACTIONS:
            raise bad("wrong parameter action in request")
        room = self.room(call.chat_id)
        if room.kind == "channel":
            raise bad("chat action can't be used in channel chats")
        if not (room.forum and call.message_thread_id == shapes.GENERAL):
            self._where(room, call.message_thread_id)
        return True

    def send_message_draft(self, call: m.SendMessageDraft) -> bool:
        room = self.room(call.chat_id)
        if room.kind != "private":
            raise bad("TEXTDRAFT_PEER_INVALID")
        if not call.draft_id:
            raise bad("draft identifier must be non-zero")
        words, _ = text.read(call.text or "", said(call.parse_mode), plain(call.entities))
        if text.units(words) > text.LIMIT:
            raise bad("message is too long")
        topic = self._where(room, call.message_thread_id) or 0
        self.town.drafts.append(Draft(self.bot.username, room.id, call.draft_id, words, topic))
        self.town.touch()
        return True

    def get_file(self, call: m.GetFile) -> Body:
        file = self.town.files.get(call.file_id)
        if file is None or shapes.file_id(file, self.bot) != call.file_id:
            raise bad("invalid file_id")
        if len(file.data) > FETCH:
            raise bad("file is too big")
        ending = file.name.rpartition(".")[2] if "." in file.name else ""
        usual = ending.isascii() and ending.isalnum()
        path = f"documents/file_{call.file_id[-12:]}.{ending if usual else 'bin'}"
        self.town.paths[path] = (self.bot.id, file.data)
        unique = shapes.unique(file)
        ids = {"file_id": call.file_id, "file_unique_id": unique, "file_size": len(file.data)}
        if self.town.disk is not None:
            kept = self.town.disk / path.replace("/", "_")
            kept.write_bytes(file.data)
            path = str(kept)
        return ids | {"file_path": path}


def _preview(call: m.SendMessage | m.EditMessageText) -> Body | None:
    body = plain(said(call.link_preview_options))
    return body or None
