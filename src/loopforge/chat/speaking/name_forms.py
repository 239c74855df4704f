"""Forms of a name: inflected, in another script, misspelt, drawn out, or cut short.

    Merlinie, Майю, Merlin'e, Mayacığım    the name with an ending
    マーリン, Мерлин, 梅林, 멀린              the name in another script, romanised by anyascii
    Merln, mayaaa                          the name but for a letter, or with letters drawn out
    merl                                   its beginning, if that is most of it

What is compared is a key: romanised, without accents, without letters that sound alike. Two names
that have one key are one name here; who calls sees to it that names as they are written go first.
Does not know who is meant by a nickname that is no part of the name.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from loopforge.core.text.topics import COMMON, is_unspaced_script

Form = Literal["", "nearly", "inflected", "name"]
"""A word is no form of a name; perhaps one (a letter differs, or the end is missing); one with an
ending; or the name itself, as it is written somewhere."""

FORMS: tuple[Form, ...] = ("", "nearly", "inflected", "name")
LEAST = 3
"""Letters of a name's key, below which it has no other forms but its scripts."""
NICKNAME = 3
"""Letters of a name's beginning that may stand for it, if they are more than half of it."""
MISSPELT = 5
"""Letters of a key, from which on one of them may differ."""

_ALIKE = str.maketrans({"c": "k", "q": "k", "w": "v", "y": "i", "j": "i", "x": "k"})
_NO_LETTER = re.compile(r"[^a-z]+")
_AGAIN = re.compile(r"(.)\1+")
_ENDINGS = re.compile(
    r"a|u|e|i|o|s|n|y|es|en|ns|ie|om|em|im|am|ou|ei|ey|oy|oi|ovi|owi|ovu|ov|ova|ove|iem|"
    r"ek|ka|ko|ku|ke|ki|ik|ika|iku|us|usia|ush|usha|ushka|enka|enko|echka|ochka|"
    r"[csz]?ito|[csz]?ita|ino|ina|[sz]?inho|[sz]?inha|chen|lein|erl|li|tje|"
    r"c?im|c?igim|c?imiz|nin|nun|in|un|ya|ye|yi|yu|da|de|dan|den|la|le|na|ne|"
    r"lle|lta|ssa|sta|tta|t|nak|nek|val|vel|hoz|hez|tol|rol"
)
"""What names end in where they are inflected or made small, as keys: Slavic, Baltic, Romance,
Germanic, Turkish, Finnish and Hungarian endings, the commonest ones."""
_FOND = re.compile(
    r"[csz]?it[oa]|[sz]?inh[oa]|ino|chen|lein|erl|us|usia|ush|ushk?a|usha|sha|en[kc]\w{1,2}|ech?k[ao]|"
    r"och?ka|c?im|c?igim|c?imiz|ciu|ciek|ko"
)
"""Endings of fondness, by which one calls."""
_CALLING = re.compile(r"fond|ie|e|u for \w+|o for \w+")
"""Endings of the vocative, in the languages that have one."""
_VOWELS = "aeiou"
_LONG_A = re.compile(r"[eaou]r(?=[^aeiou]|\Z)")
_PARTICLES = re.compile(
    r"(?:야|아|이|가|는|은|의|를|을|한테|에게|께|도|랑|이랑|와|과|님|씨|양|군|さん|ちゃん|くん|君|様|さま|先生)\Z"
)
_VOCATIVE = re.compile(r"(?:야|아|님|씨|양|군|さん|ちゃん|くん|君|様|さま|先生)\Z")
_KANA = re.compile(r"[\u3040-\u30ff]")
_CASELESS = re.compile(r"[\u0590-\u08ff\u0900-\u0dff]")
"""Scripts that leave vowels out, or that are romanised without them."""


@lru_cache(8192)
def key(word: str) -> str:
    """What is compared of a word: Latin letters, those that sound alike as one, none twice."""
    if not word.isascii():
        word = _romanised(word)
    word = word.replace("ph", "f").replace("ck", "k").replace("sh", "s")
    return _AGAIN.sub(r"\1", _NO_LETTER.sub("", word.translate(_ALIKE)))


def _letters(word: str) -> str:
    """A word in Latin letters, none twice."""
    return _AGAIN.sub(r"\1", _NO_LETTER.sub("", word if word.isascii() else _romanised(word)))


def _romanised(word: str) -> str:
    from anyascii import anyascii

    bare = "".join(
        sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign)
    )
    kept = word if any(is_unspaced_script(sign) or ord(sign) > 0x24F for sign in word) else bare
    return anyascii(kept).lower()


@lru_cache(8192)
def forms_of(word: str, spelt: tuple[tuple[str, ...], ...]) -> tuple[Form, ...]:
    """The surest form that a folded word is of what each is called by: of folded names."""
    return tuple(surest_form(form(word, name) for name in names) for names in spelt)


def forget_all() -> None:
    """Let go of every word and name that was compared."""
    key.cache_clear()
    forms_of.cache_clear()


def form(word: str, name: str) -> Form:
    """Which form of a folded name a folded word is; the name itself is one."""
    known = _form(word, name)
    if known != "name" and (bare := _PARTICLES.sub("", word)) != word:
        other = _form(bare, name)
        if other == "name" and not _VOCATIVE.search(word):
            other = "inflected"
        return surest_form((known, other))
    return known


def surest_form(forms: Iterable[Form]) -> Form:
    """The surest of them."""
    return max(forms, key=FORMS.index, default="")


def _form(word: str, name: str) -> Form:
    if word == name:
        return "name"
    mine, theirs = key(word), key(name)
    if not mine or not theirs or mine[0] != theirs[0]:
        return ""
    if mine == theirs:
        return "name"
    if word.isascii() != name.isascii() and _heard_alike(word, mine, theirs):
        return "name"
    if len(theirs) < LEAST or word in COMMON:
        return ""
    ending = _ending(_letters(word), _letters(name))
    if ending:
        return "name" if _CALLING.fullmatch(ending) else "inflected"
    short = _cut_short(_letters(word), _letters(name))
    return "nearly" if short or _misspelt(mine, theirs) else ""


def _ending(word: str, name: str) -> str:
    """What the name ends in, behind it or in place of its last vowel; "": it is another word."""
    vowel = name[-1:] in (*_VOWELS, "y")
    for stem in [name, name[:-1]] if vowel else [name]:
        rest = word[len(stem) :]
        if len(stem) < LEAST - 1 or not rest or not word.startswith(stem):
            continue
        fond = _FOND.fullmatch(rest)
        if stem != name and not fond and len(rest) > 2:
            continue
        if fond or _ENDINGS.fullmatch(rest):
            return "fond" if fond else f"{rest} for {stem}" if stem != name else rest
    return ""


def _cut_short(word: str, name: str) -> bool:
    return len(word) >= NICKNAME and 2 * len(word) > len(name) and name.startswith(word)


def _misspelt(mine: str, theirs: str) -> bool:
    """Whether one letter is missing, wrong, too many, or two are swapped; the first is right."""
    if len(theirs) == MISSPELT - 1:  # of a short name a letter in its middle may be missing
        return len(mine) == len(theirs) - 1 and mine[-1] == theirs[-1] and _apart(mine, theirs) == 1
    if len(theirs) < MISSPELT or abs(len(mine) - len(theirs)) > 1:
        return False
    return _apart(mine, theirs) == 1


def _apart(one: str, other: str) -> int:
    """0: the same; 1: but for one letter, or two that are swapped; 2: more."""
    if one == other:
        return 0
    short, long = sorted((one, other), key=len)
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        swapped = short[at : at + 2] == long[at : at + 2][::-1]
        if swapped and short[at + 2 :] == long[at + 2 :]:
            return 1
        return 1 if short[at + 1 :] == long[at + 1 :] else 2
    return 1 if len(long) == len(short) + 1 and short[at:] == long[at + 1 :] else 2


def _heard_alike(word: str, mine: str, theirs: str) -> bool:
    """Whether a word in another script may be how a name sounds in it."""
    if _CASELESS.search(word):
        bare = [re.sub(r"[aeiou]", "", each) for each in (mine, theirs)]
        return len(bare[0]) > 1 and bare[0] == bare[1]
    if _KANA.search(word):  # no l, and a long a for er, ar, or
        theirs = _AGAIN.sub(r"\1", _LONG_A.sub("a", theirs).replace("l", "r"))
        mine = _LONG_A.sub("a", mine)
        return mine == theirs
    return len(mine) > MISSPELT - 2 and mine[-2:] == theirs[-2:] and _apart(mine, theirs) <= 1
