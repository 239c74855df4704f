"""Names that an account may have, and which of them count as the same one.

A name is shown to people and written into what mates read, so it may neither look like somebody
else's nor like a sign that a room uses. Pure; whether a name is free is the book's to say.
"""

import re
import unicodedata

from loopforge.core.mates.mate_file import RESERVED
from loopforge.core.text.name_labels import LONGEST_NAME, is_invisible, one_line
from loopforge.core.text.topics import normal_form
from loopforge.errors import BadAccount

_CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t\r"}
_SIGNS = frozenset('@#/\\<>:|*`[]{}"“”')
"""What mentions, commands, Markdown and the lines that mates read are made of."""
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Scripts whose letters look like one another's; a name is written in one of them."""
RESERVED_NAMES = frozenset(
    {*RESERVED, "keepers", "somebody", "nobody", "anybody", "anyone", "loopforge", "system"}
)
"""Names that no person may take: they mean something else in a room, or in what mates read."""


def valid_account_name(text: str) -> str:
    """The name as it is kept. Raises BadAccount with what to do."""
    text = normal_form(text.encode("utf-8", "replace").decode(), "NFC")
    name = " ".join(text.translate(_CONTROL).split())
    if not name:
        raise BadAccount("A name is missing. Write what people and mates shall call you.")
    if len(name) > LONGEST_NAME:
        raise BadAccount(
            f"This name has {len(name):,} characters; a name may have {LONGEST_NAME}. "
            "Take a shorter one."
        )
    plain = normal_form(name)
    if any(is_invisible(sign) for sign in name + plain):
        raise BadAccount("There are characters in this name that nobody can see. Type it by hand.")
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


def sanitize_display_name(text: str, otherwise: str) -> str:
    """A name that another platform shows, without what could not stand in a name here.

    `otherwise` where nothing is left. Who is meant is never told by such a name.
    """
    text = normal_form(text.encode("utf-8", "replace").decode())
    plain = "".join(" " if sign in _SIGNS or is_invisible(sign) else sign for sign in text)
    return one_line(plain, LONGEST_NAME) or otherwise


def _scripts(name: str) -> set[str]:
    """Those of the scripts that look alike in which letters of this name are written."""
    letters = (sign for sign in name if sign.isalpha())
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in letters} & _ALIKE


def fold_name(name: str) -> str:
    """The same for all spellings that count as one name: by case, width and composition."""
    if name.isascii():
        return " ".join(name.lower().split())
    name = normal_form(name, "NFD")
    for _ in range(2):
        name = normal_form(name.casefold())
    return " ".join(name.split())


_CAPITALS = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABEZHIKMNOPTYX",
)
_LOOKS = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456"
    "\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u0261\u0131\u03b1\u03b2\u03b5\u03b7"
    "\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b3\u0578\u057d\u0585"
    "\u0570|10\u0251",
    "abekmhopctyxijsdqwhlgiabenikuvoptuxynuohlloa",
)
"""Letters of other scripts, a script a, and digits, by the Latin ones that they look like."""
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def confusable_skeleton(name: str) -> str:
    """The same for names that look the same on a screen, be they spelled as one name or not."""
    name = fold_name(_VARIANTS.sub("", name).translate(_CAPITALS))
    name = name.translate(_LOOKS).replace("i", "l")
    return name.replace("rn", "m").replace("vv", "w")
