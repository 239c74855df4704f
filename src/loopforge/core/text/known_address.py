"""Whether an address of the web stands in a text, whole: what somebody gave is no news to anybody.

Pure. Does not know who said the text.
"""

import re

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
