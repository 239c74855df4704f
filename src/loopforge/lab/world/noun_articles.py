"""Articles before nouns: "a lost limb at the press hall", "an empty run at Line nine".

Scenarios name places as signs do, without an article, and rows say them so. Whatever is read as a
sentence is put through here; what a mind was shown is quoted as it was.
"""

import re
from functools import cache

BEFORE = """about across along around at behind between beyond by down for from in inside into near
of off on onto out outside over past through to toward towards under up with without and or
as because if then when while bell held kept left opened reached stopped"""
"""Words that a place's name follows with its article; after any other it stays as it stands."""
ITS_OWN = frozenset({"the", "a", "an", "this", "that", "my", "our", "your", "its", "their", "no"})
"""Words that a name may begin with instead of an article."""


def is_common_noun(name: str) -> bool:
    """Whether a place is called by a common noun: "lens room" is; "Line nine", "bay 3" are not."""
    words = name.split()
    if not words or not name[0].islower() or words[0] in ITS_OWN or words[0].endswith("'s"):
        return False
    return len(words[-1]) > 1 and words[-1].isalpha()


@cache
def _places(names: tuple[str, ...]) -> re.Pattern[str]:
    """A quote, or a common name where an article belongs: after a word or a stop."""
    known = sorted(filter(is_common_noun, names), key=lambda name: (-len(name), name))
    if not known:
        return re.compile("“[^”]*”")
    first = "|".join(re.escape(name[:1].upper() + name[1:]) for name in known)
    later = "|".join(re.escape(name) for name in known)
    words = "|".join(BEFORE.split())
    return re.compile(
        rf"“[^”]*”|(?P<opens>(?:^|(?<=[.:?!”] ))(?:{first})(?![\w-]))"
        rf"|(?P<before>\b(?i:{words})|[,;:]) (?P<name>(?:{later})(?![\w-]))"
    )


def add_place_articles(text: str, places: tuple[str, ...]) -> str:
    """A sentence with articles before common names of places; what is quoted in it stays."""

    def put(found: re.Match[str]) -> str:
        parts = found.groupdict()
        if name := parts.get("name"):
            return f"{parts['before']} the {name}"
        if name := parts.get("opens"):
            return f"The {name[0].lower()}{name[1:]}"
        return found[0]

    return _places(places).sub(put, text)


def with_article(kind: str) -> str:
    """A kind of thing with its article."""
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
