"""Backups whose parts somebody made up, with hashes that fit: refused in a sentence, and nothing is left."""

import gzip
import tarfile
from pathlib import Path

import msgspec
import pytest

from loopforge.backup.make_backup import check_ledger
from loopforge.backup.restore_backup import unpack_home
from loopforge.errors import BackupError, InputError

COLUMNS = ("stream", "seq", "id", "at", "actor", "cause", "body", "hash")


@pytest.mark.parametrize(
    "lines",
    [
        [{"table": "events", "columns": COLUMNS}, [None] * 8],
        [{"table": "events", "columns": COLUMNS}, [["a"], 1, "b", 1, "c", "", "{}", "d"]],
        [{"table": "events", "columns": COLUMNS[1:]}, [1] * 7],
        [{"table": "streams", "columns": ["stream", "seq", "hash"]}, [{}, 1, "a"]],
        [msgspec.Raw(b"[" * 100_000)],
    ],
)
def test_rows_that_somebody_made_up_are_told(lines: list[object], tmp_path: Path) -> None:
    """With hashes of parts that fit; each was an error of the program."""
    part = tmp_path / "ledger.jsonl.gz"
    part.write_bytes(gzip.compress(b"\n".join(map(msgspec.json.encode, lines))))
    with pytest.raises((BackupError, InputError), match="damaged"):
        check_ledger(part)


def test_a_ledger_that_cannot_be_unpacked_is_told(tmp_path: Path) -> None:
    """Its own check lies behind what is broken; it was an error of the program."""
    part = tmp_path / "ledger.jsonl.gz"
    part.write_bytes(gzip.compress(b"")[:10] + b"\xff" * 20)
    with pytest.raises(BackupError, match="is damaged"):
        check_ledger(part)


def odd_tar(**fields: object) -> bytes:
    """A tar of one mate's file with these fields of its head."""
    member = tarfile.TarInfo("mates/a.md")
    for name, value in fields.items():
        setattr(member, name, value)
    return member.tobuf() + bytes(1024)


def sparse_tar(size: int) -> bytes:
    """A tar of one sparse file, without any bytes of it."""
    head = bytearray(odd_tar(type=tarfile.GNUTYPE_SPARSE))
    head[483:495] = b"\x80" + size.to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head[:512])
    return bytes(head)


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"no tar" * 100),
        gzip.compress(odd_tar(size=9_000)),
        gzip.compress(odd_tar(pax_headers={"path": "mates/a\0b"})),
        gzip.compress(odd_tar())[:10] + b"\xff" * 20,
        gzip.compress(sparse_tar(100_000)),
    ],
    ids=["no gzip", "no tar", "cut off", "no name", "not unpacked", "sparse"],
)
def test_a_home_that_cannot_be_unpacked_is_told(content: bytes, tmp_path: Path) -> None:
    """Nothing is left of it; a sparse file was written as long as it says it is."""
    (tmp_path / "home.tar.gz").write_bytes(content)
    with pytest.raises(BackupError, match="in this backup is"):
        unpack_home(tmp_path, tmp_path / "new")
    assert not (tmp_path / "new").exists()
