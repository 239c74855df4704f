"""Fences: the blocks of code that lines of ``` or ~~~ set off in a text, as CommonMark has them.

A fence is indented by three spaces at most and is closed by a line of the same marks, at least as
many. It may also stand behind the mark of a list item; then it is indented as the item's words are,
and ends with the item. Does not know quotes: a fence in one is a line like any other.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_OPENING = re.compile(
    r"((?: *(?:[-+*]|\d{1,9}[.)]) {1,4}+)*+) {0,3}"
    r"(`{3,}(?=[^`\r\n]*(?:[\r\n]|\Z))|~{3,})([^\r\n]*)"
)
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")


class CodeFence(Struct, frozen=True):
    """What opens a block: its marks, and what stands behind them in that line, as it stands.

    `indent` is how far the words of the list item are indented in which it stands.
    """

    mark: str
    info: str = ""
    indent: int = 0

    @property
    def language(self) -> str:
        """The first word behind the marks; "" without one."""
        return (self.info.split() or [""])[0]


class Block(Struct, frozen=True):
    """One block, by indices into the text.

    `[start, inner)` is the line that opens it, from its marks on, `[inner, outer)` the code,
    `[outer, end)` the line that closes it, without its line break. Where nothing closes it,
    `outer` and `end` are the length of the text.
    """

    fence: CodeFence
    start: int
    inner: int
    outer: int
    end: int
    closed: bool


def opening_fence(text: str, at: int = 0) -> CodeFence | None:
    """The fence that a line beginning at `at` opens."""
    found = _OPENING.match(text, at)
    return CodeFence(found[2], found[3], len(found[1])) if found else None


def lines_with_offsets(text: str) -> Iterator[tuple[int, str, int]]:
    """Each line as where it begins, its words, and where the next begins."""
    at = 0
    while at < len(text):
        found = _LINE.match(text, at)
        assert found is not None
        yield at, found[1], found.end()
        at = found.end()


def find_code_blocks(text: str) -> tuple[Block, ...]:
    """All blocks in order; only the last one may be left open."""
    found: list[Block] = []
    fence: CodeFence | None = None
    start = inner = 0
    for at, words, after in lines_with_offsets(text):
        if fence is not None and _leaves(words, fence):
            end = start + len(text[start:at].rstrip("\r\n"))
            found.append(Block(fence, start, min(inner, end), end, end, closed=True))
            fence = None
        if fence is None:
            if fence := opening_fence(words):
                start, inner = at + words.index(fence.mark + fence.info), after
        elif _closes(words, fence):
            found.append(Block(fence, start, inner, at, at + len(words), closed=True))
            fence = None
    if fence is not None:
        found.append(Block(fence, start, inner, len(text), len(text), closed=False))
    return tuple(found)


def unclosed_fence(text: str) -> CodeFence | None:
    """The fence that a text opens and does not close."""
    last = find_code_blocks(text)[-1:]
    return last[0].fence if last and not last[0].closed else None


def _closes(line: str, fence: CodeFence) -> bool:
    found = _CLOSING.fullmatch(line[fence.indent :])
    return found is not None and found[1].startswith(fence.mark)


def _leaves(line: str, fence: CodeFence) -> bool:
    """Whether a line stands outside the list item of a fence."""
    return bool(line[: fence.indent].strip())
