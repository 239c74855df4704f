"""Code in a line of chat, as chats read it: where it stands, and a change of all else.

Fences stand anywhere in a line, are of three backticks alone, end at the next three, and hold
something; a span of code ends at the next run of as many backticks. An escaped backtick begins
nothing. Does not know fences of tildes or of more marks: see `code_fences` for CommonMark's.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

_MARK = re.compile(r"\\[^\w\s]|`+", re.ASCII)
_NAMED = re.compile(r"```[a-z0-9_+\-.#]+\n+", re.IGNORECASE | re.ASCII)
_BARE = re.compile(r"```\n*")
_RUN = re.compile("`+")


def find_code_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where code begins and ends, marks included, in order."""
    return tuple(_found(text))


def change_outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with everything that is not code changed, part by part."""
    parts, at = [], 0
    for start, end in find_code_spans(text):
        parts += [change(text[at:start]), text[start:end]]
        at = end
    return "".join([*parts, change(text[at:])])


def _found(text: str) -> Iterator[tuple[int, int]]:
    runs: dict[int, list[int]] = {}
    for run in _RUN.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if not mark[0].startswith("`"):
            continue
        end = _block(text, mark) or _span(runs, mark)
        if end:
            yield mark.start(), end
            at = end


def _block(text: str, mark: re.Match[str]) -> int:
    """The end of the block that begins here; 0 where none does."""
    if len(mark[0]) < len("```"):
        return 0
    for opening in (_NAMED, _BARE):
        found = opening.match(text, mark.start())
        if found and (end := text.find("```", found.end() + 1)) >= 0:
            return end + 3
    return 0


def _span(runs: dict[int, list[int]], mark: re.Match[str]) -> int:
    """The end of the span that begins here: as many backticks as begin it, or fewer."""
    for length in range(len(mark[0]), 0, -1):
        starts = runs.get(length, [])
        n = bisect_left(starts, mark.end())
        if n < len(starts):
            return starts[n] + length
    return 0
