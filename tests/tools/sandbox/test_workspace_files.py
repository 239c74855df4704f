"""Files of a workspace as Loopforge reads and writes them, whatever a program laid there."""

# ruff: noqa: D103, PTH123

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.errors import InputError, TooLarge, Unknown
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles, deduplicate_names

SECRET = b"of the host"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace, beside which lies what nobody in it may have."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_bytes(SECRET)
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def linked(root: Path) -> str:
    (root / "x").symlink_to(root.parent / "private" / "key")
    return "x"


def linked_by_steps(root: Path) -> str:
    (root / "x").symlink_to("../private/key")
    return "x"


def linked_folder(root: Path) -> str:
    (root / "d").symlink_to(root.parent / "private")
    return "d/key"


def linked_folder_within(root: Path) -> str:
    (root / "real").mkdir()
    (root / "real" / "x").write_bytes(SECRET)
    (root / "d").symlink_to("real")
    return "d/x"


def linked_to_the_machine(root: Path) -> str:
    (root / "d").symlink_to("/proc/self")
    return "d/environ"


def linked_in_a_ring(root: Path) -> str:
    (root / "x").symlink_to("x")
    return "x"


def descriptor(root: Path) -> str:
    (root / "x").symlink_to("/proc/self/fd/0")
    return "x"


def pipe(root: Path) -> str:
    os.mkfifo(root / "x")
    return "x"


def listening(root: Path) -> str:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(root / "x"))
    return "x"


def folder(root: Path) -> str:
    (root / "x").mkdir()
    return "x"


def missing(_: Path) -> str:
    return "x"


def file_as_a_folder(root: Path) -> str:
    (root / "x").write_bytes(b"")
    return "x/y"


TRAPS = (linked, linked_by_steps, linked_folder, linked_folder_within, linked_to_the_machine,
         linked_in_a_ring, descriptor, pipe, listening, folder, missing, file_as_a_folder)  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_nothing_but_a_file_of_the_workspace_is_read(
    trap: Callable[[Path], str], root: Path
) -> None:
    """Links, pipes, sockets, folders: each is refused at once, by its name."""
    path = trap(root)
    with pytest.raises(Unknown, match=path[0]):
        WorkspaceFiles(root).read(path, most=100)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../private/key",
        "/etc/passwd",
        "a/../../private/key",
        "a//b",
        "a/",
        "zero\0byte",
        "x" * 256,
        "d/" * 40 + "x",
        "half \ud800",
    ],
)
def test_a_path_that_leads_elsewhere_is_none(path: str, root: Path) -> None:
    """It is refused for reading and for writing, before anything is touched."""
    files = WorkspaceFiles(root)
    with pytest.raises(InputError):
        files.read(path, most=100)
    with pytest.raises(InputError):
        files.write(path, b"x")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("trap", [linked, linked_by_steps, pipe], ids=lambda trap: trap.__name__)
def test_writing_replaces_what_stands_there(trap: Callable[[Path], str], root: Path) -> None:
    """A link is taken away and not followed; nobody waits for the reader of a pipe."""
    path = trap(root)
    WorkspaceFiles(root).write(path, b"fresh")
    assert (root / path).read_bytes() == b"fresh"
    assert not (root / path).is_symlink()
    assert (root.parent / "private" / "key").read_bytes() == SECRET


@pytest.mark.parametrize(
    "trap", [linked_folder, linked_folder_within, file_as_a_folder], ids=lambda trap: trap.__name__
)
def test_writing_goes_through_no_link(trap: Callable[[Path], str], root: Path) -> None:
    """Not even through one that leads to another folder of the workspace."""
    path = trap(root)
    with pytest.raises(Unknown):
        WorkspaceFiles(root).write(path, b"fresh")
    assert (root.parent / "private" / "key").read_bytes() == SECRET
    assert not list(root.rglob("*.part"))


def test_writing_leaves_the_other_name_of_a_file_alone(root: Path) -> None:
    """A file may have two names; the one that is not written keeps what it held."""
    (root / "one").write_bytes(SECRET)
    (root / "two").hardlink_to(root / "one")
    WorkspaceFiles(root).write("two", b"fresh")
    assert (root / "one").read_bytes() == SECRET


def test_what_is_written_is_read(root: Path) -> None:
    """With its folders; from a place on, and no more than was asked for."""
    files = WorkspaceFiles(root)
    files.write("in/of/data.csv", b"0123456789")
    assert files.read("./in/of/data.csv", most=100) == b"0123456789"
    assert files.read("in/of/data.csv", most=3, start=4) == b"456"
    with pytest.raises(TooLarge):
        files.write("large", bytes(11), most=10)


def test_a_file_that_claims_to_be_huge_costs_what_is_asked_for(root: Path) -> None:
    """A terabyte of nothing."""
    with (root / "x").open("wb") as file:
        file.truncate(1 << 40)
    assert WorkspaceFiles(root).read("x", most=10) == bytes(10)


def test_a_listing_says_what_is_there_and_follows_nothing(root: Path) -> None:
    """Links and pipes by their kind; nothing that lies beyond a link."""
    linked_folder(root)
    pipe(root)
    WorkspaceFiles(root).write("a/b", b"123")
    seen = [(each.path, each.kind) for each in WorkspaceFiles(root).listing()]
    assert seen == [("a", "folder"), ("a/b", "file"), ("d", "link"), ("x", "other")]


def test_odd_names_can_be_read_and_are_shown_harmless(root: Path) -> None:
    """A break, an escape, text that turns around, bytes that are no text: spelled out when shown."""
    files = WorkspaceFiles(root)
    odd = [b"a\nb", b"\x1b[2J", "\u202etxt.exe".encode(), b"\xff\xfe", b"-rf", b"a b\\n"]
    for name in odd:
        with open(os.fsencode(root) + b"/" + name, "wb") as file:
            file.write(name)
    seen = files.listing()
    assert sorted(os.fsencode(each.path) for each in seen) == sorted(odd)
    assert all(files.read(each.path, most=99) == os.fsencode(each.path) for each in seen)
    shown = sorted(each.shown for each in seen)
    assert shown == sorted(
        ["a\\nb", "\\x1b[2J", "\\u202etxt.exe", "\\udcff\\udcfe", "-rf", "a b\\\\n"]
    )


def test_a_listing_ends(root: Path) -> None:
    """However many there are, and however deep they lie."""
    for number in range(50):
        (root / f"{number}").touch()
    assert len(WorkspaceFiles(root).listing(most=20)) == 20
    here = os.open(root, os.O_RDONLY)
    for _ in range(500):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert len(WorkspaceFiles(root).listing()) < 100
    WorkspaceFiles(root).remove()
    assert not root.exists()


def test_removing_follows_no_link(root: Path) -> None:
    """What a link leads to stays, and its rights stay as they were."""
    linked_folder(root)
    linked(root)
    (root / "locked").mkdir(mode=0)
    key = root.parent / "private" / "key"
    key.chmod(0o400)
    WorkspaceFiles(root).remove()
    assert (key.read_bytes(), key.stat().st_mode & 0o777) == (SECRET, 0o400)
    assert not root.exists()
    WorkspaceFiles(root).remove()


def test_files_of_one_name_stay_apart() -> None:
    """Photos that phones call alike are put side by side, none over another one."""
    assert deduplicate_names(["photo.jpg", "photo.jpg", "photo-2.jpg", "a", "a", ".b", ".b"]) == [
        *("photo.jpg", "photo-2.jpg", "photo-2-2.jpg", "a", "a-2", ".b", ".b-2")
    ]
