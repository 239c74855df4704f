"""drafts: what is wrong with a mate's file stands at its line, and two texts are told apart."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from loopforge.errors import BadMate
from loopforge.mates.mate_roster import MateRoster, RosterStanding
from loopforge.web.room.mate_editor import (
    check_mate_text,
    count_changed_lines,
    diff_lines,
    locate_problems,
)

ADA = "---\nname: Ada\n---\nYou are Ada.\n"


def home(tmp_path: Path) -> MateRoster:
    """A roster of Ada and a broken file."""
    (tmp_path / "ada.md").write_text(ADA)
    (tmp_path / "bob.md").write_text("no mate")
    return MateRoster(tmp_path)


def standing(roster: MateRoster, file: str) -> RosterStanding:
    """How it stands with a file."""
    return next(one for one in roster.standings() if one.file == file)


def test_a_flaw_stands_at_its_line() -> None:
    """The line and its neighbours are shown with their numbers; without a line, nothing is."""
    text = "one\ntwo\r\nthree\nfour"
    (flaw,) = locate_problems([BadMate("x.md", 3, "odd")], text)
    assert flaw.around == ((2, "two"), (3, "three"), (4, "four"))
    (flaw,) = locate_problems([BadMate("x.md", 1, "odd")], text)
    assert flaw.around == ((1, "one"), (2, "two"))
    (flaw,) = locate_problems([BadMate("x.md", 0, "cannot be read")], text)
    assert flaw.around == ()
    (flaw,) = locate_problems([BadMate("x.md", 1, "long")], "x" * 100_000)
    assert len(flaw.around[0][1]) < 1000


def test_a_handle_that_will_not_do_is_a_flaw_at_its_line(tmp_path: Path) -> None:
    """Another mate's handle, a changed one, a file in the way: each is said where the name is."""
    roster = home(tmp_path)
    ada, bob = standing(roster, "ada.md"), standing(roster, "bob.md")
    for one, text, said, line in (
        (ada, ADA.replace("Ada", "Eve"), "handle: ada", 2),
        (bob, ADA, "@ada is taken, by ada.md", 2),
        (None, ADA, "@ada is taken, by ada.md", 2),
        (None, ADA.replace("Ada", "Bob"), "@bob is taken, by bob.md", 2),
        (
            None,
            ADA.replace("name:", "tier: 1\nname: Cyd\nhandle:").replace("Ada", "ada"),
            "@ada",
            4,
        ),
    ):
        mate, (flaw,) = check_mate_text(roster, one, text)
        assert mate is None
        assert said in flaw.problem
        assert flaw.line == line


def test_what_changed_is_told_by_signs() -> None:
    """Lines taken away and added carry their signs and numbers; far equal lines are left out."""
    old = [f"line {n}" for n in range(1, 41)]
    new = [*old[:19], "other", *old[20:], "last"]
    rows = diff_lines("\n".join(old), "\n".join(new))
    assert [(r.sign, r.old, r.new, r.text) for r in rows if r.sign in "+-"] == [
        ("-", 20, 0, "line 20"),
        ("+", 0, 20, "other"),
        ("+", 0, 41, "last"),
    ]
    assert [row.sign for row in rows].count("…") == 2
    assert count_changed_lines("\n".join(old), "\n".join(new)) == (2, 1)
    assert diff_lines("same\n", "same\n") == []


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_no_change_is_left_out(old: list[str], new: list[str]) -> None:
    """What is taken away and what stays make up the old text, what is added and stays the new."""
    kept = {"-": len(old), "+": len(new)}
    added, taken = count_changed_lines("\n".join(old), "\n".join(new))
    assert kept["-"] - taken == kept["+"] - added
    for row in diff_lines("\n".join(old), "\n".join(new)):
        if row.sign in "- ":
            assert old[row.old - 1] == row.text
        if row.sign in "+ ":
            assert new[row.new - 1] == row.text
