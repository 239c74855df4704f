"""Words between Discord and the house: what people wrote there as anyone reads it, and the names.

Inward, Discord writes people, roles, channels, emoji, times and commands as marks around an id;
`as_readable_markdown` gives their names, in one pass, so that a name is never read as a mark. Code
is left alone, as Discord does. Outward, `shown` and `pieces` stand in outgoing_markdown.py.
`webhook_name` and `thread_name` obey Discord's rules for names.

Has no clock: times are told as UTC, never as "an hour ago". Does not know who is in the room.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct, field

from loopforge.core.text.name_labels import one_line
from loopforge.io.discord.text.code_spans import change_outside_code
from loopforge.io.text.graphemes import clip, utf16_length
from loopforge.io.text.message_split import VOID

WEBHOOK_NAME = 80
THREAD_NAME = 100
"""Characters; counted here as UTF-16 units, which is the safe side."""

_MARKS = re.compile(
    r"\\[^\w\s]"
    r"|<@!?(?P<user>[0-9]{1,20})>"
    r"|<@&(?P<role>[0-9]{1,20})>"
    r"|<\#(?P<channel>[0-9]{1,20})>"
    r"|<a?:(?P<emoji>[A-Za-z0-9_]{1,32}):[0-9]{1,20}>"
    r"|<t:(?P<time>-?[0-9]{1,13})(?::(?P<style>[A-Za-z]))?>"
    r"|</(?P<command>[^\n:<>]{1,100}):[0-9]{1,20}>"
    r"|<id:(?P<place>[a-z-]{1,32})(?::[0-9]{1,20})?>"
)
_STYLES = {
    "t": "%H:%M UTC",
    "T": "%H:%M:%S UTC",
    "d": "{day}",
    "D": "{day}",
    "F": "%A, {day}, %H:%M UTC",
    "S": "{day}, %H:%M:%S UTC",
}


class DiscordNames(Struct, frozen=True):
    """Who and what is known by which id."""

    users: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, str] = field(default_factory=dict)
    channels: Mapping[int, str] = field(default_factory=dict)


def as_readable_markdown(content: str, names: DiscordNames) -> str:
    """A message as anyone reads it: names in place of ids."""

    def named(mark: re.Match[str]) -> str:
        return _named(mark, names)

    return change_outside_code(content, lambda part: _MARKS.sub(named, part))


def mentioned_user_ids(content: str) -> tuple[int, ...]:
    """The ids of the people whom a message mentions outside code, each once, in order."""
    users: dict[int, None] = {}

    def note(part: str) -> str:
        users.update((int(mark["user"]), None) for mark in _MARKS.finditer(part) if mark["user"])
        return part

    change_outside_code(content, note)
    return tuple(users)


def _named(mark: re.Match[str], names: DiscordNames) -> str:
    match mark.lastgroup:
        case "user":
            return "@" + _line(names.users.get(int(mark["user"]), ""), "somebody")
        case "role":
            return "@" + _line(names.roles.get(int(mark["role"]), ""), "a-role")
        case "channel":
            return "#" + _line(names.channels.get(int(mark["channel"]), ""), "a-channel")
        case "emoji":
            return f":{mark['emoji']}:"
        case "time" | "style":
            return _moment(int(mark["time"]), mark["style"] or "f") or mark[0]
        case "command":
            return f"/{mark['command']}"
        case "place":
            return f"#{mark['place'].replace('-', ' ').title()}"
        case _:
            return mark[0]


def _line(name: str, unknown: str) -> str:
    return one_line(name, THREAD_NAME) or unknown


def _moment(seconds: int, style: str) -> str:
    """A moment in the style that Discord names by this letter, in UTC; "" beyond the calendar."""
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    said = at.strftime(_STYLES.get(style, "{day}, %H:%M UTC"))
    return said.replace("{day}", f"{at.day} {at:%B %Y}")


# ---------------------------------------------------------------- names

_REFUSED = re.compile(r"(c)(lyde)|(dis)(cord)", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]|(?<![^\x00-\xff])\u200d")
_MARKUP = re.compile(r"^(?:\s|[#>*+-]+(?=\s)|\d+[.)](?=\s))+")
_DRESS = re.compile(r"[*_~`|]{2,}|[*`]|!?\[([^\]\[]*)\]\([^()\s]*\)")


def webhook_name(name: str) -> str:
    """A name under which a webhook may speak, as like the mate's own as Discord allows.

    At most 80 units, without @ # : ` and without the names that Discord keeps for itself.
    """
    line = " ".join(_UNSEEN.sub(" ", name).split())
    seen = "".join(c for c in line if c in " \u200d" or c not in VOID)
    plain = seen.replace(":", "-").replace("`", "'").replace("@", " ").replace("#", " ")
    plain = _REFUSED.sub(r"\1\3·\2\4", " ".join(plain.split()))
    plain = clip(plain, WEBHOOK_NAME).strip(VOID)
    if plain.casefold() in ("everyone", "here"):
        return f"{plain} (mate)"
    return plain or "mate"


def thread_name(text: str) -> str:
    """A title for a thread: the first line that says something, at most 100 units of it."""
    lines = (_title(line) for line in re.split(r"[\r\n\v\f\x85\u2028\u2029]+", text))
    title = next((line for line in lines if line.strip(VOID)), "A thread")
    if utf16_length(title) <= THREAD_NAME:
        return title
    short = clip(title, THREAD_NAME - 1)
    words = short.rsplit(" ", 1)[0]
    return f"{(words if len(words) > THREAD_NAME // 2 else short).rstrip()}…"


def _title(line: str) -> str:
    bare = _DRESS.sub(lambda found: found[1] or "", _MARKUP.sub("", line))
    return " ".join(_UNSEEN.sub(" ", bare).split())
