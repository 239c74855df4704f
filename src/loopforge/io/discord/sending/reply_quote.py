"""Reply quotes: what a line answers, as a small first line of a message that can bear no reply.

Webhooks cannot reply. So what they say begins with whom they answer and the first words of that,
and leads there where it stands in the same channel. Of a line that a channel was never shown, its
words are not told there either. Formatting is taken off, so that it cannot reach into the rest;
what was hidden as a spoiler stays hidden. Does not send.
"""

import re

from loopforge.chat.room.room_store import PREFIX as ROOM
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, PlaceJoined, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.io.discord.connection.gateway_client import Talk
from loopforge.io.discord.text.markdown import as_discord_markdown
from loopforge.io.text.graphemes import clip, utf16_length
from loopforge.io.text.message_split import VOID
from loopforge.io.text.spoilers import without_spoilers
from loopforge.runtime.ports import Outgoing

START = "-# ↪ "
ROOM_FOR_IT = 300
"""Units of a message that are kept for it: 80 of words, 40 of a name, about 100 of an address."""
WORDS, NAME = 80, 40
"""Units of each that are shown at most."""
BEGINNING = 1000
"""Characters of a line that are looked at, once its spoilers are hidden."""
READ = 500
"""Events after the answered line among which is looked for whether the place came later."""

_FENCE = re.compile(r"```(?:\S*\n)?|~~~")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\(<?https?:[^()\s]*\)", re.IGNORECASE)
_URL = re.compile(r"<?\b[a-z][a-z0-9+.-]{0,15}://[^\s<>]+>?", re.IGNORECASE)
_LEADING = re.compile(r"^[ \t]*(?:#{1,6}|-#|[-*+>]|>>>|\d+[.)])[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\w)_+|_+(?!\w)")
_UNSEEN = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_MARKS = {
    **str.maketrans("[]<>", "()‹›"),
    **dict.fromkeys(map(ord, "*`~|\\" + _UNSEEN)),
}


def glimpse(text: str, most: int = WORDS) -> str:
    """The first words of a text, without formatting, in one line of at most `most` units."""
    text = without_spoilers(text, spaced=True)[:BEGINNING]
    for pattern, instead in ((_FENCE, ""), (_LINK, r"\1"), (_URL, "(link)"), (_LEADING, "")):
        text = pattern.sub(instead, text)
    line = " ".join(_EMPHASIS.sub("", text.translate(_MARKS)).split())
    if utf16_length(line) > most:
        line = f"{clip(line, most - 1).rstrip()}…"
    return line if line.strip(VOID) else ""


def reference(name: str, words: str, address: str = "") -> str:
    """The line: whom, what, and (with an address) where; "" if nothing of it is known."""
    name, words = glimpse(name, NAME), glimpse(words)
    said = f"{name}: {words}" if name and words else name or words
    if not said:
        return ""
    return as_discord_markdown(f"{START}[{said}]({address})" if address else f"{START}{said}")


def strip_reply_quote(text: str) -> str:
    """A message without its reference, which may read otherwise by now."""
    first, _, rest = text.partition("\n")
    return rest if first.startswith(START.strip()) else text


class ReplyQuotes:
    """Writes them."""

    def __init__(self, front: RoomsApi) -> None:
        self._front = front

    async def to(self, out: Outgoing, line: str, channel: Talk) -> str:
        """The reference to a line, as it may be told in this place; "" if there is none."""
        room = out.stream.removeprefix(ROOM)
        try:
            event = await self._front.line(room, line)
        except Unknown:
            return ""
        name, words = await self._name(room, event), _words(event)
        posts = await self._front.channels.posts(out.place, line)
        if not posts:
            return reference(name, words if await self._known(room, event, out) else "")
        guild = getattr(channel, "guild", None)
        above = posts[0] == str(channel.id)  # a thread was opened on it: it stands outside
        if guild is None or above or _gone(event):
            return reference(name, words)
        at = f"https://discord.com/channels/{guild.id}/{channel.id}/{posts[0]}"
        return reference(name, words, at)

    async def _name(self, room: str, event: Event) -> str:
        match event.body:
            case Said(mate=mate):
                return (
                    self._front.rooms.mates[mate].name if mate in self._front.rooms.mates else mate
                )
            case Heard(person=person):
                return (await self._front.rooms.scene(room)).person(person)
            case _:
                return ""

    async def _known(self, room: str, event: Event, out: Outgoing) -> bool:
        """Whether the place was part of the room when this was said."""
        later = await self._front.history(room, after=event.seq, before=out.event.seq, limit=READ)
        came = any(isinstance(e.body, PlaceJoined) and e.body.place == out.place for e in later)
        return len(later) < READ and not came


def _words(event: Event) -> str:
    """What a line says now; its files, if it says nothing."""
    body = event.body
    text = body.text if isinstance(body, Heard | Said | Told) else Words(None)
    if text.text is None or _gone(event):
        return ""
    files = body.files if isinstance(body, Heard | Said) else ()
    return str(text) if str(text).strip() else ", ".join(str(file.name) for file in files)


def _gone(event: Event) -> bool:
    return isinstance(event, Revised) and event.revision.deleted
