"""Retired: mates that are laid aside. Their files lie in `mates/retired/` and nobody runs them.

A file is moved, never deleted and never written over. Does not know who asked (version_history.py
does).
"""

from pathlib import Path
from typing import NamedTuple

from loopforge.core.mates.mate_file import Mate, parse_mate
from loopforge.errors import BadMate, InputError, Unknown
from loopforge.mates.mate_roster import MateRoster
from loopforge.runtime.installation.home_files import bytes_of

FOLDER = "retired"


class RetiredMate(NamedTuple):
    """A file on the shelf, and the mate it holds if it holds one."""

    file: str
    mate: Mate | None


def list_retired_mates(roster: MateRoster) -> list[RetiredMate]:
    """What lies on the shelf, by file name."""
    try:
        paths = sorted((roster.folder / FOLDER).iterdir())
    except OSError:
        return []
    return [RetiredMate(path.name, _mate(path)) for path in paths if _is_file(path)]


def find_running_mate(roster: MateRoster, handle: str) -> Mate:
    """A mate that runs. Raises Unknown, saying where one lies that is archived."""
    try:
        return roster.get(handle)
    except Unknown:
        for one in list_retired_mates(roster):
            if one.mate is not None and one.mate.handle == handle:
                where = f"{FOLDER}/{one.file}"
                raise Unknown(
                    f"@{handle} is archived, in mates/{where}. Bring it back first: on the page of "
                    "mates, or by moving its file into mates/."
                ) from None
        raise


def retire(roster: MateRoster, file: str) -> str:
    """Lay a file of the roster aside; its name on the shelf. Raises Unknown, InputError."""
    if file not in {one.file for one in roster.standings() if one.state != "gone"}:
        raise Unknown(f"There is no file {file!r} among the mates.")
    shelf = roster.folder / FOLDER
    try:
        shelf.mkdir(exist_ok=True)
        free = _free(shelf, Path(file))
        _move(roster.folder / file, free)
    except OSError as error:
        raise InputError(f"{file} cannot be moved: {error.strerror or error}.") from error
    return free.name


def bring_back(roster: MateRoster, file: str) -> Mate | None:
    """Take a file off the shelf: the mate that runs again, or None if the file is broken.

    Raises Unknown if there is no such file, InputError where its name or its handle is taken.
    """
    found = next((one for one in list_retired_mates(roster) if one.file == file), None)
    if found is None:
        raise Unknown(f"There is no {file!r} among the retired mates.")
    place = roster.folder / file
    if place.exists():
        raise InputError(f"There is a {file} already; rename one of the two on disk.")
    if found.mate is not None and found.mate.handle in roster.mates():
        handle, other = found.mate.handle, roster.path(found.mate.handle).name
        raise InputError(f"@{handle} is another mate now, in {other}; retire that one first.")
    try:
        _move(roster.folder / FOLDER / file, place)
    except OSError as error:
        raise InputError(f"{file} cannot be moved: {error.strerror or error}.") from error
    return found.mate


def _move(path: Path, place: Path) -> None:
    """Move a file; a link leads on to where it led."""
    if path.is_symlink() and not (led := path.readlink()).is_absolute():
        place.symlink_to(path.parent.resolve() / led)
        path.unlink()
    else:
        path.rename(place)


def _mate(path: Path) -> Mate | None:
    try:
        return parse_mate(bytes_of(path), path.name)
    except (BadMate, OSError):
        return None


def _is_file(path: Path) -> bool:
    return path.suffix == ".md" and not path.name.startswith(".") and path.is_file()


def _free(shelf: Path, file: Path) -> Path:
    """A name on the shelf that is not taken: otto.md, otto-2.md, otto-3.md."""
    path, count = shelf / file.name, 1
    while path.exists():
        count += 1
        path = shelf / f"{file.stem}-{count}{file.suffix}"
    return path
