r"""Edits of a text by exact match: the old words stand there once, and become the new ones. Pure.

    edited("a = 1\nb = 1\n", "a = 1", "a = 2")  ->  "a = 2\nb = 1\n"

A match that is not unique, or is only nearly one, is refused with what stands there, so that the
next try can be exact. Line ends of the file are kept where the words were given with others. Of
unified patches, the counts of lines and the line ends are set right, which models get wrong.
"""

import heapq
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from loopforge.errors import InputError

LARGEST = 2_000_000
"""Bytes of a file that is read or edited, and signs of what it becomes."""
SHOWN = 12
"""Lines that are shown of what is nearly the wanted words."""
NEARLY = 0.6
BEGINNING, WEIGHED = 200, 40
"""Of a line, how many signs are held against the wanted ones; and of how many lines exactly."""
_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@(?P<rest>.*)")
_FILE = re.compile(r"--- [^/\n]+/(?P<path>[^\t\r\n]+)")
"""The head of a file that is changed: below the first folder, as git takes it."""


def replace_words(text: str, old: str, new: str, *, everywhere: bool = False) -> str:
    """The text with the words replaced. Raises InputError, which says what to do."""
    if old == new:
        raise InputError("the old and the new words are the same; nothing was changed")
    if not old:
        raise InputError("say which words are to be replaced; a new file is written whole")
    as_given = "\n" in old and old in text  # a file may have both ends
    if "\r\n" in text and "\r\n" not in old and not as_given:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    found = text.count(old)
    if not found:
        raise InputError(f"these words do not stand there exactly so. {_nearest(text, old)}")
    if found > 1 and not everywhere:
        lines = _lines_of(text, old)
        raise InputError(
            f"these words stand there {found} times (lines {lines}); give more of what is around "
            "the place that is meant, or say that all are"
        )
    if (long := len(text) + found * (len(new) - len(old))) > LARGEST:
        raise InputError(f"the file would have {long:,} signs; {LARGEST:,} are the most")
    return text.replace(old, new)


def _lines_of(text: str, old: str) -> str:
    lines, at = list[int](), text.find(old)
    while at >= 0 and len(lines) < 10:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(old, at + len(old))
    return ", ".join(map(str, lines))


def _nearest(text: str, old: str) -> str:
    """The lines that are most like the wanted ones."""
    lines, wanted = text.splitlines(), old.splitlines()
    first = next((line.strip() for line in wanted if line.strip()), "")
    if not first or not lines:
        return "Read the file first."
    score, place = _most_alike(lines, first)
    if score < NEARLY:
        return "Nothing there is like them; read the file first."
    lead = next(nth for nth, line in enumerate(wanted) if line.strip())
    at = max(0, place - lead)
    shown = "\n".join(lines[at : at + min(len(wanted), SHOWN)])
    return f"Most like them, from line {at + 1}:\n{shown}"


def _most_alike(lines: Sequence[str], wanted: str) -> tuple[float, int]:
    """How like it the line is that is most so, and which; of a line, its beginning counts."""
    matcher = SequenceMatcher(None, "", wanted[:BEGINNING], autojunk=False)

    def score(at: int, ratio: Callable[[], float]) -> float:
        matcher.set_seq1(lines[at].strip()[:BEGINNING])
        return ratio() if matcher.real_quick_ratio() >= NEARLY else 0.0

    places = heapq.nlargest(
        WEIGHED, range(len(lines)), lambda at: (score(at, matcher.quick_ratio), -at)
    )
    best = max(places, key=lambda at: (score(at, matcher.ratio), -at))
    return score(best, matcher.ratio), best


def text_lines(text: str) -> list[str]:
    """The lines of a text, each with its end, as git and grep count them: by line feeds alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def ends_as_windows(text: str) -> bool:
    r"""Whether all lines of a file end in \r\n."""
    return "\r\n" in text and "\n" not in text.replace("\r\n", "")


def set_patch_right(patch: str, text_of: Callable[[str], str]) -> str:
    r"""A unified patch whose heads say how many lines there are; where they begin stays.

    `text_of` gives what stands in a file, "" of none: where lines end in \r\n there, those of the
    patch do as well.
    """
    lines, done, at, file = text_lines(patch), list[str](), 0, ""
    while at < len(lines):
        head = _HUNK.match(lines[at])
        at += 1
        if head is None:
            if named := _FILE.match(lines[at - 1]):
                file = named["path"]
            done.append(lines[at - 1])
            continue
        end = at
        while end < len(lines) and _within(lines, end):
            end += 1
        body = lines[at:end]
        old = sum(line[0] in " -\n\r" for line in body)
        new = sum(line[0] in " +\n\r" for line in body)
        rest = head["rest"].rstrip("\r\n")
        if file and not any("\r" in line for line in body) and "\r\n" in (text := text_of(file)):
            body = _ended_as(text, body)
        done += [f"@@ -{head['old']},{old} +{head['new']},{new} @@{rest}\n", *body]
        at = end
    return "".join(done)


def _ended_as(text: str, hunk: list[str]) -> list[str]:
    """The lines of a hunk, each ended as it is in the file; a new one as the line before it.

    Of a file with both ends: where they stand there once. A last line that has no end gets none.
    """
    here, end, done = iter(list[str]()), "\r\n", list[str]()
    if not ends_as_windows(text):
        there = text_lines(text)
        old = [line.strip("\n")[1:] for line in hunk if line[0] in " -\n"]
        bare = [line.removesuffix("\n").removesuffix("\r") for line in there]
        places = [at for at in range(len(bare)) if bare[at : at + len(old)] == old]
        if len(places) != 1:
            return hunk
        here, before = iter(there[places[0] :]), there[max(0, places[0] - 1)]
        end = "\r\n" if before.endswith("\r\n") else "\n"
    for line, after in zip(hunk, [*hunk[1:], ""], strict=True):
        stands = next(here, "") if line[0] in " -\n" else ""
        if stands.endswith("\n"):
            end = "\r\n" if stands.endswith("\r\n") else "\n"
        whole = "\\" in (line[0], after[:1])
        done.append(line if whole else f"{line.removesuffix(chr(10)) or ' '}{end}")
    return done


def _within(lines: list[str], at: int) -> bool:
    """Whether this line is one of a hunk, and not the head of the next file."""
    line, after = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    if line.startswith("--- ") and after.startswith("+++ "):
        return False
    if line in ("\n", "\r\n"):  # a blank line of context whose space was lost, or the end
        return any(each[:1] in " +-" for each in lines[at + 1 : at + 2]) and not (
            after.startswith("--- ")
        )
    return line[0] in " +-\\"
