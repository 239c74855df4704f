"""Signs of a text that nobody can see, found and spelled out: for what people decide on.

A change to be merged, a use of a tool that asks first: in letters that leave no trace, or turn the
direction of writing, code can be hidden, and words that would go out with an address. Where such
signs belong (in pictures made of several, and in scripts that need them) they stay. Pure.
"""

import re

from loopforge.core.text.name_labels import is_invisible

_JOINED = re.compile(
    r"(?<=[^\x00-\x7f\u200d])\u200d"
    r"|(?<=[^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\u200d\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)
"""Signs that cannot be seen where they belong: in pictures, and where letters are joined."""
_JOINING = frozenset("\u200d\ufe0e\ufe0f")
_VARIANTS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Signs that choose how the one before looks; any bytes at all can be written in them."""


def hidden_signs(text: str) -> str:
    """Which signs of a text cannot be seen, or turn its direction; "" for none."""
    text = text.replace("\r\n", "\n")
    found = _hidden(text)
    if found & _JOINING:
        found = _hidden(_JOINED.sub("", text))
    return ", ".join(f"U+{ord(sign):04X}" for sign in sorted(found)[:5])


def as_visible_row(text: str) -> str:
    r"""The text as one row of which nothing is hidden; a break in it is written as \n."""
    return spelled_out(text).replace("\n", "\\n")


def spelled_out(text: str) -> str:
    r"""The text with what cannot be seen written as \u202e; breaks and tabs stay."""
    text = text.replace("\r\n", "\n")
    spelled = {
        ord(sign): sign.encode("unicode_escape", "surrogatepass").decode() for sign in _hidden(text)
    }
    kept = [*_JOINED.findall(text), ""]
    between = _JOINED.split(text)
    return "".join(part.translate(spelled) + sign for part, sign in zip(between, kept, strict=True))


def _hidden(text: str) -> set[str]:
    return {
        sign
        for sign in set(text)
        if sign not in "\n\t" and (is_invisible(sign) or sign in _VARIANTS)
    }
