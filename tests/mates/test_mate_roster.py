"""roster: the mates of a home follow their files, and a broken file stops nobody."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.errors import BadMate, InputError, Unknown
from loopforge.home import shipped_mates
from loopforge.mates.mate_roster import MOST, MateCache, MateRoster
from tests.sim_clock import SimClock

GOOD = "---\nname: {name}\n---\nYou are {name}, the {what}.\n"


def put(folder: Path, name: str, what: str = "first", file: str = "") -> Path:
    """A mate's file in this folder."""
    path = folder / (file or f"{name.lower()}.md")
    path.write_text(GOOD.format(name=name, what=what), "utf-8")
    return path


def names(folder: Path) -> list[str]:
    """Everything that stands in a folder."""
    return [path.name for path in folder.iterdir()]


def test_the_shipped_mates_run(tmp_path: Path) -> None:
    """A folder with the shipped files has their mates, in the order of the files."""
    for name, text in shipped_mates().items():
        (tmp_path / name).write_text(text, "utf-8")
    roster = MateRoster(tmp_path)
    assert list(roster.mates()) == ["maya", "merlin", "zuzu"]
    assert roster.problems() == []


def test_a_folder_that_is_not_there_holds_nobody(tmp_path: Path) -> None:
    """No folder, no mates, no error; and it is noticed when it comes."""
    roster = MateRoster(tmp_path / "mates")
    assert roster.mates() == {}
    (tmp_path / "mates").mkdir()
    put(tmp_path / "mates", "Ada")
    assert list(roster.mates()) == ["ada"]


def test_an_edit_applies_at_once(tmp_path: Path) -> None:
    """A changed file is another mate at the next look, by its size or by its time alone."""
    roster = MateRoster(tmp_path)
    path = put(tmp_path, "Ada", "one")
    hashes = {roster.get("ada").hash}
    stood = path.stat().st_mtime_ns
    for what, at in (("two", 1), ("of another size", 1), ("three", stood)):
        put(tmp_path, "Ada", what)
        os.utime(path, ns=(at, at))
        assert what in roster.get("ada").prompt
        hashes.add(roster.get("ada").hash)
    assert len(hashes) == 4


def test_nothing_changed_means_nothing_is_read(tmp_path: Path) -> None:
    """While a file stays as it is, the very same mate is given."""
    roster = MateRoster(tmp_path)
    put(tmp_path, "Ada")
    assert roster.get("ada") is roster.get("ada")


def test_a_broken_file_keeps_its_last_good_version(tmp_path: Path) -> None:
    """The mate runs on, the problem names file and line; mending the file ends both."""
    roster = MateRoster(tmp_path)
    path = put(tmp_path, "Ada")
    good = roster.get("ada")
    path.write_text("---\nname: Ada\ntier: 9\n---\nYou are broken.\n")
    assert roster.get("ada") == good
    (bad,) = roster.problems()
    assert (bad.source, bad.line) == ("ada.md", 3)
    assert [s.state for s in roster.standings()] == ["runs its last good version"]
    put(tmp_path, "Ada", "mended")
    assert "mended" in roster.get("ada").prompt
    assert roster.problems() == []


def test_broken_from_the_start(tmp_path: Path) -> None:
    """Nobody runs; asking for it says what is wrong with its file."""
    (tmp_path / "ada.md").write_text("---\nname: Ada\n---\n")
    roster = MateRoster(tmp_path)
    assert roster.mates() == {}
    with pytest.raises(Unknown, match=r"ada\.md, line 4: the body is empty"):
        roster.get("ada")
    assert [s.state for s in roster.standings()] == ["broken"]


def test_a_deleted_file_is_a_mate_that_is_gone(tmp_path: Path) -> None:
    """It runs no more, but is known as gone; a new file brings it back."""
    roster = MateRoster(tmp_path)
    path = put(tmp_path, "Ada")
    roster.get("ada")
    path.unlink()
    assert roster.mates() == {}
    with pytest.raises(Unknown, match="ada is gone"):
        roster.get("ada")
    assert [(s.handle, s.state) for s in roster.standings()] == [("ada", "gone")]
    put(tmp_path, "Ada")
    assert list(roster.mates()) == ["ada"]
    assert [s.state for s in roster.standings()] == ["runs"]


def test_a_new_handle_is_another_mate(tmp_path: Path) -> None:
    """A file whose name changes holds another mate; the old one is gone."""
    roster = MateRoster(tmp_path)
    put(tmp_path, "Ada", file="a.md")
    roster.get("ada")
    put(tmp_path, "Bea", file="a.md")
    assert list(roster.mates()) == ["bea"]
    with pytest.raises(Unknown, match="gone"):
        roster.get("ada")


def test_a_new_file_takes_no_handle_from_a_mate_that_runs(tmp_path: Path) -> None:
    """Whatever its file is called; at the start the file that is called by the handle has it."""
    roster = MateRoster(tmp_path)
    put(tmp_path, "Maya", file="maya.md")
    running = roster.get("maya")
    put(tmp_path, "Maya", file="Evil Mate.md")
    assert roster.get("maya") == running
    assert [bad.source for bad in roster.problems()] == ["Evil Mate.md"]
    assert roster.path("maya").name == "maya.md"
    again = MateRoster(tmp_path)
    assert again.path("maya").name == "maya.md"
    assert [bad.source for bad in again.problems()] == ["Evil Mate.md"]


def test_one_handle_has_one_file(tmp_path: Path) -> None:
    """Of two files with one handle the first has it; the second is a problem that names the first."""
    put(tmp_path, "Ada", "first", "a.md")
    second = put(tmp_path, "Ada", "second", "b.md")
    roster = MateRoster(tmp_path)
    assert "first" in roster.get("ada").prompt
    (bad,) = roster.problems()
    assert (bad.source, "a.md" in bad.problem) == ("b.md", True)
    second.unlink()
    assert roster.problems() == []


def test_an_unknown_handle_says_who_is_here(tmp_path: Path) -> None:
    """Unknown names those there are."""
    put(tmp_path, "Ada")
    with pytest.raises(Unknown, match="no mate 'bob' here; there is ada"):
        MateRoster(tmp_path).get("bob")


def test_files_that_are_no_mates(tmp_path: Path) -> None:
    """README, hidden files and other endings are left alone; a folder named like a mate is told."""
    for name in ("README.md", ".swap.md", "notes.txt"):
        (tmp_path / name).write_text("x")
    roster = MateRoster(tmp_path)
    assert roster.problems() == []
    (tmp_path / "dir.md").mkdir()
    assert [bad.problem for bad in roster.problems()] == ["this is no file"]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """A dangling link (as a file without permission) is told, and stops nobody else."""
    put(tmp_path, "Bea")
    (tmp_path / "ada.md").symlink_to(tmp_path / "nowhere")
    roster = MateRoster(tmp_path)
    assert list(roster.mates()) == ["bea"]
    assert "cannot be read" in roster.problems()[0].problem


def test_a_file_that_becomes_unreadable_keeps_its_mate(tmp_path: Path) -> None:
    """A link that now leads in a circle leaves the last good version running."""
    roster = MateRoster(tmp_path)
    path = put(tmp_path, "Ada")
    good = roster.get("ada")
    path.unlink()
    path.symlink_to(path)
    assert roster.get("ada") == good
    assert "cannot be read" in roster.problems()[0].problem


def test_a_folder_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    """A folder that cannot be listed is told as such, not raised."""
    (tmp_path / "mates").write_text("x")
    roster = MateRoster(tmp_path / "mates")
    assert roster.mates() == {}
    assert len(roster.problems()) == 1


def test_no_more_files_than_can_be_meant(tmp_path: Path) -> None:
    """A folder with thousands of files is told, and only so many are read."""
    for n in range(MOST + 1):
        (tmp_path / f"m{n:04}.md").write_text(GOOD.format(name=f"M{n}", what="x"))
    roster = MateRoster(tmp_path)
    assert len(roster.mates()) == MOST
    assert len(roster.problems()) == 1


def test_writing_a_mate(tmp_path: Path) -> None:
    """A good text is put in place, runs at once, and leaves nothing else behind."""
    roster = MateRoster(tmp_path / "mates")
    mate = roster.write("ada", GOOD.format(name="Ada", what="written"))
    assert roster.get("ada") == mate
    assert names(tmp_path / "mates") == ["ada.md"]


def test_writing_keeps_to_the_mates_own_file(tmp_path: Path) -> None:
    """A mate whose file has another name is written there, with the mode the file has."""
    path = put(tmp_path, "Ada", file="countess.md")
    path.chmod(0o600)
    roster = MateRoster(tmp_path)
    roster.write("ada", GOOD.format(name="Ada", what="new"))
    assert names(tmp_path) == ["countess.md"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_writing_goes_through_a_link(tmp_path: Path) -> None:
    """The file of a mate that lies in a repository of its owner's is changed there, and stays it."""
    (tmp_path / "own").mkdir()
    (tmp_path / "mates").mkdir()
    path = put(tmp_path / "own", "Ada")
    (tmp_path / "mates/ada.md").symlink_to("../own/ada.md")
    MateRoster(tmp_path / "mates").write("ada", GOOD.format(name="Ada", what="new"))
    assert "the new" in path.read_text()
    assert (tmp_path / "mates/ada.md").is_symlink()
    assert names(tmp_path / "own") == ["ada.md"]


@pytest.mark.parametrize(
    ("handle", "text", "said"),
    [
        ("ada", "---\nname: Ada\ntier: 9\n---\nx", "line 3: `tier`"),
        ("ada", GOOD.format(name="Bea", what="x"), "this is bea, not ada"),
        ("bea", GOOD.format(name="Bea", what="x"), "that of ada"),
    ],
)
def test_what_is_no_such_mate_is_not_written(
    tmp_path: Path, handle: str, text: str, said: str
) -> None:
    """A text with a flaw, of another handle, or into another mate's file: nothing changes."""
    path = put(tmp_path, "Ada", file="bea.md")
    before = path.read_bytes()
    roster = MateRoster(tmp_path)
    with pytest.raises(BadMate, match=said):
        roster.write(handle, text)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["bea.md"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is a clear error."""
    (tmp_path / "mates").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        MateRoster(tmp_path / "mates").write("ada", GOOD.format(name="Ada", what="x"))


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """While one thread writes version after version, others always find a whole mate."""
    roster = MateRoster(tmp_path)
    roster.write("ada", GOOD.format(name="Ada", what="w" * 20_000))
    seen: list[str] = []
    done = threading.Event()

    def watch() -> None:
        own = MateRoster(tmp_path)
        while not done.is_set():
            seen.extend(str(bad) for bad in own.problems())
            if "ada" not in own.mates() or "ada" not in roster.mates():
                seen.append("gone")

    watchers = [threading.Thread(target=watch) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    for n in range(30):
        roster.write("ada", GOOD.format(name="Ada", what=f"{n}" * 9_000))
    done.set()
    for watcher in watchers:
        watcher.join()
    assert seen == []


# ---------------------------------------------------------------- test mate cache


def test_a_mate_made_just_now_is_there(tmp_path: Path) -> None:
    """A look at the files holds for a moment, but whoever is asked for by name is looked for."""
    cast = MateCache(MateRoster(tmp_path), SimClock(datetime(2026, 11, 22, tzinfo=UTC)))
    assert list(cast) == []
    (tmp_path / "otto.md").write_text("---\nname: Otto\n---\nYou are Otto.\n")
    assert "otto" in cast
    assert cast["otto"].name == "Otto"
    assert "anna" not in cast
