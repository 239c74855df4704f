"""Discord's Markdown, both ways: what people wrote as anyone reads it, and what mates say there.

Code is left as it is, once its fences are Discord's.

Inward, people, roles, channels, emoji, times and commands are marks around an id, for which
`as_readable_markdown` gives names, in one pass, so that a name is never read as a mark. Outward,
tables, headings below the third, rules and other fences, which Discord does not know, are written
in ways that it knows, and no name rings everybody's bell (the request, too, allows no mention).
`webhook_name` and `thread_name` obey Discord's rules for names.

Has no clock: times are told as UTC, never as "an hour ago". Does not know who is in the room.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct, field

from loopforge.core.text.name_labels import one_line
from loopforge.io.text.code_fences import Block, find_code_blocks, lines_with_offsets
from loopforge.io.text.code_spans import change_outside_code, find_code_spans
from loopforge.io.text.graphemes import clip, utf16_length
from loopforge.io.text.markdown_tables import MarkdownTable, align_columns, find_markdown_tables
from loopforge.io.text.message_split import VOID, split
from loopforge.io.text.spoilers import APART, BARS, cover_parts

# ---------------------------------------------------------------- what people wrote

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
_EMOJIS = re.compile(r"<a?:[A-Za-z0-9_]{1,32}:[0-9]{1,20}>|:[A-Za-z0-9_]{1,32}:")
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


def mask_emojis(text: str) -> str:
    """A text with the same sign for each emoji of a server, in whatever form.

    Discord writes `:name:` for one that may not be used there, and another name by its id.
    """
    return _EMOJIS.sub(":", text)


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


# ---------------------------------------------------------------- what mates say

LIMIT = 2000
"""Units of one message."""
RULE = "─" * 12

_HEADING = re.compile(r" {0,3}#{4,6}[ \t]++(?P<words>[^\r\n]+)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_BREAK = re.compile(r"[\r\n]")
_LANGUAGE = re.compile(r"[a-z0-9_+\-.#]+", re.IGNORECASE | re.ASCII)
_INDENTED = re.compile(r"(?m)^(?: {4}.*(?:\n|\Z))+")
_OUT = re.compile(
    r"(?P<url>\]\(https?://[^\s<>()]+\)|https?://(?:(?!\]\()[^\s<>])+)"
    r"|(?P<ping>@(?=everyone|here)|<@(?=[!&]?\d))",
    re.IGNORECASE,
)
_PING = re.compile(r"@(?=everyone|here)|<@(?=[!&]?\d)", re.IGNORECASE)
_STRAY = re.compile(r"\\[^\w\s]|`")

Part = tuple[str, bool]
"""Some text, and whether it is a block of code that Discord will read as one."""


def as_discord_markdown(text: str) -> str:
    """The text in Discord's Markdown; pings are kept from ringing, everywhere but in code."""
    parts = list(_parts(text))
    last = max((n for n, (_, block) in enumerate(parts) if block), default=-1)
    written = "".join(
        _closed(part) if n < last and not block else part for n, (part, block) in enumerate(parts)
    )
    return change_outside_code(written, _safe)


def fence_indented_code(text: str) -> str:
    """Rows that are code by standing further in, which Discord does not know, in a fence."""

    def block(found: re.Match[str]) -> str:
        rows = [row[4:] for row in found[0].splitlines()]
        inner = "\n".join(rows).replace("```", f"`{APART}`{APART}`")
        return f"```\n{inner}\n```\n"

    return _INDENTED.sub(block, text)


def split_into_messages(text: str, limit: int = LIMIT) -> tuple[str, ...]:
    """Messages of at most `limit` units, by `as_discord_markdown`; none for a blank text.

    Where a cut goes through code, so that a ping in it would ring, it is kept from that too. Where
    it goes through a spoiler, or that is not ended yet, nothing of it shows.
    """
    found: list[str] = []
    text = as_discord_markdown(text)
    limit -= 2 * len(BARS) if BARS in text else 0
    for piece in split(text, limit):
        if change_outside_code(piece.text, _silent) == piece.text:
            found.append(piece.text)
        else:
            found += [part.text for part in split(_silent(piece.text), limit)]
    return tuple(cover_parts([part for part in found if part.strip(VOID)], spaced=True))


def _silent(text: str) -> str:
    return _PING.sub(rf"\g<0>{APART}", text)


def _safe(text: str) -> str:
    """Without pings; an address means the same, without the letters that ring."""

    def changed(found: re.Match[str]) -> str:
        return found[0] + APART if found["ping"] else _PING.sub("%40", found[0])

    return _OUT.sub(changed, text)


def _closed(prose: str) -> str:
    """Prose in which no backtick waits for another in the code that comes later."""
    parts, at = [], 0
    for start, end in find_code_spans(prose):
        span = prose[start:end]
        begun, ended = len(span) - len(span.lstrip("`")), len(span) - len(span.rstrip("`"))
        surplus = 0 if ended >= len("```") else max(0, begun - ended)
        parts += [_escaped(prose[at:start]), "\\`" * surplus, span[surplus:]]
        at = end
    return "".join([*parts, _escaped(prose[at:])])


def _escaped(text: str) -> str:
    return _STRAY.sub(lambda found: "\\`" if found[0] == "`" else found[0], text)


def _parts(text: str) -> Iterator[Part]:
    """The text as prose and code, each line of prose as Discord shows it."""
    at = 0
    for block in find_code_blocks(text):
        yield from _prose(text[at : block.start])
        yield _fenced(text, block)
        at = block.end
    yield from _prose(text[at:])


def _fenced(text: str, block: Block) -> Part:
    """A block of code with the fence that Discord knows; as it stands where there is no way."""
    inner = text[block.inner : block.outer]
    if "```" in inner or not inner.strip():
        end = "" if block.closed else f"\n{block.fence.mark}"
        return text[block.start : block.end] + end, False
    language = block.fence.language
    named = language if _LANGUAGE.fullmatch(language) else ""
    end = "" if inner.endswith("\n") else "\n"
    return f"```{named}\n{inner}{end}```", True


def _prose(text: str) -> Iterator[Part]:
    spans = [
        (start, end) for start, end in find_code_spans(text) if _BREAK.search(text, start, end)
    ]
    rows = list(lines_with_offsets(text))
    held = [
        any(start < at < end or start < at + len(line) < end for start, end in spans)
        for at, line, _ in rows
    ]
    n, kept = 0, ""
    for table in _open(find_markdown_tables(text), held):
        kept += "".join(
            _shown_line(text, *row, held=held[k]) for k, row in enumerate(rows[n : table.first], n)
        )
        yield kept, False
        yield f"```\n{align_columns(table.rows)}\n```", True
        n, kept = table.last, "\n" if table.last < len(rows) else ""
    kept += "".join(_shown_line(text, *row, held=held[k]) for k, row in enumerate(rows[n:], n))
    yield kept, False


def _open(found: list[MarkdownTable], held: list[bool]) -> list[MarkdownTable]:
    """The tables that stand in no code and hold none that would end their own block."""
    return [
        table
        for table in found
        if not any(held[table.first : table.last])
        and not any("```" in cell for row in table.rows for cell in row)
    ]


def _shown_line(text: str, at: int, words: str, after: int, *, held: bool) -> str:
    """One line as Discord shows it; `held` where code reaches into it from another line."""
    end = text[at + len(words) : after]
    if held:
        return words + end
    if _RULE.fullmatch(words):
        return RULE + end
    if (heading := _HEADING.fullmatch(words)) and (title := _heading_title(heading["words"])):
        bold = title if "**" in title and "`" in title else f"**{title.replace('**', '')}**"
        return bold + end
    return words + end


def _heading_title(words: str) -> str:
    """A heading without the marks that may close it."""
    title = words.strip(" \t")
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else title
