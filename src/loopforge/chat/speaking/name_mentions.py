"""Names and mentions in a text: who is named in it, and whether it is a question.

Works on the text alone, in every language as far as names go: a name is a whole word, in scripts
with spaces between words; `@maya` is a mention, `joe@maya.org` and `maya` in code or in a quoted
line are not. Knows nothing of rooms or points.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from loopforge.core.text.topics import fold_case, is_unspaced_script

EVERYBODY = ("all", "everyone", "everybody", "mates", "here", "room")
"""With an @ before it, each of these mentions everybody, but for where it rings people's bells."""

QUESTION_MARKS = "?？؟\u037e"
QUESTIONWORDS = frozenset({"who", "what", "when", "where", "why", "how", "which", "whose", "whom"})
GENERAL = re.compile(
    r"(?<!\w)(?:any(?:one|body)|every(?:one|body)|some(?:one|body)|you\s+all|y['’]all|all\s+of\s+you"
    r"|you\s+(?:guys|two|three)|mates|folks|jemand|irgendwer|ihr\s+alle|alle|leute|quelqu['’]un|vous\s+tous"
    r"|tout\s+le\s+monde|alguien|tod[oa]s|qualcuno|tutti|ragazzi|algu[eé]m|gente|pessoal|ktoś|ktokolwiek"
    r"|wszyscy|někdo|všichni|кто[-\s]нибудь|кто[-\s]то|все|ребята|хтось|biri(?:si)?|kimse|herkes|hepiniz"
    r"|arkadaşlar|iemand|jullie|iedereen|noen|någon|nogen|joku)(?!\w)|誰か|だれか|みんな|皆さん|有人|大家|你们|누구|모두|다들"
)
_OPENING = 3
"""Words of a sentence in which everybody is called, where it asks nothing."""

_NOT_SAID = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code
    r"|`[^`\n]+`"  # code in a line
    r"|^[ \t]*>[^\n]*"  # a quoted line
    r"|\b[a-z]+://\S+"  # a link
    r"|\bwww\.\S+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_BROADCAST = re.compile(rf"(?<![\w+/-])@(?:{'|'.join(EVERYBODY)})(?!\w)")
WORD = re.compile(r"[^\W_]+(?:['’\-‐][^\W_]+)*")


class Addressee(NamedTuple):
    """One way in which somebody is addressed: "mention" or "name", and where it begins and ends."""

    summons: str
    place: int
    end: int


def strip_quotes_and_code(text: str, *, surface: str = "") -> str:
    """What a text says in the speaker's own words: no code, no quoted lines, no links; folded.

    On a platform (`surface` is a place there) @everyone and @here ring the bells of people, and
    are said to no mate: they are left out.
    """
    said = fold_case(_NOT_SAID.sub(" ", text))
    return _BROADCAST.sub(" ", said) if ":" in surface else said


def find_mentions(text: str, names: Mapping[str, str]) -> list[tuple[str, Addressee]]:
    """Who is addressed in a plain text, in order; `names` gives each one's name by handle.

    Where one name lies within another's ("Ann" in "Ann Lee"), the longer one is meant.
    """
    found = [
        (who, address)
        for who, name in names.items()
        for spelling in {fold_case(who), fold_case(name).strip()} - {""}
        for address in _addresses(text, spelling)
    ]
    for everybody in EVERYBODY:
        mentions = [a for a in _addresses(text, everybody) if a.summons == "mention"]
        found += [(who, mention) for mention in mentions for who in names]
    return list(_longest(found))


def _longest(found: list[tuple[str, Addressee]]) -> Iterator[tuple[str, Addressee]]:
    """The addresses in order, without those that lie within a longer one."""
    begun = reached = -1
    for who, address in sorted(found, key=lambda pair: (pair[1].place, -pair[1].end)):
        within = address.end <= reached
        if within and (address.place, address.end) != (begun, reached):
            continue
        yield who, address
        if address.end > reached:
            begun, reached = address.place, address.end


def _addresses(text: str, spelling: str) -> Iterator[Addressee]:
    """Where a folded name stands as a word, with an @ before it or without."""
    place = text.find(spelling)
    while place >= 0:
        end = place + len(spelling)
        if _ends(text, end):
            if text[place - 1 : place] == "@" and place > 0:
                if _begins_mention(text, place - 1):
                    yield Addressee("mention", place - 1, end)
            elif _begins(text, place):
                yield Addressee("name", place, end)
        place = text.find(spelling, place + 1)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")


def _begins(text: str, place: int) -> bool:
    """Whether a word may begin at this place."""
    if place == 0:
        return True
    before, first = text[place - 1], text[place]
    if before in "-‐":
        return place == 1 or not _in_word(text[place - 2])
    return not _in_word(before) or is_unspaced_script(before) or is_unspaced_script(first)


def _begins_mention(text: str, at: int) -> bool:
    """Whether the @ at this place begins a mention, and not the second half of an address."""
    before = text[at - 1 : at] if at else ""
    return not before or is_unspaced_script(before) or not (_in_word(before) or before in "+-/")


def _ends(text: str, end: int) -> bool:
    """Whether a word may end before this place."""
    if end >= len(text):
        return True
    last, after = text[end - 1], text[end]
    beyond = text[end + 1 : end + 2]
    if after in "-‐.@":  # Ann-Marie, maya.org, maya@example.org; but "maya - hi" and "maya."
        return not beyond or not _in_word(beyond)
    return (
        not _in_word(after)
        or is_unspaced_script(after)
        or is_unspaced_script(last)
        or _hangul(after)
    )


def _hangul(char: str) -> bool:
    """Korean particles follow a name without a space."""
    return 0xAC00 <= ord(char) <= 0xD7A3


def is_question(text: str) -> bool:
    """Whether a plain text asks: a question mark, or a question word at the start of a line."""
    if any(mark in text for mark in QUESTION_MARKS):
        return True
    openings = (WORD.search(line) for line in text.splitlines())
    return any(opening and opening[0] in QUESTIONWORDS for opening in openings)


def is_general(text: str) -> bool:
    """Whether a plain text calls on anyone or everyone: it asks them, or opens with them."""
    for call in GENERAL.finditer(text):
        line = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
        if len(line.split()) < _OPENING or is_question(text):
            return True
    return False
