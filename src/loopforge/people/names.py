"""Names and passwords that an account may have, and which names count as the same one.

A name is shown to people and written into what mates read, so it may neither look like somebody
else's nor like a sign that a room uses. Pure; whether a name is free is the book's to say.
"""

from __future__ import annotations

import unicodedata

from loopforge.core.label import LONGEST_NAME, one_line, unseen
from loopforge.errors import BadAccount

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256

_CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t\r"}
_SIGNS = frozenset('@#/\\<>:|*`[]{}"“”')
"""What mentions, commands, Markdown and the lines that mates read are made of."""
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Scripts whose letters look like one another's; a name is written in one of them."""


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
