"""Files that an answer sends by naming them: `Here it is: <<out/report.pdf>>`. Pure.

    named_files("See <<a.csv>> and <<a.csv>>.")  ->  ("a.csv",)
    without_marks("See <<a.csv>>.", {"a.csv": "a.csv"})  ->  "See a.csv."

What stands within a fenced block or between backticks is code, where `<<` shifts bits and begins
here-documents; it names no file. Does not know whether there is such a file, nor who may have it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from operator import itemgetter

LONGEST = 1_000
"""Signs of a path."""
_MARK = re.compile(rf"<<[ \t]*+([^<>\n\r`]{{1,{LONGEST}}}+)>>")
_FENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"(?<!`)(?P<ticks>`++).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)


def named_files(text: str) -> tuple[str, ...]:
    """The paths that a text names so, each once, in order."""
    return tuple(dict.fromkeys(map(_path, _marks(text))))


def without_marks(text: str, shown: Mapping[str, str]) -> str:
    """The text with each mark replaced by what is to be shown for its path, or else by the path."""
    parts, last = list[str](), 0
    for mark in _marks(text):
        path = _path(mark)
        parts += [text[last : mark.start()], shown.get(path, path)]
        last = mark.end()
    return "".join([*parts, text[last:]])


def _path(mark: re.Match[str]) -> str:
    return mark[1].rstrip(" \t")


def _marks(text: str) -> Iterator[re.Match[str]]:
    fences = [found.span() for found in _FENCE.finditer(text)]
    code = [found.span() for found in _CODE.finditer(text) if not _within(fences, found.start())]
    for mark in _MARK.finditer(text):
        if not _within(fences, mark.start()) and not _within(code, mark.start()):
            yield mark


def _within(spans: list[tuple[int, int]], at: int) -> bool:
    """Whether a place lies in one of these spans, which stand in order, apart from each other."""
    nth = bisect_right(spans, at, key=itemgetter(0)) - 1
    return nth >= 0 and at < spans[nth][1]
