"""listing: mates as people read them."""

from io import StringIO
from pathlib import Path

import pytest

from loopforge.errors import Unknown
from loopforge.home import shipped_mates
from loopforge.mates.mate_listing import (
    COLUMNS,
    as_lines,
    as_rows,
    as_table,
    describe_mate,
    examine_mates,
    mate_fields,
)
from loopforge.mates.mate_roster import MateRoster


def home(tmp_path: Path) -> MateRoster:
    """A roster of the shipped mates and one broken file."""
    for name, text in shipped_mates().items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "bob.md").write_text("---\nname: Bob\ntier: 9\npolicy: x\n---\nhm\n")
    return MateRoster(tmp_path)


def test_one_row_for_each_file(tmp_path: Path) -> None:
    """Rows say who runs, and what is broken and why."""
    rows = as_rows(home(tmp_path))
    assert [(row["handle"], row["state"], row["file"]) for row in rows] == [
        ("", "broken", "bob.md"),
        ("maya", "runs", "maya.md"),
        ("merlin", "runs", "merlin.md"),
        ("zuzu", "runs", "zuzu.md"),
    ]
    assert rows[0]["problem"].startswith("bob.md, line 3: `tier`")
    assert rows[1]["asks"] == "tier 1"


def test_a_mate_that_runs_its_last_good_version_is_shown_so(tmp_path: Path) -> None:
    """A file that broke while it was watched keeps its mate in the list, with the problem."""
    roster = home(tmp_path)
    roster.mates()
    (tmp_path / "maya.md").write_text("---\nname: Maya\n---\n")
    (row,) = [row for row in as_rows(roster) if row["file"] == "maya.md"]
    assert (row["handle"], row["state"]) == ("maya", "runs its last good version")
    assert "body is empty" in row["problem"]


def test_lines_for_a_pipe(tmp_path: Path) -> None:
    """One line a row, fields apart by tabs; an empty home says how to begin."""
    lines = as_lines(as_rows(home(tmp_path)))
    assert [len(line.split("\t")) for line in lines] == [len(COLUMNS) + 1] * 4
    assert as_lines([]) == ["No mate yet; `loopforge mate new NAME` makes one."]


def test_a_table_for_a_terminal(tmp_path: Path) -> None:
    """The same rows, and markup in a file's words is not markup of the table."""
    from rich.console import Console

    roster = home(tmp_path)
    (tmp_path / "eve.md").write_text("---\nname: Eve\nrole: '[red]x[/]'\n---\nhm\n")
    shown = StringIO()
    Console(width=200, file=shown).print(as_table(as_rows(roster)))
    assert "[red]x[/]" in shown.getvalue()


def test_a_portrait_shows_all(tmp_path: Path) -> None:
    """Face, name, handle, what it is made of, and its whole prompt."""
    roster = home(tmp_path)
    mate = roster.get("maya")
    shown = describe_mate(mate, roster.path("maya"))
    for part in ("Maya (@maya)", mate.role, mate.voice, "curiosity: very high", mate.hash):
        assert part in shown
    assert shown.endswith(mate.prompt)
    assert mate_fields(mate)["handle"] == "maya"


def test_examining_all_or_one(tmp_path: Path) -> None:
    """Without a name all problems of the home; a handle or a file: those of that one."""
    roster = home(tmp_path)
    assert [(bad.source, bad.line) for bad in examine_mates(roster)] == [
        ("bob.md", 3),
        ("bob.md", 4),
    ]
    assert [bad.line for bad in examine_mates(roster, "bob")] == [3, 4]
    assert [bad.line for bad in examine_mates(roster, str(tmp_path / "bob.md"))] == [3, 4]
    assert examine_mates(roster, "maya") == []


def test_examining_a_file_from_elsewhere(tmp_path: Path) -> None:
    """A file that is in no home can be checked as well."""
    (tmp_path / "mates").mkdir()
    other = tmp_path / "other.md"
    other.write_bytes(b"\xff")
    (bad,) = examine_mates(MateRoster(tmp_path / "mates"), str(other))
    assert (bad.source, bad.line) == (str(other), 1)


def test_examining_one_of_two_with_the_same_handle(tmp_path: Path) -> None:
    """A file that is fine by itself but whose handle is taken is told so."""
    roster = home(tmp_path)
    (tmp_path / "twin.md").write_text("---\nname: Maya\n---\nAnother.\n")
    (bad,) = examine_mates(roster, str(tmp_path / "twin.md"))
    assert "maya.md" in bad.problem


def test_examining_nobody(tmp_path: Path) -> None:
    """No such file and no such mate is an error that says where to look."""
    with pytest.raises(Unknown, match="mate list"):
        examine_mates(home(tmp_path), "nobody")
