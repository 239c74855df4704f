"""file_merge: what one side changed is taken, what both changed waits for a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.file_merge import (
    CHARACTER,
    LineConflict,
    merge3,
    merge_files,
    resolve_conflicts,
)
from loopforge.core.mates.mate_file import parse_mate

BASE = """\
---
name: Ada
role: counter
traits: {patience: low, zeal: high}
tools: [clock]
tier: 1
---
You are Ada.

You count.
"""


def test_different_changes_come_together_without_a_question() -> None:
    """Each side's own changes of entries, traits and paragraphs are all there; the name is a's."""
    a = BASE.replace("patience: low", "patience: high").replace("You count.", "You count slowly.")
    b = (
        BASE.replace("name: Ada", "name: Ada Two")
        .replace("zeal: high", "zeal: low, wit: high")
        .replace("role: counter", "role: teller  # of tales")
        .replace("You are Ada.", "You are Ada, and glad.")
    )
    merge = merge_files(a, b, BASE)
    assert merge.conflicts == ()
    assert set(merge.taken) == {"role", "traits.zeal", "traits.wit", CHARACTER}
    mate = parse_mate(merge.text, "f")
    assert (mate.name, mate.role) == ("Ada", "teller")
    assert mate.traits == {"patience": "high", "zeal": "low", "wit": "high"}
    assert mate.prompt == "You are Ada, and glad.\n\nYou count slowly."
    assert resolve_conflicts(merge, b, {}) == merge.text


def test_what_both_changed_is_decided_piece_by_piece() -> None:
    """A conflict names what each has and what it was; a, b or both is what the file then says."""
    a = BASE.replace("zeal: high", "zeal: low").replace("[clock]", "[clock, dice]")
    a = a.replace("You count.", "You count down.")
    b = BASE.replace("zeal: high", "zeal: very high").replace("[clock]", "[clock, maths]")
    b = b.replace("You count.", "You count up.").replace("tier: 1", "model: big")
    merge = merge_files(a, b, BASE)
    told = {one.about: (one.base, one.a, one.b, one.takes) for one in merge.conflicts}
    assert told["traits.zeal"] == ("high", "low", "very high", ("a", "b"))
    assert told["tools"][1:3] == ('["clock", "dice"]', '["clock", "maths"]')
    assert told[CHARACTER][1:3] == (
        "You are Ada.\n\nYou count down.",
        "You are Ada.\n\nYou count up.",
    )
    assert merge.taken == ("model",)
    ours = parse_mate(resolve_conflicts(merge, b, {}), "f")
    assert (ours.traits["zeal"], ours.tools, ours.model) == ("low", ("clock", "dice"), "big")
    takes = {"traits.zeal": "b", "tools": "both", CHARACTER: "both"}
    both = parse_mate(resolve_conflicts(merge, b, takes), "f")  # type: ignore[arg-type]
    assert (both.traits["zeal"], both.tools) == ("very high", ("clock", "dice", "maths"))
    assert both.prompt == "You are Ada.\n\nYou count down.\n\nYou count up."


def test_without_a_common_origin_every_difference_is_a_conflict() -> None:
    """Two mates that never were one: nothing is taken unasked, what is alike is no question."""
    b = BASE.replace("role: counter\n", "voice: dry\n").replace("You count.", "You sing.")
    merge = merge_files(BASE, b, None)
    assert merge.taken == ()
    assert {one.about: (one.a, one.b) for one in merge.conflicts} == {
        "role": ("counter", ""),
        "voice": ("", "dry"),
        CHARACTER: ("You are Ada.\n\nYou count.", "You are Ada.\n\nYou sing."),
    }
    assert merge.text == BASE
    mate = parse_mate(resolve_conflicts(merge, b, {"role": "b", "voice": "b"}), "f")
    assert (mate.role, mate.voice) == ("", "dry")


def test_what_the_other_took_away_goes_if_it_was_not_touched() -> None:
    """An entry that b dropped and a left alone is dropped; one that a changed is a conflict."""
    b = BASE.replace("role: counter\n", "").replace(", zeal: high", "")
    merge = merge_files(BASE, b, BASE)
    assert merge.conflicts == ()
    assert (parse_mate(merge.text, "f").role, parse_mate(merge.text, "f").traits) == (
        "",
        {"patience": "low"},
    )
    changed = BASE.replace("role: counter", "role: sage")
    (conflict,) = merge_files(changed, b, BASE).conflicts
    assert (conflict.about, conflict.base, conflict.a, conflict.b) == (
        "role",
        "counter",
        "sage",
        "",
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["\n", "x\n\n", "a\nb\n"])
def test_no_file_of_a_mate_takes_long_to_be_merged(unit: str) -> None:
    """A stranger's of 8 kB of two kinds of lines held up the home for a minute, one of 250 kB for good."""
    base = "---\nname: Maya\n---\nYou are Maya.\n" + unit * (240_000 // len(unit)) + "The end.\n"
    merged = merge_files(f"{base}slugs\n", base.replace("You are Maya.", "You garden."), base)
    assert merged.conflicts == ()
    assert "You garden." in merged.text
    assert merged.text.endswith("slugs\n")


# ---------------------------------------------------------------- test diff3 merge


texts = st.lists(st.sampled_from("abcdef"), max_size=8)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("abc", "aBc", "abcd", ["a", "B", "c", "d"]),
        ("abc", "abc", "c", ["c"]),
        ("abc", "aXc", "aXc", ["a", "X", "c"]),
        ("abc", "aXc", "aYc", ["a", LineConflict(("b",), ("X",), ("Y",)), "c"]),
        ("", "x", "y", [LineConflict((), ("x",), ("y",))]),
        ("abcde", "aBcde", "abcDe", ["a", "B", "c", "D", "e"]),
    ],
)
def test_both_sides_come_together(
    base: str, ours: str, theirs: str, merged: list[str | LineConflict]
) -> None:
    """Changes in different places are all taken; different ones in one place clash."""
    assert merge3(base, ours, theirs) == merged


@given(texts, texts)
def test_where_one_side_stayed_the_other_is_taken(base: list[str], changed: list[str]) -> None:
    """Merging with a side that did nothing gives the other side, whichever of the two it is."""
    assert merge3(base, base, changed) == changed
    assert merge3(base, changed, base) == changed


@given(texts, texts, texts)
def test_no_line_of_a_side_is_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """What a side added stands in the merged text or in a clash, and both ways round it is alike."""
    merged = merge3(base, ours, theirs)
    turned = merge3(base, theirs, ours)
    flipped = [
        LineConflict(one.base, one.theirs, one.ours) if isinstance(one, LineConflict) else one
        for one in turned
    ]
    assert merged == flipped
    told = [
        each for one in merged for each in (one.ours if isinstance(one, LineConflict) else [one])
    ]
    assert all(told.count(line) >= 1 for line in set(ours) - set(base))
