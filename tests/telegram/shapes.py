"""Telegram's JSON of what is in the town, as one bot is shown it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.telegram.records import Body

if TYPE_CHECKING:
    from tests.telegram.things import Account, File, Message, Room

ANONYMOUS = {
    "id": 1087968824,
    "is_bot": True,
    "first_name": "Group",
    "username": "GroupAnonymousBot",
}
CHANNEL = {"id": 136817688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"}
SERVICE = {"id": 777000, "is_bot": False, "first_name": "Telegram"}
"""Accounts that stand for whoever speaks as the group, as a channel, and for a channel's posts."""
GENERAL = 1
"""The topic of a forum in which everything stands that was said in no other; it has no id."""
MAY = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_react_to_messages",
    "can_edit_tag",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
)
RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_send_welcome_messages",
    "can_pin_messages",
    "can_manage_topics",
)


def user(account: Account) -> Body:
    """A User."""
    body = {"id": account.id, "is_bot": account.is_bot, "first_name": account.name}
    if account.username:
        body["username"] = account.username
    return body if account.is_bot else body | {"language_code": "en"}


def me(account: Account) -> Body:
    """The User of getMe."""
    return user(account) | {
        "can_join_groups": True,
        "can_read_all_group_messages": account.reads_all,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": False,
    }


def chat(room: Room) -> Body:
    """A Chat."""
    if room.kind == "private":
        person = next(m.account for m in room.members.values() if not m.account.is_bot)
        body = {"id": room.id, "type": "private", "first_name": person.name}
        return body | ({"username": person.username} if person.username else {})
    body = {"id": room.id, "type": room.kind, "title": room.title}
    body |= {"is_direct_messages": True} if room.direct else {}
    return body | ({"is_forum": True} if room.forum else {})


def member(account: Account, status: str) -> Body:
    """A ChatMember."""
    body = {"user": user(account), "status": status}
    match status:
        case "creator":
            return body | {"is_anonymous": False}
        case "administrator":
            rights = dict.fromkeys(RIGHTS, True)
            return body | rights | {"can_be_edited": False, "is_anonymous": False}
        case "kicked":
            return body | {"until_date": 0}
        case "restricted":
            return body | dict.fromkeys(MAY, False) | {"is_member": False, "until_date": 0}
    return body


def reactions(emoji: Iterable[str]) -> list[Body]:
    """A list of ReactionType."""
    return [{"type": "emoji", "emoji": one} for one in emoji]


def spans(message: Message) -> Iterable[tuple[str, str]]:
    """The kinds of a message's entities, each with its text."""
    data = message.text.encode("utf-16-le")
    for entity in message.entities:
        start = entity["offset"] * 2
        word = data[start : start + entity["length"] * 2].decode("utf-16-le", "replace")
        yield entity["type"], word


def message(it: Message, bot: Account, *, depth: int = 1) -> Body:
    """A Message as this bot is shown it; the one that it answers is shown without its own."""
    body: Body = {
        "message_id": it.number(bot.id) or 0,
        "chat": chat(it.room),
        "date": it.at,
    }
    body |= _who(it)
    if it.room.direct:
        body["direct_messages_topic"] = {"topic_id": it.author.id, "user": user(it.author)}
    body |= _where(it, bot, depth)
    if it.service:
        name, value = it.service
        return body | {name: value}
    if it.edited:
        body["edit_date"] = it.edited
    if it.markup and "inline_keyboard" in it.markup:
        body["reply_markup"] = it.markup
    if it.album:
        body["media_group_id"] = it.album
    if it.file is not None:
        body |= _papers(it.file, file_id(it.file, bot))
    text, entities = ("caption", "caption_entities") if it.file else ("text", "entities")
    if it.origin:
        origin = {"type": "user", "date": it.at, "sender_user": user(it.origin)}
        body["forward_origin"] = origin
    if it.post:
        ids = {"chat": chat(it.post.room), "message_id": it.post.number(0) or 0}
        body["forward_origin"] = {"type": "channel", "date": it.at, **ids}
    if it.quote:
        at = it.reply.text.index(it.quote) if it.reply else 0
        body["quote"] = {"text": it.quote, "position": at, "is_manual": True}
    if it.content:
        return body | it.content
    if it.location:
        latitude, longitude = it.location
        place = {"latitude": latitude, "longitude": longitude, "live_period": 900}
        return body | {"location": place}
    if it.poll:
        return body | {"poll": _poll(it.key, *it.poll)}
    if it.text or not it.file:
        body[text] = it.text
    if it.entities:
        body[entities] = it.entities
    if it.preview:
        body["link_preview_options"] = it.preview
    return body


def _who(it: Message) -> Body:
    """Who said it: a person, or a chat, for which another account stands in older clients."""
    if it.sender is None:
        return {"from": user(it.author)}
    if it.room.kind == "channel":
        return {"sender_chat": chat(it.sender)}
    stands = ANONYMOUS if it.sender is it.room else SERVICE if it.post else CHANNEL
    return {"from": stands, "sender_chat": chat(it.sender)}


def _poll(id: int, question: str, *options: str) -> Body:
    """A Poll in which nobody has voted."""
    shown = [
        {"persistent_id": str(n), "text": one, "voter_count": 0} for n, one in enumerate(options)
    ]
    kind = {"type": "regular", "is_anonymous": True, "allows_multiple_answers": False}
    more = {"allows_revoting": True, "members_only": False}
    state = {"total_voter_count": 0, "is_closed": False}
    return {"id": str(id), "question": question, "options": shown, **kind, **state, **more}


def _where(it: Message, bot: Account, depth: int) -> Body:
    body: Body = {}
    answered = it.reply
    if it.topic:
        body |= {"message_thread_id": it.topic, "is_topic_message": True}
        if answered is None and not (it.service and it.service[0] == "forum_topic_created"):
            answered = it.room.topics[it.topic].root
    elif it.post:
        body |= {"is_automatic_forward": True}
    elif it.room.kind == "supergroup" and answered is not None:
        body["message_thread_id"] = _root(it).number(bot.id)
    known = answered is not None and answered.number(bot.id) and not answered.deleted
    if answered is not None and known and depth:
        body["reply_to_message"] = message(answered, bot, depth=depth - 1)
    return body


def _root(it: Message) -> Message:
    while it.reply is not None:
        it = it.reply
    return it


def _papers(file: File, id: str) -> Body:
    shared = {"file_id": id, "file_unique_id": unique(file), "file_size": len(file.data)}
    match file.kind:
        case "voice":
            shared |= {"duration": 3, "mime_type": "audio/ogg"}
        case "video_note":
            shared |= {"duration": 3, "length": 240}
        case "audio":
            shared |= {"duration": 3, "mime_type": file.media, "file_name": file.name}
        case "sticker":
            moves = {
                "is_animated": file.name.endswith("tgs"),
                "is_video": file.name.endswith("webm"),
            }
            shared |= {"type": "regular", "width": 512, "height": 512, "emoji": "😂", **moves}
        case "document":
            shared |= {"file_name": file.name, "mime_type": file.media}
    return {file.kind: shared}


def unique(file: File) -> str:
    """The id of a file that is the same for every bot."""
    return f"AQAD{hashlib.sha256(file.data).hexdigest()[:12]}"


def file_id(file: File, bot: Account) -> str:
    """The id by which one bot may fetch a file; another bot has another."""
    digest = hashlib.sha256(f"{bot.id}:{file.name}:{file.media}:".encode() + file.data).hexdigest()
    return f"BQAC{digest[:40]}"
