"""Names and passwords that an account may have, and which names count as the same one.

A name is shown to people and written into what mates read, so it may neither look like somebody
else's nor like a sign that a room uses. Pure; whether a name is free is the book's to say.
"""

from __future__ import annotations

import re
import unicodedata

from loopforge.core.text.name_labels import LONGEST_NAME, one_line, unseen
from loopforge.errors import BadAccount

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256

_CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t\r"}
_SIGNS = frozenset('@#/\\<>:|*`[]{}"“”')
"""What mentions, commands, Markdown and the lines that mates read are made of."""
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Scripts whose letters look like one another's; a name is written in one of them."""

_WORDS = """
    password passwort passw pass wachtwoord motdepasse contrasena senha parola haslo secret geheim
    letmein welcome willkommen welkom bienvenue hello hallo hola bonjour admin administrator root
    user guest owner test tester testing login master default changeme access system server
    computer internet google facebook loopforge iloveyou ichliebedich loveyou lovely lover love
    princess prinzessin sunshine sonnenschein rainbow flower butterfly schmetterling chocolate
    schokolade cookie cheese banana orange cherry pepper ginger coffee summer winter spring autumn
    sommer herbst january february march april june july august september october november december
    monday friday sunday football fussball baseball basketball hockey soccer tennis liverpool
    chelsea arsenal barcelona juventus schalke bayern dortmund yankees cowboys lakers steelers
    dragon monkey tiger panther falcon eagle horse dolphin kitten puppy bailey buster harley
    mustang ferrari porsche mercedes corvette yamaha superman batman spiderman starwars pokemon
    naruto minecraft fortnite pikachu nintendo playstation matrix shadow ninja killer hunter ranger
    soldier warrior wizard hacker freedom freiheit forever whatever nothing trustno nevermind
    asshole fuckyou fuck fucker bullshit biteme blink metallica nirvana slipknot eminem family
    familie mother father sister brother daughter angel angels jesus jesuschrist god blessed heaven
    michael jennifer jessica ashley amanda nicole daniel andrew joshua matthew robert thomas charlie
    george jordan michelle hannah maggie samantha anthony william alexander victoria elizabeth
    natasha alexandra sophie patrick martin christian schatz schatzi liebe mausi hase baby babygirl
    sweet sweetheart honey darling diamond silver golden gold phoenix thunder lightning midnight
    purple yellow green black white blue red pink snoopy garfield mickey scooby cocacola pepsi
    america canada london berlin paris hamburg deutschland england australia samsung apple windows
    correcthorsebatterystaple opensesame sesame startrek gandalf merlin
"""
"""Words that lists of leaked passwords begin with, as they are without what stands around them."""
_TRIED_FIRST = frozenset(_WORDS.split())
_KEYS = (
    *("qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn"),
    *(
        "abcdefghijklmnopqrstuvwxyz",
        "1q2w3e4r5t6z7u8i9o0p",
        "1q2w3e4r5t6y7u8i9o0p",
        "q1w2e3r4t5y6u7",
    ),
    *("1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1qazxsw23edcvfr4", "zaq12wsxcde34rfv", "zaq1xsw2cde3vfr4"),
    *("a1b2c3d4e5f6g7h8", "qazwsxedcrfvtgbyhnujm", "123qweasdzxc", "qweasdzxc123"),
)
"""Rows and columns of keyboards, and the alphabet: any part of one is tried first."""
_LIKE = str.maketrans("013457@$!", "oieastasi")
"""Signs that are written for letters."""
SHORTEST_NUMBER = 12
"""Signs of a password that holds no letters, or one or two and digits; a birthday has eight."""


def named(text: str) -> str:
    """The name as it is kept. Raises BadAccount with what to do."""
    text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    name = " ".join(text.translate(_CONTROL).split())
    if not name:
        raise BadAccount("A name is missing. Write what people and mates shall call you.")
    if len(name) > LONGEST_NAME:
        raise BadAccount(
            f"This name has {len(name):,} characters; a name may have {LONGEST_NAME}. "
            "Take a shorter one."
        )
    plain = unicodedata.normalize("NFKC", name)
    if any(unseen(sign) for sign in name + plain):
        raise BadAccount("There are signs in this name that nobody can see. Type it by hand.")
    if found := [sign for sign in plain if sign in _SIGNS]:
        raise BadAccount(
            f"A name cannot hold {found[0]}, which means something else in a room. Leave it out."
        )
    first = unicodedata.category(plain[0])
    if not (first[0] in "LN" or first == "So"):
        raise BadAccount("A name begins with a letter, a digit or a picture. Put one first.")
    if len(_scripts(plain)) > 1:
        raise BadAccount(
            "This name mixes alphabets whose letters look alike. Write it in one of them."
        )
    return name


def shown(text: str, otherwise: str) -> str:
    """A name that another platform shows, without what could not stand in a name here.

    `otherwise` where nothing is left. Who is meant is never told by such a name.
    """
    text = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())
    plain = "".join(" " if sign in _SIGNS or unseen(sign) else sign for sign in text)
    return one_line(plain, LONGEST_NAME) or otherwise


def _scripts(name: str) -> set[str]:
    """Those of the scripts that look alike in which letters of this name are written."""
    letters = (sign for sign in name if sign.isalpha())
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in letters} & _ALIKE


def folded(name: str) -> str:
    """The same for all spellings that count as one name: by case, width and composition."""
    name = unicodedata.normalize("NFD", name)
    for _ in range(2):
        name = unicodedata.normalize("NFKC", name.casefold())
    return " ".join(name.split())


_CAPITALS = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABEZHIKMNOPTYX",
)
_LOOKS = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456"
    "\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u0261\u0131\u03b1\u03b2\u03b5\u03b7"
    "\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3\u0578\u057d\u0585"
    "\u0570|10",
    "abekmhopctyxijsdqwhlgiabenikuvoptuxynuohllo",
)
"""Letters of Cyrillic, Greek and Armenian, and digits, by the Latin ones that they look like."""
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def likeness(name: str) -> str:
    """The same for names that look the same on a screen, be they spelled as one name or not."""
    name = folded(_VARIANTS.sub("", name).translate(_CAPITALS))
    return name.translate(_LOOKS).replace("i", "l")


def composed(password: str) -> bytes:
    """A password as it is hashed: the same bytes from every keyboard that types the same signs."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


def fitting(password: str, name: str) -> None:
    """Raise BadAccount, with what to do, for a password that this person cannot have."""
    if len(password) < SHORTEST_PASSWORD:
        raise BadAccount(
            f"This password has fewer than {SHORTEST_PASSWORD} characters. Take a longer one; "
            "four words in a row are easy to remember."
        )
    if len(password) > LONGEST_PASSWORD:
        raise BadAccount(
            f"This password has more than {LONGEST_PASSWORD} characters. Take a shorter one."
        )
    if folded(password) == folded(name):
        raise BadAccount("This password is your name, which everybody knows. Take another.")
    if not password.strip():
        raise BadAccount("This password is nothing but spaces. Take one that is harder to guess.")
    if _tried_first(password, name):
        raise BadAccount(
            "This password is among those that are tried first. "
            "Take another; four words in a row are easy to remember."
        )


def _tried_first(password: str, name: str) -> bool:
    """A common word, the name or a row of keys, with digits and signs around; a short number."""
    text = folded(password).replace(" ", "")
    text = text[: _period(text)]
    bare = _bare(text)
    bare = bare[: _period(bare)]
    words = {bare, bare.translate(_LIKE)}
    rows = [row for each in _KEYS for row in (each, each[::-1])]
    keys = any(part in row for part in (text, bare) if len(part) > 2 for row in rows)
    digits = not bare or (len(bare) < 3 and text.isalnum())
    number = text.isascii() and digits and len(text) < SHORTEST_NUMBER
    known = words & (_TRIED_FIRST | {_bare(folded(name).replace(" ", ""))}) - {""}
    return len(text) < 5 or keys or number or bool(known)


def _bare(text: str) -> str:
    """From its first letter to its last one."""
    letters = [nth for nth, sign in enumerate(text) if sign.isalpha()]
    return text[letters[0] : letters[-1] + 1] if letters else ""


def _period(text: str) -> int:
    """After how many signs it begins anew: 3 of "abcabc"; all of them, if it never does."""
    return (text + text).find(text, 1)
