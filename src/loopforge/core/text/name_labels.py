"""Labels: names and titles as one line, without signs that nobody can see.

What people call themselves, their rooms and their files is written before what they say. So it is
cleaned where it comes in, and again where an old one is put before a mind.
"""

import unicodedata

LONGEST_NAME = 40
"""Characters of a name."""
SOMEBODY = "somebody"
"""Who bears a name of which nothing is left."""

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters and marks that leave no trace on a screen; those of the categories below come beside."""
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode's categories of signs that control, turn the direction of writing, or mean nothing."""
_OF_ROWS = str.maketrans(dict.fromkeys(':|[]"“”„‟：｜［］', " "))
"""What the rows of a prompt are made of (prompt_rows.py), and what stands for it in a name."""
_JOINER = "\u200d"


def is_invisible(sign: str) -> bool:
    """Whether a sign leaves no trace on a screen, or breaks or turns the line it stands in."""
    return sign in _UNSEEN or unicodedata.category(sign) in _HIDDEN


def one_line(text: str, longest: int) -> str:
    """The text as one line of at most so many characters; "" where nothing can be seen of it.

    Joiners stay between two pictures, where they make one of them.
    """
    if text.isascii() and text.isprintable():  # most are, and each of their signs can be seen
        return " ".join(text.split())[:longest].strip()
    text = text.encode("utf-8", "replace").decode()
    seen = "".join(" " if _goes(text, place) else sign for place, sign in enumerate(text))
    return " ".join(seen.split())[:longest].strip()


def truncate_text(text: str, most: int) -> str:
    """The text; where it has more than so many characters, its beginning and "…"."""
    return text if len(text) <= most else f"{text[: max(0, most - 1)].rstrip()}…"


def _goes(text: str, place: int) -> bool:
    if text[place] != _JOINER:
        return is_invisible(text[place])
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return len(around) < 2 or any(map(str.isspace, around)) or around.isascii()


def row_name(text: str) -> str:
    """A name as it may begin a row of a prompt: it can neither end there nor be a sign of a row."""
    bare = text[: 4 * LONGEST_NAME].translate(_OF_ROWS)
    return one_line(bare, LONGEST_NAME).lstrip("= ") or SOMEBODY
