"""Files of a backup that are there by name alone."""

from pathlib import Path

from loopforge.backup.backup_store import BackupStore
from loopforge.ledger_opening import ARTIFACTS
from tests.backup.test_backup import backed_up, flip, home, store, talk
from tests.rooms.conftest import Home

__all__ = ["home", "store"]


async def test_a_file_that_was_broken_off_is_put_there_anew(
    home: Home, store: BackupStore, tmp_path: Path
) -> None:
    """The power failed while it was copied: its name is no proof, and the next backup heals it."""
    hash = await talk(home)
    await backed_up(home, store)
    (tmp_path / "kept/files" / hash[:2] / hash).write_bytes(b"")
    await backed_up(home, store)
    assert await store.files.get(hash)
    flip(home.path / "data" / ARTIFACTS / hash[:2] / hash)
    _, manifest = await backed_up(home, store)
    assert (manifest.files, manifest.damaged) == ((hash,), ()), "that of the backup is whole"
