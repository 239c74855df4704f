"""Splitting: a long text as pieces that a platform takes, and back again, exactly.

A text is cut where a reader would pause: between paragraphs, before a block of code, between lines,
at the end of a sentence, at a space; only else within a word, and never within a grapheme that can
be kept. A block of code that is cut is closed in one piece and opened again in the next. Blank
space around a cut is kept but not sent, since platforms trim it and refuse messages of nothing
else. A piece never depends on what comes much later, so what stands stays while a text grows.

Lengths are UTF-16 code units. Does not know other markup: bold or a table may be cut. A fence
in a quote is a line like any other.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from loopforge.errors import InputError
from loopforge.io.text.code_fences import (
    Block,
    CodeFence,
    find_code_blocks,
    opening_fence,
    unclosed_fence,
)
from loopforge.io.text.graphemes import end_within_units, is_inside_grapheme, utf16_length

LEAST = 40
"""The smallest limit: below it an opened and a closed fence leave no room for code."""
MOST = 4
"""Pieces before a text is better read as a file."""

VOID = "".join(map(chr, filter(lambda n: chr(n).isspace(), range(0x3001)))) + (
    "\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063"
    "\u2064\u2066\u2067\u2068\u2069\u2800\u3164\ufeff\ufffc"
)
"""Characters that show nothing: a message of them alone is refused."""

_VOID = re.compile(f"[{re.escape(VOID)}]*")
_PARAGRAPH = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?=[\r\n])")
_LINE = re.compile(r"\r\n|\r|\n")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_~`]*+(?=\s)|[。！？]+[」』”’）]*")
_CLAUSE = re.compile(r"\s+|[，、；：]+")

GOOD, TOLERABLE = 0.5, 0.2
"""How much of a piece is filled at least, where a better cut can be had for it."""


class MessagePiece(Struct, frozen=True):
    """One message.

    `text` is what is sent. Its first `head` and last `tail` characters were added, to open and
    close a block of code. `before` and `after` are blank space of the text that is not sent.
    """

    text: str
    head: int = 0
    tail: int = 0
    before: str = ""
    after: str = ""

    @property
    def own(self) -> str:
        """What of the sent text is the text's own."""
        return self.text[self.head : len(self.text) - self.tail]


class SplitFile(Struct, frozen=True):
    """A text as a file, and the piece of it that is shown beside it."""

    preview: MessagePiece
    name: str
    data: bytes


def split(text: str, limit: int) -> tuple[MessagePiece, ...]:
    """The text as pieces of at most `limit` units each; none for "". `join` is the way back.

    Raises InputError for a limit under 40.
    """
    return tuple(_pieces(text, limit))


def join(pieces: Iterable[MessagePiece]) -> str:
    """The text that was split."""
    return "".join(piece.before + piece.own + piece.after for piece in pieces)


def as_file(text: str, limit: int, most: int = MOST) -> SplitFile | None:
    """The text as a Markdown file, if it would be more than `most` pieces; else None."""
    if len(list(islice(_pieces(text, limit), most + 1))) <= most:
        return None
    first = next(_pieces(text, limit - len("\n…")))
    preview = MessagePiece(
        f"{first.text}\n…", first.head, first.tail + 2, first.before, first.after
    )
    words = re.findall(r"\w+", first.own.split("\n", 1)[0])
    name = "-".join(words).lower()[:40].strip("-_") or "text"
    return SplitFile(preview, f"{name}.md", text.encode("utf-8", "replace"))


# ---------------------------------------------------------------- one piece after the other


def _pieces(text: str, limit: int) -> Iterator[MessagePiece]:
    if limit < LEAST:
        raise InputError(f"A text cannot be cut into pieces of {limit}; use {LEAST} or more.")
    cutter = _Cutter(text, limit)
    start = _shown(text, 0)
    if start == len(text):
        yield from _nothing(text, limit)
        return
    before = text[:start]
    while start < len(text):
        piece = cutter.piece(start)
        start += len(piece.own) + len(piece.after)
        yield MessagePiece(piece.text, piece.head, piece.tail, before, piece.after)
        before = ""


def _nothing(text: str, limit: int) -> Iterator[MessagePiece]:
    start = 0
    while start < len(text):
        end = end_within_units(text, start, limit)
        yield MessagePiece(text[start:end])
        start = end


def _shown(text: str, at: int) -> int:
    """Where, from `at` on, the first character stands that shows something."""
    found = _VOID.match(text, at)
    assert found is not None
    return found.end()


class _Cutter:
    """A text that is being cut: where its blocks are, and where it may be cut best."""

    def __init__(self, text: str, limit: int) -> None:
        self.text, self.limit = text, limit
        self.blocks = find_code_blocks(text)
        self.starts = [block.start for block in self.blocks]
        self.end = len(text.rstrip(VOID))

    def piece(self, start: int) -> MessagePiece:
        """The piece that begins at `start`, where something is shown."""
        if self.end - start <= self.limit and (rest := self._made(start, len(self.text))):
            return rest
        head = self._head(start)
        room = self.limit - utf16_length(head)
        far = end_within_units(self.text, start, room)
        full = far - start if far < len(self.text) else room  # the same while the text grows
        for least, places in self._places(start, far):
            for at in places:
                if at - start < least * full or at <= start:
                    break
                if self._tidy(at, start) and (made := self._made(start, at)):
                    return made
        return self._hard(start, far)

    def _hard(self, start: int, far: int) -> MessagePiece:
        """Cut where nothing invites it: as late as possible, within a grapheme if it must be."""
        places = range(far, start, -1)
        tidy = (at for at in places if self._tidy(at, start))
        between = (at for at in places if not is_inside_grapheme(self.text, at, start))
        for chosen in (tidy, between, places):
            for at in chosen:
                if made := self._made(start, at):
                    return made
        raise AssertionError("one character and two fences fit into the least limit")

    def _places(self, start: int, far: int) -> Iterator[tuple[float, Sequence[int]]]:
        """Where to cut, best first: how full the piece must be, and the places, latest first."""
        outside: list[list[int]] = [
            [at for at, _ in self._found(pattern, start, far) if self._block(at) is None]
            for pattern in (_PARAGRAPH, _LINE)
        ]
        inside = [at for _, at in self._found(_LINE, start, far) if self._block(at)]
        ended = [at for _, at in self._found(_SENTENCE, start, far) if self._block(at) is None]
        spaces = [at for _, at in self._found(_CLAUSE, start, far)]
        met = self._met(start, far)
        yield GOOD, outside[0]
        yield GOOD / 2, [b.start for b in met if b.end > far or not b.closed]
        yield GOOD, [b.end for b in reversed(met) if b.end <= far and b.closed]
        yield GOOD, outside[1]
        gaps = [at for at in inside if self.text[at - 2 : at] == "\n\n"]
        yield (GOOD + 1) / 2, gaps
        yield GOOD, inside
        yield GOOD, ended
        yield GOOD, spaces
        for places in (*outside, inside, ended, spaces):
            yield TOLERABLE, places

    def _found(self, pattern: re.Pattern[str], start: int, far: int) -> list[tuple[int, int]]:
        spans = [found.span() for found in pattern.finditer(self.text, start, far + 2)]
        return [(a, b) for a, b in reversed(spans) if a <= far and b <= far + 2]

    def _made(self, start: int, at: int) -> MessagePiece | None:
        """What stands between the two as a piece; None where it does not fit or shows nothing."""
        text = self.text
        head, after, own = self._head(start), "", text[start:at]
        if self._block(at) is None or at >= self.end:
            own = own.rstrip(VOID)
            after = text[start + len(own) : _shown(text, at)]
        if not own:
            return None
        sent = head + own
        fence = unclosed_fence(sent)
        tail = _closing(fence, sent) if fence else ""
        if utf16_length(sent) + len(tail) > self.limit:
            return None
        return MessagePiece(sent + tail, len(head), len(tail), "", after)

    # ------------------------------------------------------------ blocks

    def _block(self, at: int) -> Block | None:
        """The block that a cut here would break."""
        n = bisect_left(self.starts, at) - 1
        if n < 0:
            return None
        block = self.blocks[n]
        return block if at < block.end or not block.closed else None

    def _met(self, start: int, far: int) -> Sequence[Block]:
        """The blocks of which something stands between the two."""
        first = max(0, bisect_left(self.starts, start) - 1)
        return self.blocks[first : bisect_left(self.starts, far)]

    def _head(self, start: int) -> str:
        """What opens again, in the piece that begins here, a block that was cut."""
        block = self._block(start)
        return _again(block.fence, self.limit) if block else ""

    def _tidy(self, at: int, start: int) -> bool:
        """Whether a cut here leaves no empty block, makes none, and parts no grapheme.

        The piece begins at `start`: a flag is told from the next one by its place behind it.
        """
        if is_inside_grapheme(self.text, at, start):
            return False
        block = self._block(at)
        if block is None:
            then = _shown(self.text, at)
            return opening_fence(self.text, then) is None or self._block(then + 1) is not None
        begun = self.text[block.inner : at].strip()
        left = self.text[at : block.outer].strip()
        return bool(begun and left) and self.text[at : at + 3] not in ("```", "~~~")


def _closing(fence: CodeFence, sent: str) -> str:
    return ("" if sent.endswith("\n") else "\n") + " " * fence.indent + fence.mark


def _again(fence: CodeFence, limit: int) -> str:
    """The line that opens a fence once more; without its words where these are long."""
    mark = fence.mark if len(fence.mark) <= max(3, limit // 8) else fence.mark[:3]
    room = limit // 4
    for info in (fence.info, "" if fence.language.startswith(mark[0]) else fence.language):
        if utf16_length(mark + info) <= room:
            return f"{mark}{info}\n"
    return f"{mark}\n"
