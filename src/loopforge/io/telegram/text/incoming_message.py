"""Incoming: what an update of Telegram says, in the words of incoming_lines.py.

Knows Telegram's messages; does not know rooms, and fetches nothing.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from telegram.constants import ChatType, MessageEntityType

import telegram
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.io.platforms.place_allowlist import ServedPlace
from loopforge.io.telegram.connection.chat_keys import NAME, ChatKey, parse_chat_key
from loopforge.io.telegram.text.markdown import as_readable_markdown
from loopforge.io.text.forwarded_lines import HEAD, PART, QUOTED, quote_forwarded


class Author(NamedTuple):
    """Who said it: their number, their name, whether it is somebody else's bot."""

    account: str
    name: str
    bot: bool


class Attachment(NamedTuple):
    """A file that came with a message: Telegram's id of it, its name, its bytes as announced.

    A `spoken` one is a film that somebody speaks in, which is heard like a voice message.
    """

    id: str
    name: str
    size: int
    spoken: bool = False


class BotCommand(NamedTuple):
    """A command: /why@maya_bot the last one."""

    name: str
    to: str
    argument: str


Names = Callable[[telegram.Message], Mapping[str, str]]
"""Our bots in the place of a message: their mates' names, by username."""
EARED = (ChatType.GROUP, ChatType.CHANNEL)
"""Kinds of chat in which one of our bots hears and speaks for all.

In a basic group the others are told other numbers; in a channel they are told what one of us says,
as the channel's own words.
"""


def spot(message: telegram.Message, bot: int) -> ChannelSpot:
    """The place of a message, as this bot sees it."""
    return eared(message.chat, bot) if message.chat.type in EARED else place(message, bot)


def eared(chat: telegram.Chat, bot: int) -> ChannelSpot:
    """A basic group or a channel, as this bot hears it."""
    return ChannelSpot(ChatKey(chat.id, bot=bot).key, chat.title or "a group", "group")


def place(message: telegram.Message, bot: int) -> ChannelSpot:
    """The place of a message that every bot hears; what a topic was called at first may be old."""
    chat, topic = message.chat, message.message_thread_id if message.is_topic_message else None
    if chat.type == ChatType.PRIVATE:
        key = ChatKey(chat.id, topic, bot).key
        return ChannelSpot(key, chat.full_name or "somebody", "private")
    title = chat.title or "a group"
    if topic:
        made = message.reply_to_message.forum_topic_created if message.reply_to_message else None
        edited = message.forum_topic_edited
        new = (edited.name if edited else None) or ""
        name = f"{new or (made.name if made else 'a topic')} in {title}"
        key = ChatKey(chat.id, topic).key
        return ChannelSpot(key, name, "thread", current=bool(new))
    return ChannelSpot(ChatKey(chat.id).key, title, "group")


def author(message: telegram.Message) -> Author:
    """Who said a message; a channel or an anonymous keeper speaks under the chat's own name."""
    chat = message.sender_chat
    if chat is not None:
        return Author(str(chat.id), called(chat) or "somebody", False)
    user = message.from_user
    if user is None:
        return Author(str(message.chat.id), message.chat.title or "somebody", False)
    return Author(str(user.id), called(user), user.is_bot)


def called(who: telegram.User | telegram.Chat) -> str:
    """What somebody is called; "" for an account that was deleted since, which has no name."""
    return (who.title if isinstance(who, telegram.Chat) else "") or who.full_name or ""


def ground(message: telegram.Message) -> ServedPlace | None:
    """The group of a message; None in private."""
    chat = message.chat
    if chat.type == ChatType.PRIVATE:
        return None
    return ServedPlace(NAME, (str(chat.id),), lambda place: parse_chat_key(place).chat == chat.id)


def words(message: telegram.Message, names: Mapping[str, str]) -> str:
    """The text of a message, with our bots called by their mates' names (`names`, by username)."""
    text = message.text or message.caption or ""
    found = as_readable_markdown(text, message.entities or message.caption_entities) or _shown(
        message
    )
    for username, name in names.items():
        found = re.sub(rf"@{re.escape(username)}\b", f"@{name}", found, flags=re.IGNORECASE)
    if message.forward_origin:  # also above a voice note, which is somebody else's then
        found = quote_forwarded(found) or (HEAD if attachments(message) else "")
    if message.quote and (message.external_reply or message.quote.is_manual):
        head = QUOTED if message.external_reply else PART  # of what is in no place of ours
        found = f"{quote_forwarded(message.quote.text, head)}\n{found}".strip()
    return found


def told(album: Sequence[telegram.Message], names: Names) -> list[str]:
    """What each message of an album says; that they are forwarded is said once where no more is."""
    said = [words(each, names(each)) for each in album]
    return ["" if nth and each == HEAD else each for nth, each in enumerate(said)]


def _shown(message: telegram.Message) -> str:
    """What a message without words shows: a poll, a list, a place, somebody's number, a throw."""
    if message.poll:
        options = ", ".join(each.text for each in message.poll.options)
        return f"[asks: {message.poll.question} ({options})]"
    if message.checklist:
        tasks = ", ".join(each.text for each in message.checklist.tasks)
        return f"[to do: {message.checklist.title} ({tasks})]"
    if message.venue:
        return f"[a place: {message.venue.title}, {message.venue.address}]"
    if message.location:
        return f"[a place: {message.location.latitude}, {message.location.longitude}]"
    if message.contact:
        names = (message.contact.first_name, message.contact.last_name)
        return f"[a contact: {' '.join(filter(None, names))}, {message.contact.phone_number}]"
    if message.dice:
        return f"[{message.dice.emoji} {message.dice.value}]"
    return _brought(message)


def _brought(message: telegram.Message) -> str:
    """The same for what comes as a file, of which that says too little, or as none."""
    if message.sticker:
        return f"[a sticker: {message.sticker.emoji}]" if message.sticker.emoji else "[a sticker]"
    if message.video_note:
        return "[a video note]"
    if message.game:
        return f"[a game: {message.game.title}]"
    if message.story:
        return f"[a story of {called(message.story.chat) or 'somebody'}]"
    if message.paid_media:
        return f"[paid media, for {message.paid_media.star_count} stars]"
    return ""


def reply(message: telegram.Message) -> str:
    """The number of the message it answers; "" if of none (a topic's first is no answer)."""
    to = message.reply_to_message
    if to is None or to.forum_topic_created is not None:
        return ""
    return str(to.message_id)


def answers(message: telegram.Message, bots: Collection[int]) -> bool:
    """Whether it answers a message of one of these bots."""
    to = message.reply_to_message
    return to is not None and to.from_user is not None and to.from_user.id in bots


def is_bot_mentioned(message: telegram.Message, username: str) -> bool:
    """Whether a bot is mentioned by its name; what is forwarded mentions nobody."""
    text = "" if message.forward_origin else message.text or message.caption or ""
    return re.search(rf"@{re.escape(username)}\b", text, re.IGNORECASE) is not None


def order(message: telegram.Message) -> BotCommand | None:
    """The command that a message is, if it begins with one; what is forwarded commands nothing."""
    text = message.text or ""
    for entity in [] if message.forward_origin else message.entities:
        if entity.type == MessageEntityType.BOT_COMMAND and entity.offset == 0:
            said = message.parse_entity(entity)
            name, _, to = said.removeprefix("/").partition("@")
            return BotCommand(name.lower(), to, text[len(said) :].strip())
    return None


def attachments(message: telegram.Message) -> list[Attachment]:
    """The files that came with a message; of a photo the largest size."""
    found: list[Attachment] = []
    if message.photo:
        photo = message.photo[-1]
        found.append(Attachment(photo.file_id, "photo.jpg", photo.file_size or 0))
    sticker = message.sticker
    if sticker and (sticker.is_animated or sticker.is_video):
        sticker = None  # nobody here sees what moves
    kinds = (
        (message.document, "file"),
        (message.audio, "audio.mp3"),
        (message.voice, "voice.ogg"),
        (message.video, "video.mp4"),
        (message.video_note, "video note.mp4"),
        (None if message.document else message.animation, "animation.mp4"),
        (sticker, "sticker.webp"),
    )
    for each, name in kinds:
        if each is not None:
            given = getattr(each, "file_name", None) or name
            spoken = each is message.video_note
            found.append(Attachment(each.file_id, given, each.file_size or 0, spoken))
    return found
