"""Remember and forget, as people say it: read from the words alone, without a model.

    @maya, please remember that I am vegetarian     keep: "I am vegetarian"
    vergiss, dass ich in Riga wohne                 forget: "ich in Riga wohne"
    always answer me in German                      a standing wish, kept as it was said

Only at the beginning of a line (after a name and a word of courtesy), never in a question; in six
languages. For which mates a wish is stands here, too; what becomes of it is decided elsewhere
(chat/service/memory_wishes.py).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.permissions import is_answerable
from loopforge.chat.room.room_state import RoomState
from loopforge.core.context_window import ContextEntry
from loopforge.core.memory.memory_vocabulary import EvidenceLine
from loopforge.core.room_vocabulary import MemoryAsked, Weight
from loopforge.core.text.erasable_text import Words

Want = Literal["keep", "forget"]
LONGEST_WISH = 400
"""Characters of what is kept; what is longer is no sentence to be kept."""


class MemoryWish(NamedTuple):
    """What somebody wants kept or let go of; `standing`: it is how they want to be talked to.

    `subject` is what such a wish is about, where a later one of the same takes its place.
    """

    want: Want
    text: str
    standing: bool = False
    subject: str = ""


_CALL = re.compile(
    r"\A\s*(?:@?[\w.-]{1,40}(?:\s*[,:!]\s*|\s+(?=please\b|bitte\b))|@[\w-]{1,40}\s+)?"
    r"(?:(?:please|pls|bitte|s'il (?:te|vous) pla[iî]t|por favor|per favore|hey|ok(?:ay)?|and|und)"
    r"[\s,]+)*",
    re.IGNORECASE,
)
_KEEP = (
    r"(?:please\s+)?(?:always\s+)?remember(?:\s+this|\s+please)?(?:\s+that\b|\s*:)",
    r"keep\s+in\s+mind(?:\s+that\b|\s*:)",
    r"(?:make\s+a\s+)?note(?:\s+that\b|\s*:)",
    r"(?:don'?t|do\s+not|never)\s+forget(?:\s+that\b|\s*:)",
    r"merk\w*\s+(?:dir|euch)(?:\s+bitte)?(?:\s*,?\s*dass\b|\s*:)",
    r"denk\w*\s+dran(?:\s*,?\s*dass\b|\s*:)",
    r"vergiss\s+(?:bitte\s+)?nicht(?:\s*,?\s*dass\b|\s*:)",
    r"souviens[- ]toi(?:\s+que\b|\s+qu'|\s*:)",
    r"rappelle[- ]toi(?:\s+que\b|\s+qu'|\s*:)",
    r"retiens(?:\s+que\b|\s+qu'|\s*:)",
    r"n'oublie\s+pas(?:\s+que\b|\s+qu'|\s*:)",
    r"recuerda(?:\s+que\b|\s*:)",
    r"acu[eé]rdate(?:\s+de)?(?:\s+que\b|\s*:)",
    r"no\s+olvides(?:\s+que\b|\s*:)",
    r"ricorda(?:ti)?(?:\s+che\b|\s*:)",
    r"non\s+dimenticare(?:\s+che\b|\s*:)",
    r"lembra(?:-te)?(?:\s+de)?(?:\s+que\b|\s*:)",
    r"lembre-se(?:\s+de)?(?:\s+que\b|\s*:)",
    r"n[aã]o\s+(?:te\s+)?esque[cç]as?(?:\s+que\b|\s*:)",
)
_FORGET = (
    r"(?:please\s+)?forget(?:\s+that\b|\s+about\b|\s*:|\s+what\s+(?:i|you)\s+\w+\s+(?:of|about)\b)",
    r"vergiss(?:\s+bitte)?(?!\s+(?:bitte\s+)?nicht)(?:\s*,?\s*dass\b|\s*,?\s*was\b|\s*:)",
    r"oublie(?:\s+que\b|\s+qu'|\s*:)",
    r"olvida(?:\s+que\b|\s*:)",
    r"dimentica(?:\s+che\b|\s*:)",
    r"esque[cç]e?(?:\s+que\b|\s*:)",
)
_SPEAK = (
    r"answer|reply|respond|speak|talk|write|call|address|use"
    r"|antworte\w*|sprich|red[e]?|schreib\w*|nenn\w*|duze?|sieze?"
    r"|r[eé]ponds|parle|[eé]cris|appelle|tutoie"
    r"|responde|habla|escribe|ll[aá]ma(?:me)?"
    r"|rispondi|parla|scrivi|chiama(?:mi)?"
    r"|responda|fala|fale|escreve|chama"
)
_ALWAYS = (
    r"always|never|from\s+now\s+on|immer|ab\s+jetzt|von\s+nun\s+an|k[uü]nftig|toujours|d[eé]sormais"
    r"|siempre|nunca|de\s+ahora\s+en\s+adelante|sempre|d'ora\s+in\s+poi|a\s+partir\s+de\s+agora"
)
_WISHES: tuple[tuple[Want, re.Pattern[str]], ...] = (
    ("keep", re.compile(rf"(?:{'|'.join(_KEEP)})\s*", re.IGNORECASE)),
    ("forget", re.compile(rf"(?:{'|'.join(_FORGET)})\s*", re.IGNORECASE)),
)
_STANDING = re.compile(
    rf"(?:(?:{_ALWAYS})[\s,]+(?:please\s+|bitte\s+)?(?:{_SPEAK})\b"
    rf"|(?:{_SPEAK})\s+(?:\w+\s+){{0,2}}(?:{_ALWAYS})\b)",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"\b(?:in|auf|en|em)\s+(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian"
    r"|englisch|deutsch|franz[oö]sisch|spanisch|italienisch|anglais|allemand|fran[cç]ais|espagnol"
    r"|ingl[eé]s|alem[aá]n|franc[eé]s|espa[nñ]ol|inglese|tedesco|francese|spagnolo|italiano"
    r"|ingl[eê]s|alem[aã]o|portugu[eê]s)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:call me|nenn\w* mich|appelle[- ]moi|ll[aá]mame|chiamami)\b", re.IGNORECASE
)


def memory_wish(text: str) -> MemoryWish | None:
    """What a line asks to be kept or forgotten; None for nearly every line."""
    said = " ".join(text.split())
    if said.endswith(("?", "？")) or len(said) > LONGEST_WISH:
        return None
    call = _CALL.match(said)
    for start in {0, call.end() if call else 0}:
        rest = said[start:]
        for want, pattern in _WISHES:
            if (found := pattern.match(rest)) and (what := _bare(rest[found.end() :])):
                standing = want == "keep" and _STANDING.match(what) is not None
                return MemoryWish(want, what, standing, _subject(what) if standing else "")
        if _STANDING.match(rest):
            return MemoryWish("keep", _bare(rest), standing=True, subject=_subject(rest))
    return None


def _bare(text: str) -> str:
    """The words themselves."""
    return text.strip(" \t,;:\"“”'").rstrip(".!").strip()


def _subject(text: str) -> str:
    """What a standing wish is about; "" where two of its kind may hold at once."""
    if _LANGUAGE.search(text):
        return "language"
    return "name" if _NAMED.search(text) else ""


def wishes_in(
    state: RoomState,
    pending: Sequence[ContextEntry],
    weights: Sequence[Weight],
    alone: Callable[[ContextEntry], Sequence[Weight]],
    guests: GuestRules,
) -> Iterator[tuple[str, MemoryAsked]]:
    """What people asked to be kept or forgotten in these lines, each with its line.

    Of the mates that were called by the line; of all in the room where none was; of nobody where no
    mate is for who said it, or where they are not answered. `alone` weighs a line that was gathered
    with later ones, whose weights are those of the last.
    """
    for entry in pending if state.mates else ():
        if entry.kind != "heard" or entry.bot or entry.text.text is None:
            continue
        if not is_answerable(state, entry):
            continue
        if entry.id not in state.lines:  # deleted while it was weighed
            continue
        if (wish := memory_wish(entry.text.text)) is None:
            continue
        own = [w for w in weights if w.line == entry.id] or alone(entry)
        called = [w.mate for w in own if w.verdict == "speak" and w.caller == entry.id]
        named = [w.mate for w in own if w.summons in ("mention", "name") and w.mate in called]
        mates = named or called or state.mates
        if not (mates := [m for m in mates if not guests.barred(state, [entry], m)]):
            continue
        yield (
            entry.id,
            MemoryAsked(
                want=wish.want,
                text=Words(wish.text),
                mates=tuple(mates),
                lines=(EvidenceLine(state.stream, entry.seq, entry.id),),
                person=entry.who,
                standing=wish.standing,
                subject=wish.subject,
                trusted=not entry.untrusted,
            ),
        )
