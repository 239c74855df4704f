"""Calling: whether a name in a text calls who bears it, or only speaks of them.

    "maya, what time is it"   "good night maya"   "what do you think, maya?"   called
    "Ben, I think Maya was rude"   "Zuzu's joke"   "what did Merlin say?"      about
    "not you, maya"   "everybody but Maya"                                     not

By place and the words beside it: a name that stands alone, opens a sentence, or ends one behind a
comma, a greeting or a "you" calls; elsewhere it is spoken of. English and German most, the
commonest words of a few other languages. Works on folded text (addressee.py). What it cannot tell
is "about": then its mate is asked whether it has something to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from loopforge.chat.speaking.addressee import Addressee, named

Sense = Literal["called", "about", "not"]

_YOU = (
    "you|du|dich|dir|sie|ihr|euch|toi|tu|te|vous|t[uú]|ti|usted(?:es)?|vosotros|voi|voc[eê]s?|jij|jou|je"
    "|dig|deg|ты|тебя|тебе|вы"
)
_NOT = re.compile(
    rf"(?<!\w)(?:(?:not|nicht|pas|no|non|não|niet|ikke|inte|не)\s+(?:{_YOU})\s*,?"
    r"|(?:not|nicht|pas|não|niet|ikke|inte|не)(?:\s+(?:for|to|an|für|pour|para))?"
    r"|(?:except(?:\s+for)?|außer|ausser|sauf|excepto|excepté|salvo|tranne|behalve|utom|кроме))"
    r"\s*[(@]?\Z"
)
_NOT_AFTER = re.compile(
    rf"\s*,?\s*(?:not|nicht|pas|no|non|não|niet|ikke|inte|не)\s+(?:{_YOU})(?!\w)"
)
_EXCEPT = re.compile(
    r"(?<!\w)(?:every(?:body|one)|any(?:body|one)|all(?:\s+of\s+you)?|you\s+all|mates|folks|alle|jeder"
    r"|ihr\s+alle|tous|toutes|tout\s+le\s+monde|tod[oa]s|tutti|iedereen|allemaal|alla|alle\s+sammen|все)"
    r"\s*,?\s*(?:but|except(?:\s+for)?|besides|apart\s+from|other\s+than|außer|ausser|bis\s+auf|sauf"
    r"|à\s+part|excepté|menos|excepto|salvo|tranne|eccetto|meno|exceto|behalve|utom|кроме)\s+(?:@)?\Z"
)
_JOINT = re.compile(r"\s*(?:,|&|\+|/)?\s*(?:(?:and|und|et|y|e|en|och|og|or|oder|и)\s+)?@?")
_SPOKEN_OF = re.compile(
    r"\s*(?:['’]s?(?!\w)|(?:is|was|are|were|sind|waren|sont|son|isn['’]t|wasn['’]t|has|had|hasn['’]t|said|says|thinks|thought|likes|liked"
    r"|loves|hates|knows|knew|told|tells|asked|asks|went|goes|came|comes|gave|made|makes|did|does|didn['’]t"
    r"|doesn['’]t|seems|looks|looked|wants|wanted|and|or|und|oder|et|och|en|og|ist|war|hat|hatte|sagt|sagte|meint|meinte"
    r"|denkt|mag|will|kann|wird|würde|est|était|a|dit|pense|es|era|fue|ha|dijo|dice|piensa|è|disse|foi|é"
    r"|которая|который|сказала?)(?!\w))"
)
_ASKS = re.compile(rf"\s*(?:will|can|kann|does|did|will)\s+(?:{_YOU})(?!\w)")
_HAIL = re.compile(
    r"(?:\A|(?<!\w))(?:hi|hey|hello|hiya|yo|oh|ah|ok|okay|well|so|and|but|yes|no|yeah|nope|please|pls|dear|sorry"
    r"|thanks|thank\s+you|thx|cheers|bye|goodbye|welcome(?:\s+back)?|congratulations|good\s+\w+|right|eh"
    r"|hallo|moin|servus|danke|bitte|ja|nein|guten?\s+\w+|tschüss|liebe[rs]?|salut|bonjour|bonsoir|merci"
    r"|bonne\s+nuit|coucou|hola|gracias|buen[oa]s\s+\w+|adiós|ciao|grazie|buon\w*(?:\s+\w+)?|olá|oi|obrigad[oa]"
    r"|bo[am]\s+\w+|привет|спасибо|hoi|dank\s+je|hej|tack|i\s+mean(?:t)?|ich\s+meine?|je\s+veux\s+dire"
    r"|quiero\s+decir|over\s+to)\s*,?\s*\Z"
)
_OF = re.compile(
    r"(?<!\w)(?:of|about|from|with|like|than|to|for|by|at|over|on|and|or|the|ask|tell|love|hate|know|see|meet"
    r"|von|über|mit|für|an|zu|bei|und|oder|de|du|sur|avec|pour|à|et|con|para|por|di|su|per|e|y|van|met|о|с|про)"
    r"\s+\Z"
)
_YOURS = re.compile(rf"(?<!\w)(?:{_YOU}|your|yours|dein\w*|euer|votre|tes|tus?|seu)(?!\w)")
_OPEN = re.compile(r"[\s\"'“”‘’«»(\[*_~>¿¡\-–—]*\Z")
_TITLE = "(?:さん|ちゃん|くん|様|님|씨|야|아)?"
_CLOSED = re.compile(_TITLE + r"[\s\"'”’»)\]*_~]*(?:\Z|[,;:!?.…–—、。！？，：]|-\s)")
_ENDED = re.compile(_TITLE + r"[\s\"'”’»)\]*_~\U0001f300-\U0001faff]*\Z")
_SENTENCE = re.compile(r"[.!?…。！？\n]+(?:\s|\Z)|[。！？\n]")
_PAUSE = re.compile(r"[,;:、，：(]\s*[\"'“«]?\Z|\s[-–—]\s*\Z")


class NameCall(NamedTuple):
    """In which sense somebody is named, how, and where."""

    who: str
    address: Addressee
    sense: Sense


class _Span(NamedTuple):
    """Names that stand in a row, as one."""

    place: int
    end: int
    names: list[tuple[str, Addressee]]


def calls(text: str, names: Mapping[str, str], others: Mapping[str, str] = {}) -> list[NameCall]:
    """Who is named in a plain text, in order, and in which sense.

    `others` are further names by id (of people), which may be the ones that a sentence is said to.
    "Everybody but Zuzu", said to them, calls all others of `names`.
    """
    spans = _spans(text, named(text, {**others, **names}))
    found: list[NameCall] = []
    hailed = -1  # the sentence that somebody was hailed in
    for span in spans:
        begun = max((m.end() for m in _SENTENCE.finditer(text, 0, span.place)), default=0)
        sense = _sense(text, span, begun, hailed=hailed == begun)
        if sense == "called":
            hailed = begun
        for who, address in span.names:
            if who in names or sense == "called":
                clear = address.summons == "mention" and sense == "about"
                found.append(NameCall(who, address, "called" if clear else sense))
        if but := _EXCEPT.search(text[begun : span.place]):
            apart = {who for who, _ in span.names}
            whole = _Span(begun + but.start(), span.end, span.names)
            if _hailed(text, whole, begun, hailed=False):
                place = Addressee("name", whole.place, span.end)
                found += [NameCall(who, place, "called") for who in names if who not in apart]
    return found


def _spans(text: str, found: Sequence[tuple[str, Addressee]]) -> list[_Span]:
    """Names in a row as one: "Maya, Merlin and Zuzu"."""
    spans: list[_Span] = []
    for who, address in found:
        last = spans[-1] if spans else None
        if last and (address.place < last.end or _JOINT.fullmatch(text, last.end, address.place)):
            names = [*last.names, (who, address)]
            spans[-1] = _Span(last.place, max(last.end, address.end), names)
        else:
            spans.append(_Span(address.place, address.end, [(who, address)]))
    return spans


def _sense(text: str, span: _Span, begun: int, *, hailed: bool) -> Sense:
    before = text[begun : span.place]
    if _EXCEPT.search(before) or _NOT.search(before) or _NOT_AFTER.match(text, span.end):
        return "not"
    return "called" if _hailed(text, span, begun, hailed=hailed) else "about"


def _hailed(text: str, span: _Span, begun: int, *, hailed: bool) -> bool:
    """Whether the words around names show that the sentence is said to them."""
    before = text[begun : span.place]
    ended = _SENTENCE.search(text, span.end)
    after = text[span.end : ended.start() if ended else len(text)]
    if _SPOKEN_OF.match(after) and not _ASKS.match(after):
        return False
    closed = bool(_CLOSED.match(after))
    if _OPEN.fullmatch(before) or _HAIL.search(before):
        return closed or before.strip() == "" or not _OF.search(before)
    if _PAUSE.search(before) and closed:
        return True
    at_end = bool(_ENDED.match(after))
    return at_end and not hailed and bool(_YOURS.search(before)) and not _OF.search(before)
