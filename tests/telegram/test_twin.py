"""python-telegram-bot and aiogram, as they are, against Telegram's twin: what bots may do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import aiogram.exceptions
import pytest
from aiogram.types import BufferedInputFile, Message, ReactionTypeEmoji
from telegram.constants import ChatAction, ParseMode
from telegram.error import Conflict, InvalidToken, TelegramError

from telegram import (
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputProfilePhotoStatic,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
    Update,
)
from tests.telegram.city import City
from tests.telegram.clients import calling, other, polling
from tests.telegram.records import Bot, Chat, Person
from tests.telegram.twin import Twin

JPEG = b"\xff\xd8\xff\xe0 a picture, as far as anybody looks"


async def refused(work: Awaitable[Any]) -> str:
    """What the client raises, in words; the test fails if it raises nothing."""
    with pytest.raises(TelegramError) as caught:
        await work
    return f"{type(caught.value).__name__}: {caught.value.message}"


async def pair(city: City) -> tuple[Bot, Person, Chat]:
    """A bot and a person who has started it."""
    aria, ana = await city.bot("Aria"), await city.person("Ana", "ana_l")
    return aria, ana, await city.private(ana, aria)


@pytest.fixture(autouse=True)
def hurried(twin: Twin) -> None:
    """Everything is done at once here, with no limits."""
    twin.town.floods.on = False


async def test_a_bot_hears_and_answers(twin: Twin, city: City) -> None:
    """A line comes by long polling; the answer stands in the chat as a reply, once."""
    aria, ana, chat = await pair(city)
    heard: list[Update] = []
    async with polling(twin.base, aria, heard) as bot:
        assert bot.username == "aria_bot"
        line = await city.say(ana, aria, "hello")
        await city.until(lambda: _count(heard, 1))
        message = heard[0].effective_message
        assert message is not None
        assert message.from_user is not None
        assert (message.text, message.from_user.username) == ("hello", "ana_l")
        await bot.send_chat_action(message.chat_id, ChatAction.TYPING)
        await message.reply_text("hello yourself", do_quote=True)
    (said,) = await city.lines(chat, by=aria)
    assert (said.text, said.reply, said.by) == ("hello yourself", line.key, "aria_bot")
    assert [call.method for call in await city.calls(bot=aria)][:3] == [
        "getMe",
        "deleteWebhook",
        "getUpdates",
    ]
    assert await city.waiting(aria) == 0


async def _count(heard: list[Update], count: int) -> bool:
    return len(heard) >= count


async def test_edits(twin: Twin, city: City) -> None:
    """A message is changed by its author alone, not to what it is, and not when it is gone."""
    aria, ana, chat = await pair(city)
    line = await city.say(ana, aria, "mine")
    async with calling(twin.base, aria) as bot:
        sent = await bot.send_message(chat.id, "first")
        edited = await bot.edit_message_text("second", chat.id, sent.message_id)
        assert isinstance(edited, type(sent))
        assert edited.text == "second"
        assert edited.edit_date is not None
        same = bot.edit_message_text("second", chat.id, sent.message_id)
        assert "message is not modified" in (await refused(same)).lower()
        theirs = bot.edit_message_text("x", chat.id, line.ids[aria.id])
        assert await refused(theirs) == "BadRequest: Message can't be edited"
        long = bot.edit_message_text("x" * 4097, chat.id, sent.message_id)
        assert await refused(long) == "BadRequest: Message_too_long"
        assert await bot.delete_message(chat.id, sent.message_id)
        gone = bot.edit_message_text("third", chat.id, sent.message_id)
        assert await refused(gone) == "BadRequest: Message to edit not found"
        again = bot.delete_message(chat.id, sent.message_id)
        assert await refused(again) == "BadRequest: Message to delete not found"
    (said,) = await city.lines(chat, by=aria)
    assert (said.text, said.edits, said.deleted) == ("second", ["first"], True)


async def test_lengths_are_utf16(twin: Twin, city: City) -> None:
    """4096 units fit and no more; an emoji outside the first plane counts twice."""
    aria, _, chat = await pair(city)
    async with calling(twin.base, aria) as bot:
        await bot.send_message(chat.id, "🙂" * 2048)
        too_long = "BadRequest: Message is too long"
        assert await refused(bot.send_message(chat.id, "🙂" * 2048 + "x")) == too_long
        assert await refused(bot.send_message(chat.id, "  ")) == "BadRequest: Message text is empty"
        caption = bot.send_document(chat.id, b"x", caption="x" * 1025)
        assert await refused(caption) == "BadRequest: Message caption is too long"
    assert len(await city.lines(chat)) == 1


async def test_markup(twin: Twin, city: City) -> None:
    """HTML and MarkdownV2 become entities; what is broken is refused, and nothing is said."""
    aria, _, chat = await pair(city)
    async with calling(twin.base, aria) as bot:
        html = '<b>bold</b> &amp; <a href="https://e.org">🙂 link</a>'
        sent = await bot.send_message(chat.id, html, ParseMode.HTML)
        assert sent.text == "bold & 🙂 link"
        assert sent.parse_entities() == {sent.entities[0]: "bold", sent.entities[1]: "🙂 link"}
        sent = await bot.send_message(chat.id, r"*bold* `a*b` done\.", ParseMode.MARKDOWN_V2)
        assert sent.text_markdown_v2 == r"*bold* `a*b` done\."
        for words, mode, error in (
            ("<b>open", ParseMode.HTML, "can't find end tag corresponding to start tag"),
            ("<br>", ParseMode.HTML, 'unsupported start tag "br"'),
            ("*open", ParseMode.MARKDOWN_V2, "can't find end of bold entity at byte offset 0"),
            ("done.", ParseMode.MARKDOWN_V2, "character '.' is reserved"),
        ):
            told = (await refused(bot.send_message(chat.id, words, mode))).lower()
            assert "can't parse entities" in told
            assert error in told
        given = [MessageEntity(MessageEntity.BOLD, 0, 9)]
        beyond = bot.send_message(chat.id, "short", entities=given)
        assert "ends after the end of the text" in await refused(beyond)
        given = [MessageEntity(MessageEntity.BOLD, 0, 5)]
        sent = await bot.send_message(chat.id, "short @ana_l", entities=given)
        assert [entity.type for entity in sent.entities] == ["bold", "mention"]
    assert len(await city.lines(chat)) == 3


async def test_replies_and_previews(twin: Twin, city: City) -> None:
    """A reply needs what it answers, unless it may do without; a quote must be in it."""
    aria, ana, chat = await pair(city)
    line = await city.say(ana, aria, "one two three")
    number = line.ids[aria.id]
    async with calling(twin.base, aria) as bot:
        to = ReplyParameters(number, quote="two")
        off = LinkPreviewOptions(is_disabled=True)
        sent = await bot.send_message(
            chat.id, "https://e.org", reply_parameters=to, link_preview_options=off
        )
        assert sent.quote is not None
        assert (sent.quote.text, sent.quote.position) == ("two", 4)
        assert sent.link_preview_options == off
        missing = bot.send_message(chat.id, "x", reply_parameters=ReplyParameters(999))
        assert await refused(missing) == "BadRequest: Message to be replied not found"
        lenient = ReplyParameters(999, allow_sending_without_reply=True)
        sent = await bot.send_message(chat.id, "alone", reply_parameters=lenient)
        assert sent.reply_to_message is None
    first, second = await city.lines(chat, by=aria)
    assert (first.reply, first.preview) == (line.key, {"is_disabled": True})
    assert second.reply is None


async def test_buttons(twin: Twin, city: City) -> None:
    """A press comes as a callback query, which is answered once; edits take buttons away."""
    aria, ana, chat = await pair(city)
    heard: list[Update] = []
    keys = InlineKeyboardMarkup([[InlineKeyboardButton("Why?", callback_data="why")]])
    async with polling(twin.base, aria, heard) as bot:
        sent = await bot.send_message(chat.id, "so", reply_markup=keys)
        (line,) = await city.lines(chat)
        with pytest.raises(ValueError, match="no button"):
            await city.press(ana, line, "when")
        await city.press(ana, line, "why")
        await city.until(lambda: _count(heard, 1))
        query = heard[0].callback_query
        assert query is not None
        assert (query.data, query.message) == ("why", sent)
        await query.answer("because")
        assert "query id is invalid" in await refused(query.answer())
        await query.edit_message_text("so it is")
        sent = await bot.send_document(chat.id, b"x", caption="a", reply_markup=keys)
        await sent.edit_caption("b", reply_markup=keys)
        await sent.edit_reply_markup(None)
        assert "is not modified" in await refused(sent.edit_reply_markup(None))
        assert "no text" in await refused(sent.edit_text("c"))
    line, paper = await city.lines(chat)
    assert (line.text, line.markup) == ("so it is", None)
    assert (paper.text, paper.edits, paper.markup) == ("b", ["a"], None)


async def test_reactions(twin: Twin, city: City) -> None:
    """A bot reacts with one of Telegram's emoji, hears reactions where it asked for them."""
    aria, ana, chat = await pair(city)
    heard: list[Update] = []
    line = await city.say(ana, aria, "look")
    async with polling(twin.base, aria, heard) as bot:
        await bot.set_message_reaction(chat.id, line.ids[aria.id], "👍")
        wrong = bot.set_message_reaction(chat.id, line.ids[aria.id], "🐌")
        assert await refused(wrong) == "BadRequest: Reaction_invalid"
        two = bot.set_message_reaction(chat.id, line.ids[aria.id], ["👍", "🔥"])
        assert await refused(two) == "BadRequest: Reactions_too_many"
        sent = await bot.send_message(chat.id, "yes")
        await city.react(ana, (await city.lines(chat, by=aria))[0], "🔥")
        await city.until(lambda: _count(heard, 2))
        update = heard[1].message_reaction
        assert update is not None
        assert (update.message_id, len(update.new_reaction)) == (sent.message_id, 1)
    (first, second) = await city.lines(chat)
    assert (first.reactions, second.reactions) == ({aria.id: ["👍"]}, {ana.id: ["🔥"]})


async def test_drafts_in_private_alone(twin: Twin, city: City) -> None:
    """A draft is shown in a private chat; a group refuses it."""
    aria, ana, chat = await pair(city)
    lab = await city.group("Lab", [ana, aria])
    async with calling(twin.base, aria) as bot:
        assert await bot.send_message_draft(chat.id, 7, "Let me")
        assert await bot.send_message_draft(chat.id, 7, "Let me see")
        refusal = await refused(bot.send_message_draft(lab.id, 7, "Let me"))
        assert refusal == "BadRequest: Textdraft_peer_invalid"
    assert [draft.text for draft in await city.drafts()] == ["Let me", "Let me see"]
    assert await city.lines(chat) == []


async def test_files(twin: Twin, city: City) -> None:
    """Bytes go up and come down the same, both ways; another bot's file id is worth nothing."""
    aria, ana, chat = await pair(city)
    bram = await city.bot("Bram")
    await city.private(ana, bram)
    heard: list[Update] = []
    async with polling(twin.base, aria, heard) as bot, calling(twin.base, bram) as stranger:
        sent = await bot.send_document(chat.id, b"up", filename="a.txt", caption="see *this*")
        assert sent.document is not None
        assert (sent.document.file_name, sent.document.mime_type) == ("a.txt", "text/plain")
        photo = await bot.send_photo(chat.id, JPEG)
        assert bytes(await (await photo.photo[-1].get_file()).download_as_bytearray()) == JPEG
        assert (await bot.send_document(chat.id, sent.document.file_id)).document == sent.document
        await city.say(ana, aria, "here", document=("b.csv", b"down"))
        await city.say(ana, aria, photo=JPEG)
        await city.until(lambda: _count(heard, 2))
        first, second = (update.effective_message for update in heard)
        assert first is not None
        assert first.document is not None
        assert (first.caption, first.document.file_name) == ("here", "b.csv")
        file = await first.document.get_file()
        assert bytes(await file.download_as_bytearray()) == b"down"
        assert second is not None
        assert len(second.photo) == 1
        assert "Invalid file_id" in await refused(stranger.get_file(first.document.file_id))
        assert "file identifier" in await refused(stranger.send_document(ana.id, file.file_id))
        not_a_photo = await refused(bot.send_photo(chat.id, b"GIF no, it is text"[4:]))
        assert not_a_photo == "BadRequest: Image_process_failed"
    lines = await city.lines(chat)
    papers = [line.paper for line in lines if line.paper]
    assert [paper.size for paper in papers] == [2, len(JPEG), 2, 4, len(JPEG)]
    assert papers[1].sha256 == papers[4].sha256
    assert [line.text for line in lines] == ["see *this*", "", "", "here", ""]


async def test_what_a_bot_sets_of_its_own(twin: Twin, city: City) -> None:
    """Commands, name, descriptions and photo are kept, and held to Telegram's rules."""
    aria, ana, chat = await pair(city)
    async with calling(twin.base, aria) as bot:
        await bot.set_my_commands([BotCommand("why", "Ask for reasons")])
        wrong = bot.set_my_commands([BotCommand("Why", "Ask for reasons")])
        assert await refused(wrong) == "BadRequest: Bot_command_invalid"
        assert [one.command for one in await bot.get_my_commands()] == ["why"]
        await bot.set_my_name("Aria the First")
        await bot.set_my_description("A mate")
        await bot.set_my_short_description("Mate")
        await bot.set_my_profile_photo(InputProfilePhotoStatic(JPEG))
        assert (await bot.get_me()).first_name == "Aria the First"
    kept = await city.account(aria)
    assert kept["commands"] == {"default": [{"command": "why", "description": "Ask for reasons"}]}
    assert (kept["description"], kept["short_description"]) == ("A mate", "Mate")
    await city.say(ana, aria, "nice", photo=JPEG)
    (line,) = await city.lines(chat)
    assert line.paper is not None
    assert kept["photo"] == line.paper.sha256


async def test_who_is_here(twin: Twin, city: City) -> None:
    """getChat, getChatMember and getChatAdministrators say how everybody stands."""
    aria, ana, private = await pair(city)
    bob, eve = await city.person("Bob"), await city.person("Eve")
    lab = await city.supergroup("Lab", [ana, bob, aria], admins=[aria])
    async with calling(twin.base, aria) as bot:
        assert (await bot.get_chat(lab.id)).title == "Lab"
        assert (await bot.get_chat(private.id)).username == "ana_l"
        stands = [(await bot.get_chat_member(lab.id, one.id)).status for one in (ana, bob, eve)]
        assert stands == ["creator", "member", "left"]
        admins = await bot.get_chat_administrators(lab.id)
        assert [one.user.first_name for one in admins] == ["Ana", "Aria"]
        assert await refused(bot.get_chat(12)) == "BadRequest: Chat not found"
        assert "initiate conversation" in await refused(bot.send_message(bob.id, "hi"))
        assert await refused(bot.send_message(eve.id, "hi")) == "BadRequest: Chat not found"
        assert (await refused(bot.send_message(aria.id, "hi"))).startswith("Forbidden")


async def test_topics(twin: Twin, city: City) -> None:
    """A forum's topics are opened and renamed by an admin; what is said there stays there."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    forum = await city.supergroup("Lab", [ana, aria], admins=[aria], forum=True)
    plain = await city.supergroup("Hall", [ana, aria])
    async with calling(twin.base, aria) as bot:
        topic = (await bot.create_forum_topic(forum.id, "Plans")).message_thread_id
        await bot.edit_forum_topic(forum.id, topic, "Better plans")
        same = bot.edit_forum_topic(forum.id, topic, "Better plans")
        assert await refused(same) == "BadRequest: Topic_not_modified"
        sent = await bot.send_message(forum.id, "here", message_thread_id=topic)
        assert (sent.message_thread_id, sent.is_topic_message) == (topic, True)
        assert sent.reply_to_message is not None
        assert sent.reply_to_message.forum_topic_created is not None
        reply = await bot.send_message(forum.id, "too", reply_parameters=ReplyParameters(sent.id))
        assert reply.message_thread_id == topic
        nowhere = "BadRequest: Message thread not found"
        assert await refused(bot.send_message(forum.id, "x", message_thread_id=99)) == nowhere
        assert await refused(bot.send_message(forum.id, "x", message_thread_id=1)) == nowhere
        assert await bot.send_chat_action(forum.id, "typing", message_thread_id=1)
        assert await refused(bot.create_forum_topic(plain.id, "x")) == (
            "BadRequest: The chat is not a forum"
        )
    lines = await city.lines(forum, by=aria)
    assert [(line.text, line.topic) for line in lines if not line.service] == [
        ("here", topic),
        ("too", topic),
    ]


async def test_two_pollers(twin: Twin, city: City) -> None:
    """Of two who poll for one bot, the first is told Conflict, and no update is lost."""
    aria, ana, _ = await pair(city)
    async with calling(twin.base, aria) as one, calling(twin.base, aria) as two:
        waiting = asyncio.gather(one.get_updates(timeout=30), return_exceptions=True)
        await city.until(lambda: city.calls("getUpdates"))
        second = asyncio.gather(two.get_updates(timeout=30))
        (conflict,) = await waiting
        assert isinstance(conflict, Conflict)
        await city.say(ana, aria, "hello")
        ((got,),) = await second
        assert [update.update_id for update in await one.get_updates()] == [got.update_id]
        assert await one.get_updates(offset=got.update_id + 1) == ()


async def test_who_is_not_known(twin: Twin, city: City) -> None:
    """A wrong token is refused; what the twin does not know gets 404, and is on record."""
    aria, _, chat = await pair(city)
    stranger = Bot(1, "No", "no_bot", "1:AAno")
    with pytest.raises(InvalidToken):
        async with calling(twin.base, stranger):
            pass
    async with calling(twin.base, aria) as bot:
        assert "not know" in await refused(bot.send_dice(chat.id))
        with pytest.raises(TelegramError, match="not found in Bot API"):
            await bot.do_api_request("sendTelepathy", {"chat_id": chat.id})
        await bot.send_message(chat.id, "x", api_kwargs={"colour": "red"})
        odd = bot.send_message(chat.id, "x", message_thread_id="first")  # type: ignore[arg-type]
        assert "Message_thread_id" in await refused(odd)
    told = {(one.where, one.what) for one in await city.forgive()}
    assert {where for where, _ in told} == {"sendDice", "sendTelepathy", "sendMessage"}
    assert ("sendMessage", "there is no parameter colour") in told
    assert len(await city.lines(chat)) == 1


async def test_aiogram(twin: Twin, city: City) -> None:
    """A second client does the same: talks, edits, reacts, sends a file, polls, is refused."""
    aria, ana, chat = await pair(city)
    line = await city.say(ana, aria, "hello", document=("b.txt", b"down"))
    async with other(twin.base, aria) as bot:
        assert (await bot.me()).username == "aria_bot"
        (update,) = await bot.get_updates(timeout=30)
        assert update.message is not None
        assert update.message.document is not None
        down = await bot.download(update.message.document)
        assert down is not None
        assert down.read() == b"down"
        assert await bot.get_updates(offset=update.update_id + 1) == []
        sent = await bot.send_message(
            chat.id, "*re*", parse_mode="MarkdownV2", reply_to_message_id=line.ids[aria.id]
        )
        edited = await bot.edit_message_text("b", chat_id=chat.id, message_id=sent.message_id)
        assert isinstance(edited, Message)
        assert edited.text == "b"
        await update.message.as_(bot).react([ReactionTypeEmoji(emoji="👍")])
        await bot.send_document(chat.id, BufferedInputFile(b"up", "a.txt"))
        await bot.send_photo(chat.id, BufferedInputFile(JPEG, "p.jpg"))
        await bot.send_message_draft(chat.id, 3, text="Hm")
        with pytest.raises(aiogram.exceptions.TelegramBadRequest, match="is not modified"):
            await bot.edit_message_text("b", chat_id=chat.id, message_id=sent.message_id)
        with pytest.raises(aiogram.exceptions.TelegramNotFound):
            await bot.send_dice(chat.id)
    said = await city.lines(chat, by=aria)
    assert [(one.text, one.edits) for one in said] == [("b", ["re"]), ("", []), ("", [])]
    assert said[0].reply == line.key
    assert [one.where for one in await city.forgive()] == ["sendDice"]
