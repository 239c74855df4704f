"""Taint: which arguments of a call hold words of a text that nobody vouches for, decoded ones too.

    borrowed({"url": "https://x.org/?d=aGlkZGVuIG9yZGVycw=="}, {"read_page": ["hidden orders"]})
        -> {"url": "read_page"}

Twelve letters and figures in a row count, whatever stands between them and in whatever case: as
they are, percent-encoded, as HTML entities, in base64 or hexadecimal, backwards, or turned by
thirteen. What a person said as well is theirs; so is an address of the web that they gave whole.
It marks; it refuses nothing. Pure.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from loopforge.core.text.decoded_text import decoded_forms, plain_signs

LEAST = 12
"""Letters and figures in a row."""
MOST = 400_000
"""Characters of texts that are compared, the newest first."""


def tainted_arguments(
    arguments: Mapping[str, Any],
    untrusted: Mapping[str, Sequence[str]],
    vouched: Iterable[str] = (),
) -> dict[str, str]:
    """By each argument that holds such words, the source it has them from.

    `untrusted` are texts by source, newest first in each; `vouched` what people here said.
    """
    wanted = {path: _pieces(text) for path, text in argument_texts(arguments)}
    everything = set[str]().union(*wanted.values()) if wanted else set()
    own = _held(everything, vouched)
    found: dict[str, str] = {}
    for source, texts in untrusted.items():
        held = _held(everything - own, texts)
        for path, pieces in wanted.items():
            if pieces & held:
                found.setdefault(path, source)
    return found


def _held(pieces: set[str], texts: Iterable[str]) -> set[str]:
    """Those of the pieces that stand in any of the texts."""
    held, left = set[str](), MOST
    for text in texts:
        plain = plain_signs(text[:left])
        left -= len(text)
        held |= pieces.intersection(_runs(plain))
        if left <= 0:
            break
    return held


def argument_texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, by the way that leads to it; names of fields too."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from argument_texts(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from argument_texts(inner, path)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, str(value)


def _pieces(text: str) -> set[str]:
    """Every run of LEAST signs in a text, and in whatever may be encoded in it."""
    return {run for form in _forms(text) for run in _runs(plain_signs(form))}


def _forms(text: str) -> Iterator[str]:
    for form in decoded_forms(text):
        yield form
        yield form[::-1]
        yield codecs.encode(form, "rot13")


def _runs(plain: str) -> Iterator[str]:
    return (plain[at : at + LEAST] for at in range(len(plain) - LEAST + 1))


# ---------------------------------------------------------------- known address


_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_BEFORE = re.compile(r"""(?:^|[\s<>("'\[`*_|,;:])(?:https?://)?$""", re.IGNORECASE)
_LOOK = len("https://") + 1
"""Characters before an address that are looked at."""
_AFTER = re.compile(
    r"""/?(?:#[^\s)>\]"'`]*)?(?:[)>\]"'`*_|.,;:!?]+(?=$|[\s)>\](])|$|\s|[)>\]"'`|])"""
)


def stands_in(address: str, text: str) -> bool:
    """Whether a text holds this address, not merely a longer or a shorter one.

    With or without http:// or https:// before it; what comes after # never leaves a browser, and
    so does not count, nor does a last /.
    """
    wanted = _SCHEME.sub("", address.strip(), count=1).partition("#")[0].rstrip("/")
    if not wanted or any(map(str.isspace, wanted)):  # what follows an address is not part of it
        return False
    place, _, rest = wanted.partition("/")
    pattern = re.escape(place) + (f"/(?-i:{re.escape(rest)})" if rest else "")
    return any(
        _BEFORE.search(text[max(0, found.start() - _LOOK) : found.start()])
        and _AFTER.match(text, found.end())
        for found in re.finditer(pattern, text, re.IGNORECASE)
    )
