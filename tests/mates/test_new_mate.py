"""sketch: the file of a new mate."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.core.mates.mate_file import parse_dialogue, parse_mate
from loopforge.core.mates.yaml_reader import STRANGE
from loopforge.errors import InputError
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.new_mate import create_mate_file, draft_mate_file, quote_yaml

NAMES = ["Otto", "Émile Zed", "Dr. No", "Yes", "O'Hara", "R2-D2", "No", "Null"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", ["", "baker: of bread", "# one", "on", 'so-called "cook"', "- x"])
def test_a_sketch_is_a_mate(name: str, role: str) -> None:
    """Whatever it is called and does, the sketch parses to that, with examples of its talk."""
    mate = parse_mate(draft_mate_file(name, role, 3), "x.md")
    assert (mate.name, mate.role, mate.tier) == (name, role, 3)
    assert len(parse_dialogue(mate.prompt).examples) == 3


def test_what_it_offers_in_comments_is_valid() -> None:
    """Every commented line of a sketch can be used as it stands."""
    text = draft_mate_file("Otto")
    head, fence, body = text.partition("\n---\n")
    mate = parse_mate(head.replace("\n#", "\n") + fence + body, "x.md")
    assert (mate.face, mate.tools, mate.traits["patience"]) == ("🦊", ("clock",), "low")


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=30))
@example("\u202abaker")
def test_any_text_is_quoted_so_that_yaml_gives_it_back(text: str) -> None:
    """A role of any signs that a file may have comes back as it was, but for its white space."""
    role = " ".join(STRANGE.sub("", text).split())
    if role:
        front = parse_mate(f"---\nname: a\nrole: {quote_yaml(role)}\n---\nx", "x.md")
        assert front.role == role


def test_making_a_mate(tmp_path: Path) -> None:
    """The file is put into the home's folder under its handle, and the mate runs."""
    roster = MateRoster(tmp_path / "mates")
    assert create_mate_file(roster, "Dr. No", "villain", 2) == tmp_path / "mates" / "dr-no.md"
    assert roster.get("dr-no").role == "villain"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A second mate of that handle is refused, and the first file stays as it is."""
    roster = MateRoster(tmp_path)
    create_mate_file(roster, "Otto", "baker")
    before = (tmp_path / "otto.md").read_bytes()
    with pytest.raises(InputError, match="is there already"):
        create_mate_file(roster, "Otto!", "thief")
    assert (tmp_path / "otto.md").read_bytes() == before


@pytest.mark.parametrize("name", ["山", "Everyone", "!"])
def test_a_name_of_which_no_handle_is_made(tmp_path: Path, name: str) -> None:
    """What to do instead is said; it names no file that is not there."""
    with pytest.raises(InputError, match="Make the mate by another name") as refused:
        create_mate_file(MateRoster(tmp_path), name)
    assert ".md" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "   ", "山", "a:b", "Everyone", "x" * 60])
def test_a_name_that_will_not_do(tmp_path: Path, name: str) -> None:
    """A name no file can bear is refused with a sentence, and nothing is written."""
    with pytest.raises(InputError):
        create_mate_file(MateRoster(tmp_path), name)
    assert list(tmp_path.iterdir()) == []
