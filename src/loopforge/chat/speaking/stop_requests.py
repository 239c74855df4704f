"""Stop: the words, the sign and the reactions by which people silence mates.

Works on the text alone, in the words of some fifteen languages. What a stop does is the room's
(chat/server.py).
"""

import re
from collections.abc import Mapping

from loopforge.chat.speaking.name_mentions import WORD, find_mentions
from loopforge.core.text.topics import fold_case, normal_form

STOP_SIGN = "\N{OCTAGONAL SIGN}"
_STOPS = """
    stop stopp halt quiet silence enough arrête arrêtez stoppe stoppt ruhe aufhören schluss
    genug tais-toi taisez-vous silencio para parad parar basta alto cállate callaos detente
    silenzio smettila smettetela fermo ferma zitto zitta pare parem chega quieto silêncio
    przestań przestańcie stój cisza dość přestaň přestaňte ticho
    стоп
    хватит замолчи замолчите перестань тихо тишина досить dur durun yeter sus stil ophouden
    genoeg sluta tyst lopeta hiljaa
    ストップ やめて 止めて やめろ 止まって 静かに
    停 停下 停止 别说了 闭嘴 安静 그만 그만해
    멈춰 조용히 정지
"""
STOPS = frozenset(_STOPS.split())
"""Words that say stop, each alone."""
PHRASES = (
    ("shut", "up"),
    ("be", "quiet"),
    ("hör", "auf"),
    ("hört", "auf"),
    ("sei", "still"),
    ("seid", "still"),
    ("ça", "suffit"),
    ("ya", "basta"),
    ("hou", "op"),
    ("hou", "je", "mond"),
    ("stai", "zitto"),
    ("cala", "a", "boca"),
    ("ani", "słowa"),
)
"""Words that say so together."""
_FILLERS = """
    please pls it that this now just everyone everybody all talking ok okay bitte alle jetzt
    mal s'il vous te plaît plait maintenant tout le monde por favor ya todos ahora tutti ora
    adesso per favore todo mundo agora proszę już wszyscy teraz prosím všichni hned
    пожалуйста все уже сейчас lütfen artık herkes nu allemaal alsjeblieft iedereen nyt
"""
STOP_WORDS = STOPS | frozenset(_FILLERS.split())
"""A line of at most STOP_LENGTH words, all among these and one of them a stop, is a stop."""
STOP_LENGTH = 5

_BOT = re.compile(r"\A\s*@[\w-]+")


def is_stop(text: str, names: Mapping[str, str] | None = None, *, called: bool = False) -> bool:
    """Whether a line is just a stop: "stop", "STOP!", "/stop", "please stop", "stop it", the sign.

    "Stop by the shop" is none. It may be said to mates: `names` gives each one's name by handle;
    `called`: a mention that it begins with is of a bot that is there for several of them.
    """
    return _stops(text) or _stops(_unnamed(text, names or {}, called=called))


def _unnamed(text: str, names: Mapping[str, str], *, called: bool) -> str:
    """The folded text without the names of mates and mentions of them, wherever they stand."""
    text = fold_case(normal_form(text))
    if called:
        text = _BOT.sub(" ", text)
    spans = {(address.place, address.end) for _, address in find_mentions(text, names)}
    for place, end in sorted(spans, reverse=True):
        if text[place:end].lstrip("@") != "stop":  # a mate may have that name
            text = f"{text[:place]} {text[end:]}"
    return text


def _stops(text: str) -> bool:
    text = normal_form(text)
    words = [word.casefold() for word in WORD.findall(text)]
    if not words:
        return STOP_SIGN in text
    if len(words) > STOP_LENGTH:
        return False
    rest = _without_phrases(words)
    said = len(rest) < len(words) or not STOPS.isdisjoint(rest) or STOP_SIGN in text
    return said and STOP_WORDS.issuperset(rest)


def _without_phrases(words: list[str]) -> list[str]:
    for phrase in PHRASES:
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                return words[:at] + words[at + len(phrase) :]
    return words
