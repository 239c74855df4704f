"""Taking a text file to give it to a room."""

import os
from pathlib import Path

import pytest

from loopforge.errors import BadLine
from loopforge.io.terminal.command_runner import take_file


def test_a_text_file_is_taken_whole(tmp_path: Path) -> None:
    """Name, size in bytes and text of a UTF-8 file; a byte order mark is no text."""
    path = tmp_path / "notes.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "größer\n".encode())
    file = take_file(str(path))
    assert (str(file.name), file.size, str(file.text)) == ("notes.txt", 12, "größer\n")


def test_the_limit_is_exact(tmp_path: Path) -> None:
    """A file of the limit is taken, one byte more is refused with both numbers."""
    path = tmp_path / "big.txt"
    path.write_text("x" * 1000)
    assert take_file(str(path), 1000).size == 1000
    with pytest.raises(BadLine, match=r"1,000 bytes of at most 999"):
        take_file(str(path), 999)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "no text in UTF-8"),
        (b"text with \0 in it", "NUL"),
        (b"caf\xe9", r"byte 4 is none"),
        (b"  \n", "empty"),
    ],
    ids=["binary", "nul", "latin-1", "empty"],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    """Binary, NULs, another encoding and emptiness are named."""
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(BadLine, match=why):
        take_file(str(path))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A missing file, a folder, a pipe and a name that cannot be one: each is said plainly."""
    os.mkfifo(tmp_path / "pipe")
    for path, why in (("missing", "no file"), (".", "a folder"), ("pipe", "no ordinary file")):
        with pytest.raises(BadLine, match=why):
            take_file(str(tmp_path / path))
    with pytest.raises(BadLine, match="cannot be read"):
        take_file("a\0b")
    with pytest.raises(BadLine, match="cannot be read"):
        take_file("x" * 5000)
