"""Spoilers: words between two pairs of bars, which chats show only to who asks for them.

What is hidden stays hidden where a line is cut into messages, where a spoiler goes on over lines
that a reader of Markdown reads one by one, and where it is not ended, or not yet. Bars in code
hide nothing; nor do those before a space, such as the *or* of programs, but where a platform says
so (`spaced`). Does not know how a platform shows what is hidden.
"""

import re
from collections.abc import Iterator, Sequence

from loopforge.io.text.code_spans import find_code_spans

BARS = "||"
COVERED = "▒▒▒"
"""Stands for what is hidden where nothing can be hidden."""
APART = "\u200b"
"""Shows nothing, and keeps a mark from being one."""
_MARK = re.compile(r"\\.|\|\|")
_MARKUP = re.compile(r"[ \t]*(?:(?:[-+*>]|\d{1,9}[.)]|#{1,6})[ \t]+)+")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^`]*")


def cover_parts(parts: Sequence[str], *, spaced: bool = False) -> Iterator[str]:
    """The parts of a text, with a spoiler that goes on closed in one and opened again in the next.

    With `spaced`, bars before a space hide too, if others follow.
    """
    marks = [list(_marks(part)) for part in parts]
    left, covered = sum(map(len, marks)), False
    for part, found in zip(parts, marks, strict=True):
        head = BARS * covered
        for at in found:
            left -= 1
            covered = not covered and (_hides(part, at) or (spaced and left > 0))
        yield f"{head}{part}{BARS * covered}"


def cover_lines(text: str) -> str:
    """The text, with each line of a spoiler hidden by itself; code in one loses its fence."""
    parts, after = [], 0
    for start, end in _spans(text):
        inner = text[start + len(BARS) : end]
        if "\n" in inner or BARS in inner or end == len(text):
            parts += [text[after:start], *_lines(inner)]
            after = min(end + len(BARS), len(text))
    return "".join([*parts, text[after:]])


def without_spoilers(text: str, *, spaced: bool = False) -> str:
    """The text, with a cover in place of what is hidden; `spaced` as above."""
    parts, after = [], 0
    for start, end in _spans(text, spaced=spaced):
        parts += [text[after:start], COVERED]
        after = min(end + len(BARS), len(text))
    return "".join([*parts, text[after:]])


def _spans(text: str, *, spaced: bool = False) -> Iterator[tuple[int, int]]:
    """Where the bars of each spoiler stand; the end of the text where none end it."""
    marks, opened = list(_marks(text)), -1
    for nth, at in enumerate(marks, 1):
        if opened >= 0:
            yield opened, at
            opened = -1
        elif _hides(text, at) or (spaced and nth < len(marks)):
            opened = at
    if opened >= 0:
        yield opened, len(text)


def _marks(text: str) -> Iterator[int]:
    """Where bars stand that are neither escaped nor in code."""
    code = iter(find_code_spans(text) if BARS in text else ())
    start, end = next(code, (len(text), len(text)))
    for found in _MARK.finditer(text):
        while end <= found.start() and start < len(text):
            start, end = next(code, (len(text), len(text)))
        if found[0] == BARS and found.start() < start:
            yield found.start()


def _hides(text: str, at: int) -> bool:
    """Whether these bars may begin a spoiler."""
    return text[at + len(BARS) : at + len(BARS) + 1] not in ("", " ", "\t")


def _lines(inner: str) -> Iterator[str]:
    """What is hidden, line by line, with the marks of lists and quotes before the bars."""
    code = False
    for line in inner.splitlines(keepends=True):
        words = line.rstrip()
        end = line[len(words) :]
        if _FENCE.fullmatch(words):
            code = not code
        elif not words or code:
            if words.endswith("```"):
                words, code = words[:-3].rstrip(), False
            hidden = _PUNCTUATION.sub(r"\\\g<0>", words)
            yield f"{BARS}{APART}{hidden}{BARS}{end}" if hidden else end
        else:
            marks = found[0] if (found := _MARKUP.match(words)) else ""
            hidden = words[len(marks) :].strip(" \t|").replace(BARS, f"|{APART}|")
            yield f"{marks}{BARS}{hidden}{BARS}{end}" if hidden else end
