"""Delivery: one thing of a room into one place of Discord, exactly once.

    a mate's line       by its own account, else by webhook, else with its name before it
    a person's line     by webhook under their name and where they are, else as a quotation
    an answer           as a reply; by a webhook, which has none, with what it answers before it
    a word of the room  small, by whichever account is there
    a reaction, a change, a deletion    on the messages that the line is there

A part that is posted carries a nonce; before anything is posted a second time the place is read
back, and only what is missing is posted. Does not decide when to try again
(runtime/delivery_worker.py).
"""

import logging
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from msgspec import Struct

import discord
from loopforge.chat.room.room_store import PREFIX as ROOM
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.delivery_states import nonce
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard, LineDeleted, LineEdited, Reacted, Said, Told
from loopforge.errors import SendFailed, Unknown
from loopforge.io.discord.connection.api_errors import LOST, as_send_failure
from loopforge.io.discord.connection.bot_accounts import PREFIX, BotAccounts, channel_label
from loopforge.io.discord.mate_threads import channel_of_message
from loopforge.io.discord.sending.attachment_upload import FileUpload
from loopforge.io.discord.sending.draft_messages import DiscordLiveUpdates
from loopforge.io.discord.sending.personas import (
    UNTOUCHED,
    DiscordButtons,
    DiscordSpeaker,
    Personas,
)
from loopforge.io.discord.sending.reply_quote import ROOM_FOR_IT, ReplyQuotes, strip_reply_quote
from loopforge.io.discord.sending.webhooks import DiscordWebhooks
from loopforge.io.discord.text.markdown import (
    LIMIT,
    as_discord_markdown,
    fence_indented_code,
    mask_emojis,
    split_into_messages,
)
from loopforge.io.platforms.line_buttons import Press, buttons_of, tone_of
from loopforge.io.text.graphemes import clip, utf16_length
from loopforge.io.text.message_split import VOID, as_file
from loopforge.runtime.ports import Outgoing

log = logging.getLogger(__name__)
STYLES: dict[str, discord.ButtonStyle] = {
    "yes": discord.ButtonStyle.success,
    "plain": discord.ButtonStyle.secondary,
    "no": discord.ButtonStyle.danger,
}
ROOM_FOR_WORDS, MORE = 300, "[{} files more are not here]"
"""Units of a message with files that are kept to name those that cannot be given."""
READ = 5000
"""Messages that are read back at most, from when the first attempt began."""
BEFORE = timedelta(days=2)
"""So long before a line it is read back where nobody was ever heard: a clock may be wrong."""


class DiscordOutgoing(Struct, frozen=True):
    """What a thing is in one place: the texts of its messages, and what goes with the last one."""

    voice: DiscordSpeaker
    parts: tuple[str, ...] = ()
    reply: int | None = None
    files: tuple[File, ...] = ()
    long: tuple[str, bytes] | None = None
    buttons: tuple[Press, ...] = ()

    def ends(self, part: int) -> bool:
        """Whether something is attached to this part."""
        return bool(self.files or self.long) and part == len(self.parts) - 1


class _Sought:
    """What of a thing is looked for, as one voice says it: the parts that are not found yet."""

    def __init__(self, letter: DiscordOutgoing, found: dict[int, int]) -> None:
        self.letter, self.found = letter, dict(found)
        self.wanted = [part for part in range(len(letter.parts)) if part not in found]


class DiscordDelivery:
    """Sends for the surface."""

    def __init__(
        self,
        crowd: BotAccounts,
        voices: Personas,
        front: RoomsApi,
        hooks: DiscordWebhooks,
        files: FileUpload,
        drafts: DiscordLiveUpdates,
    ) -> None:
        self._crowd, self._voices, self._hooks, self._files = crowd, voices, hooks, files
        self._front, self._channels, self._drafts = front, front.channels, drafts
        self._references = ReplyQuotes(front)
        self._found: dict[str, dict[int, int]] = {}

    async def send(self, out: Outgoing) -> str:
        """Send it, without what is there already; the ids of its messages. Raises SendFailed."""
        match out.event.body:
            case Said() | Heard() | Told():
                return await self._send_line(out)
            case Reacted(mate=mate, to=line, emoji=emoji):
                return await self._send_reaction(out, mate, line, emoji)
            case LineEdited(line=line):
                return await self._send_edit(out, line)
            case LineDeleted(line=line):
                return await self._remove_line(out, line)
            case _ if out.what == "approval":
                return await self._settle_question(out)
            case _:
                raise SendFailed(f"Discord cannot show {out.event.kind}.", final=True)

    async def sent(self, out: Outgoing) -> str | None:
        """The ids of its messages, if all are there. What is done again does no harm."""
        if not isinstance(out.event.body, Said | Heard | Told):
            return None
        voice = await self._speaker_of(out, out.event)
        letter = await self._outgoing_of(out, voice)
        found = self._found.setdefault(out.delivery, {})
        if draft := await self._standing_draft(out):
            found |= await self._part_in_draft(letter, draft)
        ways = [_Sought(letter, found)]
        if voice.otherwise is not None and not found:
            ways.append(_Sought(await self._outgoing_of(out, voice.otherwise), {}))
        if ways[0].wanted:
            await self._read_back(out, ways)
        there = min(ways, key=lambda way: (bool(way.wanted), not way.found))
        if there is not ways[0] and there.wanted:
            why = "a part of it stands there, said otherwise than it is now."
            raise SendFailed(why, uncertain=True)
        found |= there.found
        return None if there.wanted else self._finish(out)

    # ------------------------------------------------------------ lines

    async def _speaker_of(self, out: Outgoing, event: Event) -> DiscordSpeaker:
        """The voice by which something is said there."""
        match event.body:
            case Said(mate=mate):
                return await self._voices.mate(out.place, mate)
            case Heard(person=person, surface=surface):
                room = out.stream.removeprefix(ROOM)
                name = (await self._front.rooms.scene(room)).person(person)
                return await self._voices.person(out.place, name, surface)
            case _:
                return await self._voices.anybody(out.place)

    async def _outgoing_of(self, out: Outgoing, voice: DiscordSpeaker) -> DiscordOutgoing:
        body = out.event.body
        if isinstance(body, Told):
            buttons = await buttons_of(self._front, out.event)
            return DiscordOutgoing(voice, _notice_parts(body, str(body.text)), buttons=buttons)
        if not isinstance(body, Said | Heard) or not (body.files or str(body.text).strip(VOID)):
            return DiscordOutgoing(voice)
        text, long = f"{voice.quoted}{body.text}", None
        units = _units_for_part(voice, body.reply_to, body.files)
        gives = voice.gives and not self._found.get(out.delivery)  # else it was begun in messages
        if gives and (file := as_file(as_discord_markdown(text), units)) is not None:
            data = str(body.text).encode("utf-8", "replace")
            text, long = file.preview.text, (file.name, data)
        parts = await self._parts_of(out, voice, body.reply_to, text, units)
        parts = parts or (voice.quoted.strip(),)
        reply = await self._answered_message(out.place, body.reply_to)
        buttons = await buttons_of(self._front, out.event)
        return DiscordOutgoing(voice, parts, reply, body.files, long, buttons)

    async def _parts_of(
        self, out: Outgoing, voice: DiscordSpeaker, reply: str, text: str, units: int
    ) -> tuple[str, ...]:
        """The messages of a text; a webhook's first one says what it answers."""
        parts = split_into_messages(text, units)
        if not reply or not voice.by_hook:
            return parts
        head = await self._references.to(out, reply, voice.seat.channel)
        first, *rest = parts or ("",)
        return (f"{head}\n{first}".strip(), *rest) if head else parts

    async def _answered_message(self, place: str, line: str) -> int | None:
        posts = await self._channels.posts(place, line) if line else []
        return int(posts[0]) if posts else None

    async def _send_line(self, out: Outgoing) -> str:
        letter = await self._outgoing_of(out, await self._speaker_of(out, out.event))
        found, left = self._found.setdefault(out.delivery, {}), 0
        try:
            if 0 not in found and letter.parts and (draft := await self._standing_draft(out)):
                left = await self._replace_draft(letter, draft, found)
            for part in range(len(letter.parts)):
                if part not in found:
                    found[part] = await self._post_part(out, letter, part)
            if left:  # a closed thread, in which nothing can be changed, was opened by the post
                await self._remove_draft(letter, left)
        except SendFailed as failure:
            if failure.final:
                self._finish(out)
            raise
        return self._finish(out)

    def _finish(self, out: Outgoing) -> str:
        self._drafts.done(*self._turn_of(out))
        found = self._found.pop(out.delivery, {})
        return " ".join(str(found[part]) for part in sorted(found))

    async def _post_part(self, out: Outgoing, letter: DiscordOutgoing, part: int) -> int:
        voice, text = letter.voice, letter.parts[part]
        uploads: list[discord.File] = []
        if letter.ends(part):
            most = voice.most if letter.long or voice.gives else 0
            uploads, missing = await self._files.uploads(letter.files, most, letter.long)
            text = f"{text}\n{_fitting(missing, LIMIT - utf16_length(text) - 1)}".strip()
        reply = letter.reply if part == 0 else None
        last = part == len(letter.parts) - 1
        view = _button_view(letter.buttons) if last else None
        return await voice.post(text, nonce(out.delivery, part), reply, uploads, view)

    # ------------------------------------------------------------ what stands there already

    def _turn_of(self, out: Outgoing) -> tuple[str, str]:
        """Where, and in which turn it was said."""
        return out.place, getattr(out.event.body, "turn", "")

    async def _standing_draft(self, out: Outgoing) -> int:
        """The message that shows what this line was to become; 0 if none does."""
        return await self._drafts.take(*self._turn_of(out)) if self._turn_of(out)[1] else 0

    async def _replace_draft(
        self, letter: DiscordOutgoing, draft: int, found: dict[int, int]
    ) -> int:
        """Let the first part stand where the draft stood, if it still does; see `_remove_draft`."""
        if letter.ends(0):
            # an edit cannot bring files that a nonce would protect
            return await self._remove_draft(letter, draft)
        try:
            await self._voices.change(letter.voice, draft, letter.parts[0])
        except SendFailed as failure:
            if not failure.final or failure.gone:
                raise
            return await self._remove_draft(letter, draft)
        found[0] = draft
        return 0

    async def _remove_draft(self, letter: DiscordOutgoing, draft: int) -> int:
        """Take a draft away; 0, or the draft where nobody may: the line is said all the same."""
        try:
            await self._voices.take(letter.voice, draft)
        except SendFailed as failure:
            if not failure.final or failure.gone:
                raise
            log.info("a draft stays where it is: %s", failure.why)
            return draft
        return 0

    async def _part_in_draft(self, letter: DiscordOutgoing, draft: int) -> dict[int, int]:
        """The first part, if it stands already where the draft stood."""
        try:
            message = await letter.voice.seat.channel.fetch_message(draft)
        except discord.NotFound:
            return {}
        except Exception as error:
            raise as_send_failure(error, letter.voice.place) from None
        same = letter.parts and _without_reply(message.content) == _without_reply(letter.parts[0])
        return {0: draft} if same else {}

    async def _read_back(self, out: Outgoing, ways: Sequence[_Sought]) -> None:
        """Find the parts that are there, in each of the ways in which it may have been said."""
        voice = ways[0].letter.voice
        if not voice.reads:
            raise SendFailed(
                f"whether it arrived, nobody knows: the bot may not read {voice.place} back. "
                "Whoever manages that server can give it the permission Read Message History.",
                uncertain=True,
            )
        try:
            async for message in self._said_since(voice, await self._begun(out)):
                for way in ways:
                    if await self._is_sought(out, way, message):
                        way.found[way.wanted.pop(0)] = message.id
                        voice.seat.client.speech.said(message.id)
                if not all(way.wanted for way in ways):
                    break
        except Exception as error:
            raise as_send_failure(error, voice.place) from None

    async def _begun(self, out: Outgoing) -> int:
        """An id below those of what was posted since the first attempt: no clock is asked for it.

        Whatever was heard anywhere before that attempt was written down is older than what it made.
        """
        heard = await self._channels.highest((f"{PREFIX}%",), "", out.first or out.event.id)
        before = await self._channels.highest((out.place,), out.place, out.event.id)
        return max(heard, before) or discord.utils.time_snowflake(out.event.at - BEFORE)

    async def _said_since(
        self, voice: DiscordSpeaker, since: int
    ) -> AsyncIterator[discord.Message]:
        """What was said there after an id, in order. Raises SendFailed at the bound."""
        read, after = 0, discord.Object(since)
        async for message in voice.seat.channel.history(limit=READ, after=after):
            read += 1
            yield message
        if read == READ:
            why = "too much was said there since to find out whether it arrived."
            raise SendFailed(why, uncertain=True)

    async def _is_sought(self, out: Outgoing, way: _Sought, message: discord.Message) -> bool:
        """Whether a message is the next part, and not an earlier line that reads the same."""
        letter, part = way.letter, way.wanted[0]
        if message.id in way.found.values() or not self._is_voice(letter.voice, message):
            return False
        content, text = _without_reply(message.content), _without_reply(letter.parts[part])
        if letter.ends(part):  # words for a lost file may follow
            same = content.startswith(text or "[file: ") or (not text and bool(message.attachments))
        else:
            same = content == text and not message.attachments
        line = await self._channels.line(out.place, str(message.id)) if same else ""
        return same and line in ("", out.event.id)

    def _is_voice(self, voice: DiscordSpeaker, message: discord.Message) -> bool:
        """Whether this voice may have said it; what bears no mate's face, any of us may have."""
        if voice.by_hook:
            return self._hooks.said(message) and voice.bore(message.author.name)
        if voice.whose:
            return message.author.id == voice.seat.client.id
        return self._crowd.ours(message.author.id) is not None

    # ------------------------------------------------------------ on what is there

    async def _send_reaction(self, out: Outgoing, mate: str, line: str, emoji: str) -> str:
        posts = await self._channels.posts(out.place, line)
        if not posts:
            return ""
        seat = await self._crowd.seat(out.place, mate)
        try:
            message = int(posts[0])
            await (
                channel_of_message(seat.channel, message)
                .get_partial_message(message)
                .add_reaction(emoji)
            )
        except Exception as error:
            failure = as_send_failure(error, channel_label(seat.channel))
            if failure.why != LOST:
                raise failure from None
        return posts[0]

    async def _send_edit(self, out: Outgoing, line: str) -> str:
        """Change the messages that a line is; what is too much for them is cut."""
        posts = await self._channels.posts(out.place, line)
        said = await self._line_of(out, line)
        if not posts or said is None or not isinstance(out.event.body, LineEdited):
            return ""
        voice, reply = await self._speaker_of(out, said), getattr(said.body, "reply_to", "")
        text, units = f"{voice.quoted}{out.event.body.text}", _units_for_part(voice, reply)
        parts = [*await self._parts_of(out, voice, reply, text, units)]
        ours = isinstance(said.body, Said)
        view = _button_view(await buttons_of(self._front, said)) if ours else UNTOUCHED
        if getattr(said.body, "files", ()):
            await self._shorten_line(voice, posts, parts)
        return await self._reword_messages(voice, posts, parts, view)

    async def _shorten_line(
        self, voice: DiscordSpeaker, posts: list[str], parts: list[str]
    ) -> None:
        """Let what a line with files needs no more go, but its last message, which bears them.

        The first one stays for as long as the line does.
        """
        if not parts:
            parts.append("" if len(posts) == 1 else "…")
        if len(parts) < len(posts):
            for message in posts[len(parts) : -1]:
                await self._voices.take(voice, int(message))
            posts[len(parts) : -1] = []
            parts.append("")

    async def _settle_question(self, out: Outgoing) -> str:
        """A question that was answered says so, and has no buttons any more."""
        told = await self._front.questions.about(out.event)
        posts = await self._channels.posts(out.place, told.id) if told is not None else []
        if told is None or not posts or not isinstance(told.body, Told):
            return ""
        text = await self._front.questions.settled(out.event, told)
        voice = await self._speaker_of(out, told)
        return await self._reword_messages(voice, posts, [*_notice_parts(told.body, text)], None)

    async def _reword_messages(
        self, voice: DiscordSpeaker, posts: list[str], parts: list[str], view: DiscordButtons
    ) -> str:
        """Let messages of ours be these parts, the last with these buttons; too many go."""
        if len(parts) > len(posts):
            parts = [*parts[: len(posts) - 1], f"{clip(parts[len(posts) - 1], LIMIT - 2)} …"]
        for nth, (message, text) in enumerate(zip(posts, parts, strict=False)):
            below = view if nth == min(len(parts), len(posts)) - 1 else UNTOUCHED
            try:
                await self._voices.change(voice, int(message), text, below)
            except SendFailed as failure:
                if failure.why != LOST:  # somebody took it away there
                    raise
        for message in posts[len(parts) :]:
            await self._voices.take(voice, int(message))
        return " ".join(posts)

    async def _remove_line(self, out: Outgoing, line: str) -> str:
        posts = await self._channels.posts(out.place, line)
        said = await self._line_of(out, line)
        if posts and said is not None:
            voice = await self._speaker_of(out, said)
            for message in posts:
                await self._voices.take(voice, int(message))
        return " ".join(posts)

    async def _line_of(self, out: Outgoing, line: str) -> Event | None:
        try:
            return await self._front.line(out.stream.removeprefix(ROOM), line)
        except Unknown:
            return None


def _units_for_part(voice: DiscordSpeaker, reply: str, files: Sequence[File] = ()) -> int:
    """Units that a part of what this voice says may have; words for lost files may follow."""
    quote = ROOM_FOR_IT if reply and voice.by_hook else 0
    return LIMIT - quote - (ROOM_FOR_WORDS if files else 0)


def _fitting(rows: Sequence[str], room: int) -> str:
    """As many of these rows as have room, and how many more there are."""
    whole = "\n".join(rows)
    if utf16_length(whole) <= room:
        return whole
    kept = list(rows)
    while kept and utf16_length("\n".join(kept)) > room - len(MORE):
        kept.pop()
    return "\n".join([*kept, MORE.format(len(rows) - len(kept))])


def _notice_parts(told: Told, text: str) -> tuple[str, ...]:
    """A word of the room: small and slanted; a question is not, so that it shows what it asks."""
    if told.asks:
        return split_into_messages(fence_indented_code(text))
    small = (f"-# *{row}*" if row.strip() else row for row in text.splitlines())
    return split_into_messages("\n".join(small))


def _button_view(presses: tuple[Press, ...]) -> discord.ui.View | None:
    """The buttons; discord.py need not keep them, since what they say stands in their ids."""
    if not presses:
        return None
    view = discord.ui.View(timeout=None)
    for one in presses:
        made: discord.ui.Button[discord.ui.View] = discord.ui.Button(
            label=one.label,
            custom_id=one.data,
            style=STYLES[tone_of(one)],
        )
        view.add_item(made)
    view.stop()
    return view


def _without_reply(text: str) -> str:
    """What a message says, without what it answers, nor how emojis are written.

    Both may have been changed since.
    """
    return mask_emojis(strip_reply_quote(text)).strip()
