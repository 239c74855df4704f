"""Names and mentions in a text: who is named in it, and whether it is a question.

Works on the text alone, in every language as far as names go: a name is a whole word, in scripts
with spaces between words; `@maya` is a mention, `joe@maya.org` and `maya` in code or in a quoted
line are not. Knows nothing of rooms or points. A name has forms:

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
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from loopforge.core.text.topics import COMMON, fold_case, is_unspaced_script, normal_form

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


@lru_cache(8192)
def _letters(word: str) -> str:
    """A word in Latin letters, none twice."""
    return _AGAIN.sub(r"\1", _NO_LETTER.sub("", word if word.isascii() else _romanised(word)))


def _romanised(word: str) -> str:
    from anyascii import anyascii

    bare = "".join(sign for sign in normal_form(word, "NFKD") if not unicodedata.combining(sign))
    kept = word if any(is_unspaced_script(sign) or ord(sign) > 0x24F for sign in word) else bare
    return anyascii(kept).lower()


@lru_cache(8192)
def forms_of(word: str, spelt: tuple[tuple[str, ...], ...]) -> tuple[Form, ...]:
    """The surest form that a folded word is of what each is called by: of folded names."""
    beginnings = _by_beginning(spelt)
    forms: list[Form] = [""] * len(spelt)
    heads = {word, key(word)[:1]}
    if bare := _PARTICLES.sub("", word):
        heads |= {bare, key(bare)[:1]}
    for nth in {nth for head in heads for nth in beginnings.get(head, ())}:
        forms[nth] = surest_form(form(word, name) for name in spelt[nth])
    return tuple(forms)


@lru_cache(64)
def _by_beginning(spelt: tuple[tuple[str, ...], ...]) -> dict[str, list[int]]:
    """Who is called by this folded name, or by one whose key begins with this letter."""
    found: dict[str, list[int]] = {}
    for nth, names in enumerate(spelt):
        for head in {each for name in names for each in (name, key(name)[:1]) if each}:
            found.setdefault(head, []).append(nth)
    return found


def forget_all() -> None:
    """Let go of every word and name that was compared."""
    for each in (key, _letters, forms_of, _by_beginning):
        each.cache_clear()


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


def first_named(text: str, mates: Mapping[str, str]) -> str:
    """The mate that a text names first, by its handle or its name; "" where it names none.

    It is whom the mention of a bot calls that several mates share.
    """
    plain = text.casefold()
    at: dict[int, str] = {}
    for mate, full in mates.items():
        for name in (mate, full.casefold()):
            if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain):
                at.setdefault(found.start(), mate)
    return at[min(at)] if at else ""
