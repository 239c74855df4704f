"""Keys and tokens in a backup: only on a wish, and sealed by a passphrase (age, by `pyrage`).

The standard tool opens them too: `age --decrypt keys.age`. The passphrase is kept nowhere.
"""

import json
from pathlib import Path

from loopforge.errors import BackupError
from loopforge.runtime.installation.home_files import write_private

NAMES = ("keys.json", "accounts.json")
"""Files of the home's data that hold keys of services and tokens of bots."""
SHORTEST = 12
"""Characters of a passphrase: who gets hold of a backup may try for years."""


def seal_keys(data: Path, passphrase: str) -> bytes:
    """The files of keys, sealed; those that are not there are left out."""
    import pyrage  # type: ignore[import-untyped]

    found = {name: (data / name).read_text("utf-8") for name in NAMES if (data / name).exists()}
    made: bytes = pyrage.passphrase.encrypt(json.dumps(found).encode(), passphrase)
    return made


def unseal_keys(content: bytes, passphrase: str) -> dict[str, str]:
    """The files again. Raises BackupError for another passphrase, and for what is damaged."""
    import pyrage

    try:
        opened: bytes = pyrage.passphrase.decrypt(content, passphrase)
    except pyrage.DecryptError as error:
        raise BackupError(f"The keys cannot be opened by this passphrase ({error}).") from error
    return files_in(opened)


def files_in(opened: bytes) -> dict[str, str]:
    """The files that were sealed, by name. Raises BackupError where something else was."""
    try:
        found = json.loads(opened)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BackupError("What is sealed in this backup is no keys; restore it without them.")
    return {name: str(text) for name, text in found.items() if name in NAMES}


def restore_keys(data: Path, files: dict[str, str]) -> None:
    """Put the files into a home's data, closed to others."""
    for name, text in files.items():
        write_private(data / name, text.encode())
