"""Codes that people type from one screen to another, such as K7QF-2MXD.

Eight signs of thirty: no letter or digit that could be taken for another. That is little beside a
link's token, so a code lives for minutes or a day, is good once, and guesses are counted (see
`login_throttle.GuessLockout`). What is kept of it is a digest, as of every link.

Pure, but for the dice that are given. Does not know what a code opens.
"""

import re
import unicodedata

from loopforge.people.accounts.login_sessions import token_digest as hashed
from loopforge.runtime.ports import Dice

SIGNS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8
MOST = 5
"""Codes looked for in one line."""
_SAID = re.compile(r"\b\w{4}-\w{4}\b|(?<=/link )\w{8}\b", re.IGNORECASE)
_FAIR = 256 - 256 % len(SIGNS)
"""Bytes from here on are drawn anew, so that every sign is as likely as any other."""


def code(dice: Dice) -> str:
    """A new code, in two halves as it is shown."""
    signs = ""
    while len(signs) < LENGTH:
        signs += "".join(SIGNS[byte % len(SIGNS)] for byte in dice.bytes(LENGTH) if byte < _FAIR)
    return f"{signs[: LENGTH // 2]}-{signs[LENGTH // 2 : LENGTH]}"


def code_digests(text: str) -> list[str]:
    """What is kept of the first few codes in a text, as they are shown or after /link."""
    return [*filter(None, map(code_digest, _SAID.findall(text)))][:MOST]


def code_digest(text: str) -> str:
    """What is kept of a code; the same for every way to type it, and "" for what can be none."""
    wide = unicodedata.normalize("NFKC", text[:100]).upper()
    signs = "".join(sign for sign in wide if sign.isalnum())
    return hashed(signs) if len(signs) == LENGTH and set(signs) <= set(SIGNS) else ""
