"""Files that only their owner may read: written beside, then put in place whole."""

from __future__ import annotations

from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that nobody else can open; what was there stays until all of it is written."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.new")
    aside.touch(0o600)
    aside.chmod(0o600)
    aside.write_bytes(content)
    aside.replace(path)
