"""The files of a workspace as a checkpoint has them, and a workspace built anew from one.

Looks at the workspace from outside, follows no link, and believes no time stamp: every file is read
and hashed. Blocking: call it in a thread. Does not know where the bytes are kept.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from loopforge.errors import InputError
from loopforge.tools.sandbox.workspace_files import WorkspaceEntry, WorkspaceFiles
from loopforge.work.workspace.checkpoint_archive import CheckpointEntry


class CapturedTree(NamedTuple):
    """What was found, and which files and links cannot be kept (names that are no text)."""

    entries: tuple[CheckpointEntry, ...]
    left_out: tuple[str, ...]


class TreeChange(NamedTuple):
    """Paths of files and links that differ between two checkpoints."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return any(self)

    def told(self, most: int = 20) -> str:
        """The same in words, at most so many paths of a kind."""
        kinds = (("new", self.added), ("changed", self.changed), ("gone", self.removed))
        return "; ".join(f"{kind}: {name_first_few(paths, most)}" for kind, paths in kinds if paths)


def name_first_few(paths: tuple[str, ...], most: int) -> str:
    """The first of them, and how many more there are."""
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more:,} more" if more > 0 else "")


def capture_tree(files: WorkspaceFiles, most: int, largest: int) -> CapturedTree:
    """The tree as it is: at most so many paths, and files of so many bytes at most."""
    entries, left_out = list[CheckpointEntry](), list[str]()
    found = files.listing(most + 1)
    if len(found) > most:
        raise InputError(f"There are more than {most:,} files in it, too many for a checkpoint.")
    for each in found:
        entry = _entry(files, each, largest)
        if entry is not None:
            entries.append(entry)
        elif each.kind in ("file", "link"):  # pipes and sockets hold nothing
            left_out.append(each.shown)
    return CapturedTree(tuple(entries), tuple(left_out))


def _entry(files: WorkspaceFiles, seen: WorkspaceEntry, largest: int) -> CheckpointEntry | None:
    if not _is_text(seen.path):
        return None
    try:
        if seen.kind == "folder":
            return CheckpointEntry(path=seen.path, kind="folder")
        if seen.kind == "link":
            target = files.link(seen.path)
            return (
                CheckpointEntry(path=seen.path, kind="link", target=target)
                if _is_text(target)
                else None
            )
        if seen.kind != "file" or seen.size > largest:
            return None
        data = files.read(seen.path, largest)
    except (InputError, OSError):
        return None  # it is gone, or shut even to us
    return CheckpointEntry(
        path=seen.path,
        kind="file",
        hash=hashlib.sha256(data).hexdigest(),
        size=len(data),
        executable=seen.executable,
    )


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def compare_trees(
    before: Iterable[CheckpointEntry], after: Iterable[CheckpointEntry], aside: str = ""
) -> TreeChange:
    """What became new, other and gone, without what lies within folders called `aside`."""
    old, new = _leaves(before, aside), _leaves(after, aside)
    return TreeChange(
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(p for p in new.keys() & old.keys() if new[p] != old[p])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


def _leaves(entries: Iterable[CheckpointEntry], aside: str) -> dict[str, CheckpointEntry]:
    return {
        entry.path: entry
        for entry in entries
        if entry.kind != "folder" and aside not in entry.path.split("/")
    }


def make_folders_and_links(files: WorkspaceFiles, entries: Iterable[CheckpointEntry]) -> None:
    """Make the folders and links of a checkpoint in an empty workspace."""
    for entry in entries:
        if entry.kind == "folder":
            files.folder(entry.path)
        elif entry.kind == "link":
            files.make_link(entry.path, entry.target)
