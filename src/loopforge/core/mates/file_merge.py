"""Two mates' files made one: what only one of them changed is taken, what both did is a conflict.

    base (what both come from, if that is known)  ─┐
    a's file, which becomes another ───────────────┼─> taken from b, and conflicts
    b's file ──────────────────────────────────────┘

A file is looked at in pieces: each entry of the front matter, each trait, and the character (what
stands under it), whose lines are merged three ways (diff3, `merge3`). Without a base, every piece
that differs is a conflict. Name, handle, colour and face, by which people tell mates apart, stay
those of a. Pure.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from loopforge.core.growth.growth_events import MergeTake
from loopforge.core.limits.line_matching import LineMatcher
from loopforge.core.mates import yaml_reader
from loopforge.core.mates.header_edit import entry_of, with_body, with_entry, with_trait
from loopforge.core.mates.mate_file import parse_mate

CHARACTER = "character"
OWN = ("name", "handle", "colour", "face")
TRAIT = "traits."
ASKS = ("model", "tier")
"""Which model a mate asks: by name or by tier, never both; one piece."""
LISTS = ("tools", "triggers", "interests")
"""Entries of which both may be had."""


class FileConflict(NamedTuple):
    """A piece that both have and not alike, as it stands in each ("" if not at all).

    Of what is remembered (`memory`), `lines` are what it rests on: it is shown to who may see them.
    """

    about: str
    base: str
    a: str
    b: str
    takes: tuple[MergeTake, ...]
    lines: tuple[str, ...] = ()
    memory: bool = False


class FileMerge(NamedTuple):
    """What a merge comes to before anybody decides: the text so far, and what is to be decided.

    `text` is the file of a with what was `taken` from b, piece by piece; conflicts are still as a
    has them.
    """

    text: str
    taken: tuple[str, ...]
    conflicts: tuple[FileConflict, ...]


def merge_files(a: str, b: str, base: str | None) -> FileMerge:
    """Compare two mates' files, with what both come from if that is known."""
    mine, other = _pieces(a), _pieces(b)
    old = _pieces(base) if base is not None else None
    text = a
    taken: list[str] = []
    conflicts: list[FileConflict] = []
    for about in dict.fromkeys((*mine, *other)):
        one, two = mine.get(about), other.get(about)
        was = old.get(about) if old is not None else None
        if one == two or (old is not None and two == was):
            continue
        if old is not None and one == was:
            text = _put(text, b, about)
            taken.append(about)
            continue
        if about == CHARACTER and base is not None:
            merged = _lines(str(was), str(one), str(two))
            if merged is not None:
                text = with_body(text, merged)
                taken.append(about)
                continue
        conflicts.append(FileConflict(about, _told(was), _told(one), _told(two), _takes(about)))
    return FileMerge(text, tuple(taken), tuple(conflicts))


def resolve_conflicts(merge: FileMerge, b: str, takes: Mapping[str, MergeTake]) -> str:
    """The text when each conflict was decided; what is not named stays as a has it."""
    text = merge.text
    for conflict in merge.conflicts:
        take = takes.get(conflict.about, "a")
        if take == "b":
            text = _put(text, b, conflict.about)
        elif take == "both":
            text = _both(text, b, conflict.about)
    return text


def _pieces(text: str) -> dict[str, Any]:
    """What a file says, piece by piece, as values that can be compared."""
    lines = text.splitlines(keepends=True)
    page = yaml_reader.read(text)
    head = yaml.safe_load("".join(lines[1 : page.body_line - 2])) or {}
    asks = {key: head[key] for key in ASKS if key in head}
    found = {key: value for key, value in head.items() if key not in (*OWN, "traits", *ASKS)}
    found |= {
        f"{TRAIT}{trait}": band for trait, band in parse_mate(text, "the file").traits.items()
    }
    found |= {"model": asks} if asks else {}
    return {**found, CHARACTER: page.body}


def _told(value: Any) -> str:
    """A piece as people read it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _takes(about: str) -> tuple[MergeTake, ...]:
    return ("a", "b", "both") if about in (CHARACTER, *LISTS) else ("a", "b")


def _put(text: str, b: str, about: str) -> str:
    """The text with this piece as it is in b."""
    if about == CHARACTER:
        return with_body(text, yaml_reader.read(b).body)
    if about.startswith(TRAIT):
        trait = about.removeprefix(TRAIT)
        return with_trait(text, trait, parse_mate(b, "the file").traits.get(trait))
    for key in ASKS if about == "model" else (about,):
        text = with_entry(text, key, entry_of(b, key))
    return text


def _both(text: str, b: str, about: str) -> str:
    """The text with this piece as both have it: a's first, then what b has besides."""
    if about == CHARACTER:
        mine = yaml_reader.read(text).body
        had = {part.strip() for part in mine.split("\n\n")}
        more = [part for part in yaml_reader.read(b).body.split("\n\n") if part.strip() not in had]
        return with_body(text, "\n\n".join((mine, *more)))
    mate, other = parse_mate(text, "the file"), parse_mate(b, "the file")
    names = dict.fromkeys((*getattr(mate, about), *getattr(other, about)))
    told = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    return with_entry(text, about, f"{about}: [{told}]\n")


def _lines(base: str, a: str, b: str) -> str | None:
    """The character with the lines that each side changed; None where they clash."""
    merged = merge3(base.split("\n"), a.split("\n"), b.split("\n"))
    lines = [one for one in merged if not isinstance(one, LineConflict)]
    return "\n".join(lines) if len(lines) == len(merged) else None


# ---------------------------------------------------------------- diff3 merge


Lines = tuple[str, ...]


class LineConflict(NamedTuple):
    """Lines that both sides changed, each in its own way; with what they were."""

    base: Lines
    ours: Lines
    theirs: Lines


class _Anchor(NamedTuple):
    """Lines that all three have: where they begin in each, and how many."""

    base: int
    ours: int
    theirs: int
    size: int


def merge3(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> list[str | LineConflict]:
    """The lines of the merged text in their order, and the clashes where they stand."""
    merged: list[str | LineConflict] = []
    at = _Anchor(0, 0, 0, 0)
    for anchor in _anchors(base, ours, theirs):
        old = tuple(base[at.base + at.size : anchor.base])
        mine = tuple(ours[at.ours + at.size : anchor.ours])
        other = tuple(theirs[at.theirs + at.size : anchor.theirs])
        if mine in (other, old):
            merged += other
        elif other == old:
            merged += mine
        else:
            merged.append(LineConflict(old, mine, other))
        merged += base[anchor.base : anchor.base + anchor.size]
        at = anchor
    return merged


def _anchors(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Anchor]:
    """Runs of lines that stand in all three, in order; the last is empty, at their ends."""
    mine = LineMatcher(base, ours).get_matching_blocks()
    other = LineMatcher(base, theirs).get_matching_blocks()
    n = m = 0
    while n < len(mine) and m < len(other):
        one, two = mine[n], other[m]
        begin, end = max(one.a, two.a), min(one.a + one.size, two.a + two.size)
        if begin < end:
            yield _Anchor(begin, one.b + begin - one.a, two.b + begin - two.a, end - begin)
        if one.a + one.size < two.a + two.size:
            n += 1
        else:
            m += 1
    yield _Anchor(len(base), len(ours), len(theirs), 0)
