"""lorebook: what a mate knows, as its file has it, and what calls it to mind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.lorebook import ALWAYS, LoreEntry, parts, split, triggered_lore, written
from loopforge.core.mates.mate_file import mate_file_flaws, parse_mate

BODY = """You are Otto.

## Lore

### tower, keep + door, key
The tower has no door.

Its key lies in the well.

### *
It is winter.

### (off) dragon
There is none.

## Card

```json
{"creator": "x"}
```"""
TOWER = LoreEntry(
    keys=("tower", "keep"),
    also=("door", "key"),
    text="The tower has no door.\n\nIts key lies in the well.",
)
WINTER = LoreEntry(keys=(ALWAYS,), text="It is winter.")
DRAGON = LoreEntry(keys=("dragon",), text="There is none.", off=True)


def test_a_body_is_taken_apart() -> None:
    """Character, lore and the rest of a card are told apart, and written back as they stood."""
    found = parts(BODY)
    assert tuple(found) == ("You are Otto.", (TOWER, WINTER, DRAGON), '{"creator": "x"}', ())
    assert f"{found.character}\n\n{written(found.lore, found.card)}" == BODY
    assert split(BODY)[0] == "You are Otto."
    assert parts("You are Otto.\n\nNo lore.") == ("You are Otto.\n\nNo lore.", (), "", ())


def test_a_mate_is_prompted_without_its_lore() -> None:
    """The prompt of a mate's file ends where its lore begins."""
    mate = parse_mate(f"---\nname: Otto\n---\n{BODY}", "otto.md")
    assert (mate.prompt, mate.lore) == ("You are Otto.", (TOWER, WINTER, DRAGON))


@pytest.mark.parametrize(
    ("lore", "line", "said"),
    [
        ("## Lore\n\n###\nNo words.", 9, "lore needs words"),
        ("## Lore\n\n### tower\n\n### keep\nStrong.", 9, "nothing stands under"),
        ("## Lore\nText alone.", 7, "lore needs words"),
        (f"## Lore\n\n### {'x' * 90}\nLong.", 9, "short ones"),
    ],
)
def test_lore_that_nothing_can_call_is_a_flaw(lore: str, line: int, said: str) -> None:
    """It is said with its line what an entry lacks."""
    (flaw,) = mate_file_flaws(f"---\nname: Otto\n---\n\nYou are Otto.\n\n{lore}", "otto.md")
    assert (flaw.line, said in flaw.problem) == (line, True)


WORDS = st.text("abcdefgh äßж塔", min_size=1, max_size=9).map(lambda t: " ".join(t.split()))
ENTRIES = st.builds(
    LoreEntry,
    keys=st.lists(WORDS.filter(bool), min_size=1, max_size=3, unique=True).map(tuple),
    also=st.lists(WORDS.filter(bool), max_size=2, unique=True).map(tuple),
    text=WORDS.filter(bool),
    off=st.booleans(),
)


@given(st.lists(ENTRIES, max_size=4))
def test_what_is_written_is_read(lore: list[LoreEntry]) -> None:
    """Any lore comes back from a file as it went in."""
    assert parts(f"Otto.\n\n{written(lore)}").lore == tuple(lore)


@pytest.mark.parametrize(
    ("keys", "also", "said", "called"),
    [
        (("tower",), (), "Who lives in the TOWERS?", True),
        (("tower",), (), "the towering inferno of towerless", True),
        (("tower",), (), "the flower", False),
        (("black tower",), (), "a tower that is black", True),
        (("black tower",), (), "a tower", False),
        (("tower",), ("door",), "the tower", False),
        (("tower",), ("door",), "the tower has doors", True),
        (("AI",), (), "is AI here?", True),
        (("AI",), (), "said Maia", False),
        (("塔",), (), "那座塔很高", True),
        (("Башня",), (), "где башня", True),
        ((".*",), (), "anything", False),
        (("(a+)+$",), (), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", False),
    ],
)
def test_what_calls_lore_to_mind(
    keys: tuple[str, ...], also: tuple[str, ...], said: str, called: bool
) -> None:
    """A key is met by all its words, in any form of theirs, and is never taken as a pattern."""
    entry = LoreEntry(keys=keys, also=also, text="So it is.")
    assert (triggered_lore([entry], [said], 100) == [entry]) is called


def test_the_newest_line_comes_first_and_there_is_a_limit() -> None:
    """What the newest line speaks of is told first; what finds no room gives way to the next."""
    a, b, c = (
        LoreEntry(keys=(w,), text=w * n) for w, n in (("ash", 20), ("birch", 30), ("cedar", 4))
    )
    assert triggered_lore([a, b, c], ["ash", "birch and cedar"], 1000) == [b, c, a]
    assert triggered_lore([a, b, c], ["ash", "birch and cedar"], 80) == [c, a]
    assert triggered_lore([WINTER, DRAGON], ["dragon *"], 100) == []
