r"""Quotes: which later texts of a stream still hold what somebody wants forgotten.

Prompts refer to the texts they were made of, so those vanish by themselves. But a mate's answer,
its plan, a note, a title or a tool's result may repeat a line in its own words. A text from the
time on at which the forgotten one came in is forgotten too when it

* holds the whole forgotten text, or
* shares four words in a row with it, or
* shares a distinctive word with it: of five letters or more, or with a digit in it, not among the
  words that everybody uses, and in no text of the stream before. For a person's name, every word
  of it is distinctive.

Compared without case, width and composition; JSON by its decoded strings, and text that is nearly
JSON with its escapes undone, so that neither hides a quote. Chinese, Japanese and Korean characters
count as words. Rather too much is forgotten than too little; what is not found is a paraphrase or
a translation without a shared word, an inflected form ("tomato" for "tomatoes"), or an encoding.

Pure: no database, no order but the one in which texts are given.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.text.topics import normal_form

RUN = 4
"""Words in a row that make a quote."""

LONG = 5
"""Letters that make a word distinctive, if nobody said it before."""

_EAST = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{_EAST}]|[^\\W_{_EAST}]+")
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PLAIN = {'"': '"', "\\": "\\", "/": "/", "b": " ", "f": " ", "n": "\n", "r": "\n", "t": "\t"}
_NESTED = 3


def fold_for_search(text: str) -> str:
    """The text without differences of case, of width, of composition and of white space."""
    return " ".join(normal_form(text).casefold().split())


def folded_words(text: str) -> list[str]:
    """The words of a text, folded; of JSON, those of its keys and values."""
    return _WORD.findall(fold_for_search("\n".join(decoded_strings(text))))


def word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a plain text, folded, and where each begins and ends in it."""
    for found in _WORD.finditer(text):
        yield fold_for_search(found[0]), found.start(), found.end()


def decoded_strings(text: str, depth: int = _NESTED) -> Iterator[str]:
    """The strings that a text holds once JSON is decoded, also JSON within JSON."""
    if depth and text.lstrip()[:1] in {"{", "[", '"'}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            for inner in _strings(value):
                yield from decoded_strings(inner, depth - 1)
            return
    yield text
    for _ in range(depth):
        plain = _ESCAPE.sub(_unescaped, text)
        if plain == text:
            return
        yield plain
        text = plain


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _PLAIN[sign]


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(inner):
                yield inner
            case dict(fields):
                yield from fields
                waiting.extend(reversed(fields.values()))
            case list(items):
                waiting.extend(reversed(items))
            case None | bool():
                pass
            case number:
                yield str(number)


COMMON = frozenset(
    """
    about above across after again against alone along already always among another answer anybody
    anyone anything around asked asking because become before began begin behind being below better
    between bring brought called cannot certain change clear could course different doing during
    either enough every everybody everyone everything exactly example first found friend getting
    given giving going great happen happened happens happy having heard hello hours house human
    however important indeed instead keeps known large later least leave letter level light likely
    little looking looks lovely makes making maybe means meant might minute moment morning mostly
    myself nearly never night nobody nothing number often order other others people perhaps person
    place please point probably question quick quite rather ready really reason reply right round
    saying second seems sense several shall should simple since small someone something sometimes
    sorry sound speak spoke start still story sure taken takes talking tells thank thanks their
    theirs there therefore these they thing things think thinking third those though thought three
    through times today together told tomorrow tonight tried trying turns under understand until
    using usually wanted wants watch where whether which while whole whose without wonder words work
    working world would write writing wrong years yesterday yourself
    """.split()  # noqa: SIM905
)
"""Words of five letters or more that say nothing of anybody."""

CHATTER = frozenset(
    """
    a all am an and are as at be but by bye can did do done for go good had has have he hello her
    hey hi him his how i if im in is it its just let lol me my no not now of off oh ok okay on or
    our out s see she so t thank thanks that the them then they this to too up us very was we well
    were what when who why will with yeah yep yes you your
    """.split()  # noqa: SIM905
)
"""A text made of these alone is no quote wherever they come again."""

FIELDS = frozenset(
    word
    for name in (*AgentPerception.__struct_fields__, *AgentActionPlan.__struct_fields__)
    for word in _WORD.findall(name)
) | {"guardrail", "narrative", "purpose", "schema", "accurate", "partial", "silent", "summons"}
"""Words of the seam itself, which stand in every plan and perception."""


def is_distinctive(word: str) -> bool:
    """Whether a word tells where it came from, if it was not there before."""
    if any(sign.isdigit() for sign in word):
        return len(word) > 1
    return len(word) >= LONG and word not in COMMON and word not in FIELDS


class ForgottenText(NamedTuple):
    """A text to be forgotten; what came at `since` or later in its stream may quote it."""

    text: str
    since: int
    name: bool = False


class StreamText(NamedTuple):
    """A private text of a stream; `order` rises with the stream."""

    ref: str
    order: int
    text: str


class QuoteMatcher:
    """Told what is to be forgotten in a stream, and then shown its texts in order.

    `public` are names that tell nothing of anybody, such as those of the mates who are there.
    """

    def __init__(self, forgotten: Iterable[ForgottenText], public: Iterable[str] = ()) -> None:
        self._words: dict[str, int] = {}
        self._runs: dict[tuple[str, ...], int] = {}
        self._before = {word for name in public for word in folded_words(name)}
        for one in forgotten:
            self._take(one)
        self._lengths = sorted({len(run) for run in self._runs})

    def _take(self, one: ForgottenText) -> None:
        mine = folded_words(one.text)
        for word in set(mine):
            if is_distinctive(word) or (one.name and word not in CHATTER):
                self._words[word] = min(one.since, self._words.get(word, one.since))
        if CHATTER.issuperset(mine):
            return
        for run in word_ngrams(mine, min(RUN, len(mine))):
            self._runs[run] = min(one.since, self._runs.get(run, one.since))

    def holds(self, text: StreamText) -> bool:
        """Whether this text quotes something; ask of every text of the stream, in order."""
        mine = folded_words(text.text)
        found = any(
            self._runs.get(run, text.order + 1) <= text.order
            for length in self._lengths
            for run in word_ngrams(mine, length)
        )
        for word in self._words.keys() & set(mine):
            if text.order < self._words[word]:
                self._before.add(word)
            elif word not in self._before:
                found = True
        return found


def word_ngrams(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Every so many words in a row."""
    return zip(*(words[start:] for start in range(length)), strict=False)
