"""Whether SQLite's file is still the one that this process opened.

Who deletes, moves or replaces it under a running program leaves the program with a file that has
no name: what it wrote would be lost with its end. Knows nothing of what is in the file, and nothing
of PostgreSQL, whose files are its own business.
"""

from pathlib import Path

from loopforge.errors import LedgerRewound
from loopforge.ledger.database.database_engine import DatabaseEngines

OTHER = (
    "The file of the ledger, {path}, was deleted, moved or replaced while this process had it "
    "open, so nothing was written, and the process ends. What was said so far is in the file that "
    "was there: put it back if it was moved, or leave what is there now, and start again."
)


class FileIdentity:
    """The file that was there when this was made, or when it was first checked."""

    def __init__(self, store: DatabaseEngines) -> None:
        self._path = Path(str(store.url.database)) if store.sqlite else None
        self._opened = self._now()

    def check(self) -> None:
        """Raises LedgerRewound where another file is there now, or none."""
        now = self._now()
        self._opened = self._opened or now
        if now != self._opened:
            raise LedgerRewound(OTHER.format(path=self._path))

    def _now(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat() if self._path else None
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if found else None
