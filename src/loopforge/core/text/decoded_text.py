"""What may stand in a text under another writing: percent signs, entities, escapes, base64, hex.

    decoded_forms("c2thbnQ0NzExc2thbnQ=")  ->  the text itself, "skant4711skant"

Pure; what cannot be decoded is left out.
"""

import base64
import binascii
import html
import re
from contextlib import suppress
from urllib.parse import unquote_plus

from loopforge.core.text.topics import normal_form

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:,-]?){12,}")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\})")
_ENDLESS = re.compile(r"&#\d{20,}")
_FILLERS = "\u115f\u1160"
"""Letters that nobody sees: what is left of four of them in the common form."""


def decoded_forms(text: str, depth: int = 1) -> list[str]:
    """The text, and what is encoded in it, each once; `depth` times over."""
    seen = {text: None}
    for _ in range(depth):
        for form in list(seen):
            seen |= dict.fromkeys(filter(None, _decoded(form)))
    return list(seen)


def plain_signs(text: str) -> str:
    """Letters and figures alone, small, in their common form."""
    folded = normal_form(text).casefold()
    return "".join(sign for sign in folded if sign.isalnum() and sign not in _FILLERS)


def _decoded(text: str) -> list[str]:
    entities = html.unescape(_ENDLESS.sub("", text))  # more digits than int() reads raise there
    written = (unquote_plus(text), entities, _ESCAPE.sub(_sign, text))
    found = [form for form in written if form != text]
    for form in (text, *found):
        found += [_of_base64(match[0]) for match in _BASE64.finditer(form)]
        found += [_of_hex(match[0]) for match in _HEX.finditer(form)]
    return found


def _sign(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2] or escape[3], 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else escape[0]


def _of_base64(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    with suppress(binascii.Error, ValueError):
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "ignore")
    return ""


def _of_hex(text: str) -> str:
    with suppress(ValueError):
        return bytes.fromhex(re.sub(r"[\s:,-]", "", text)).decode("utf-8", "ignore")
    return ""
