"""What a mate says, as Discord will show it, and so that it calls nobody who was not meant.

Discord knows no tables, no headings below the third, no rules and no fences but of three
backticks: `as_discord_markdown` writes these in ways that it knows. Names that would ring
everybody's bell are kept from doing so; that no mention is allowed stands in the request besides.
Code stays as it is.

Does not know who could be mentioned: whoever shall be, is mentioned by the one who sends.
"""

import re
from collections.abc import Iterator

from loopforge.io.discord.text.code_spans import change_outside_code, find_code_spans
from loopforge.io.text.code_fences import Block, find_code_blocks, lines_with_offsets
from loopforge.io.text.markdown_tables import MarkdownTable, align_columns, find_markdown_tables
from loopforge.io.text.message_split import VOID, split

LIMIT = 2000
"""Units of one message."""
RULE = "─" * 12
_APART = "\u200b"
"""Shows nothing, and keeps a mark from being one."""

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
        inner = "\n".join(rows).replace("```", f"`{_APART}`{_APART}`")
        return f"```\n{inner}\n```\n"

    return _INDENTED.sub(block, text)


def split_into_messages(text: str, limit: int = LIMIT) -> tuple[str, ...]:
    """Messages of at most `limit` units, by `as_discord_markdown`; none for a blank text.

    Where a cut goes through code, so that a ping in it would ring, it is kept from that too.
    """
    found: list[str] = []
    for piece in split(as_discord_markdown(text), limit):
        if change_outside_code(piece.text, _silent) == piece.text:
            found.append(piece.text)
        else:
            found += [part.text for part in split(_silent(piece.text), limit)]
    return tuple(part for part in found if part.strip(VOID))


def _silent(text: str) -> str:
    return _PING.sub(rf"\g<0>{_APART}", text)


def _safe(text: str) -> str:
    """Without pings; an address means the same, without the letters that ring."""

    def changed(found: re.Match[str]) -> str:
        return found[0] + _APART if found["ping"] else _PING.sub("%40", found[0])

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


# ---------------------------------------------------------------- blocks and lines


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
            _line(text, *row, held=held[k]) for k, row in enumerate(rows[n : table.first], n)
        )
        yield kept, False
        yield f"```\n{align_columns(table.rows)}\n```", True
        n, kept = table.last, "\n" if table.last < len(rows) else ""
    kept += "".join(_line(text, *row, held=held[k]) for k, row in enumerate(rows[n:], n))
    yield kept, False


def _open(found: list[MarkdownTable], held: list[bool]) -> list[MarkdownTable]:
    """The tables that stand in no code and hold none that would end their own block."""
    return [
        table
        for table in found
        if not any(held[table.first : table.last])
        and not any("```" in cell for row in table.rows for cell in row)
    ]


def _line(text: str, at: int, words: str, after: int, *, held: bool) -> str:
    """One line as Discord shows it; `held` where code reaches into it from another line."""
    end = text[at + len(words) : after]
    if held:
        return words + end
    if _RULE.fullmatch(words):
        return RULE + end
    if (heading := _HEADING.fullmatch(words)) and (title := _title(heading["words"])):
        bold = title if "**" in title and "`" in title else f"**{title.replace('**', '')}**"
        return bold + end
    return words + end


def _title(words: str) -> str:
    """A heading without the marks that may close it."""
    title = words.strip(" \t")
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else title
