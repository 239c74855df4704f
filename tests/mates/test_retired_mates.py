"""shelf: mates are laid aside and brought back, and no file is ever lost."""

from pathlib import Path

import pytest

from loopforge.errors import InputError, Unknown
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.retired_mates import FOLDER, bring_back, list_retired_mates, retire

ADA = "---\nname: Ada\n---\nYou are Ada.\n"


def home(tmp_path: Path) -> MateRoster:
    """A roster of one mate."""
    (tmp_path / "ada.md").write_text(ADA)
    return MateRoster(tmp_path)


def test_there_and_back(tmp_path: Path) -> None:
    """A retired mate runs no longer, is no problem of the roster, and runs again when back."""
    roster = home(tmp_path)
    assert retire(roster, "ada.md") == "ada.md"
    assert roster.mates() == {}
    assert roster.problems() == []
    assert [(one.file, one.mate.handle) for one in list_retired_mates(roster) if one.mate] == [
        ("ada.md", "ada")
    ]
    mate = bring_back(roster, "ada.md")
    assert mate == roster.get("ada")
    assert list_retired_mates(roster) == []


def test_no_file_is_written_over(tmp_path: Path) -> None:
    """A second file of a name gets a number on the shelf; one in the way of coming back stays."""
    roster = home(tmp_path)
    retire(roster, "ada.md")
    (tmp_path / "ada.md").write_text(ADA + "A second one.\n")
    with pytest.raises(InputError, match="already"):
        bring_back(roster, "ada.md")
    assert retire(roster, "ada.md") == "ada-2.md"
    assert (tmp_path / FOLDER / "ada.md").read_text() == ADA
    assert [one.file for one in list_retired_mates(roster)] == ["ada-2.md", "ada.md"]
    bring_back(roster, "ada-2.md")
    with pytest.raises(InputError, match="@ada is another mate now"):
        bring_back(roster, "ada.md")


def test_a_link_goes_on_leading_there(tmp_path: Path) -> None:
    """A mate whose file lies in a folder of its own is found on the shelf, and runs when back."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/ada.md").write_text(ADA)
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates/ada.md").symlink_to("../own/ada.md")
    roster = MateRoster(tmp_path / "mates")
    retire(roster, "ada.md")
    assert [one.file for one in list_retired_mates(roster)] == ["ada.md"]
    assert bring_back(roster, "ada.md") == roster.get("ada")
    assert (tmp_path / "own/ada.md").read_text() == ADA


def test_a_broken_file_comes_and_goes_too(tmp_path: Path) -> None:
    """What is broken can be laid aside, and is broken still when it comes back."""
    roster = home(tmp_path)
    (tmp_path / "bob.md").write_text("no mate")
    retire(roster, "bob.md")
    assert list_retired_mates(roster) == [("bob.md", None)]
    assert bring_back(roster, "bob.md") is None
    assert [bad.source for bad in roster.problems()] == ["bob.md"]


@pytest.mark.parametrize("name", ["nobody.md", "../ada.md", "/etc/passwd", "", "retired"])
def test_only_known_files_are_moved(tmp_path: Path, name: str) -> None:
    """A name that is none of the files is Unknown, both ways."""
    roster = home(tmp_path)
    with pytest.raises(Unknown):
        retire(roster, name)
    with pytest.raises(Unknown):
        bring_back(roster, name)
