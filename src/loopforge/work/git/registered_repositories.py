"""The repositories that tasks may work on: those that the owner of the home registered.

    repositories/NAME.toml      path = "/srv/project"
                                branch = "main"

A file of the home, so that whoever can write there may do it by hand as well. Reads what a
repository is; changes nothing in it.
"""

import asyncio
import json
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from loopforge.core.limits.toml_reading import toml_of
from loopforge.core.mates.mate_file import slug
from loopforge.errors import BadSettings, InputError, RepositoryError, Unknown
from loopforge.runtime.installation.home_files import text_of
from loopforge.tools.sandbox.call_workspace import FOLDER as WORKSPACES
from loopforge.work.git.host_git import HostGit

FOLDER = "repositories"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


class Repository(Struct, frozen=True, kw_only=True):
    """One of them: where it is, and the branch that results of tasks go to."""

    name: str
    path: str
    branch: str


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    branch: str


class RegisteredRepositories:
    """Those of a home."""

    def __init__(self, home: Path) -> None:
        self._home, self._folder = home, home / FOLDER

    def known(self) -> tuple[Repository, ...]:
        """All of them, by name. Raises BadSettings for a file that is broken."""
        return tuple(self._read(path) for path in sorted(self._folder.glob("*.toml")))

    def find(self, which: str) -> Repository:
        """One by its name or its folder. Raises Unknown, and BadSettings for one that is broken."""
        named = self._folder / f"{which}.toml"
        if _NAME.fullmatch(which) and named.is_file():  # whatever is wrong with another one
            return self._read(named)
        known, place = self.known(), str(Path(which).expanduser().absolute())
        found = [each for each in known if which == each.name or place == each.path]
        if not found:
            names = ", ".join(each.name for each in known) or "none yet"
            raise Unknown(f"No repository {which!r} is registered here. Registered: {names}.")
        return found[0]

    async def register(self, folder: Path, name: str = "", branch: str = "") -> Repository:
        """Let tasks work on the repository in a folder; to be called for the owner alone.

        Without a branch it is the one that is checked out now. Raises InputError, RepositoryError.
        """
        place = await asyncio.to_thread(_resolved, folder)
        named = name or slug(place.name.removesuffix(".git")) or "repository"
        if not _NAME.fullmatch(named):
            raise InputError(f"{name!r} is no name: small letters, figures and dashes, 32 at most.")
        await self._check(place)
        git = HostGit(place)
        out = await git.run("symbolic-ref", "--short", "-q", "HEAD", ok=(0, 1))
        if not (target := branch or out.text):
            raise InputError(
                f"{place} has no branch checked out (its HEAD is detached); `git switch` to the "
                "one that tasks are to work on."
            )
        await git.text("check-ref-format", "--branch", target)
        try:
            await git.text("rev-parse", "--verify", "-q", f"refs/heads/{target}^{{commit}}")
        except RepositoryError:
            raise InputError(f"{place} has no branch {target!r} with a commit.") from None
        made = Repository(name=named, path=str(place), branch=target)
        others = [each for each in self.known() if each.name == named and each != made]
        if others:
            raise InputError(
                f"{named!r} is {others[0].path}, branch {others[0].branch}, already; delete "
                f"{FOLDER}/{named}.toml of the home if that is over, or rename this folder."
            )
        written = "".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
            for key, value in (("path", made.path), ("branch", target))
        )
        try:
            toml_of(written)
            data = written.encode()
        except ValueError:
            raise InputError(f"{str(place)!r} has signs that no file of settings holds.") from None
        self._folder.mkdir(exist_ok=True)
        (self._folder / f"{named}.toml").write_bytes(data)
        return made

    def remove(self, name: str) -> None:
        """Let tasks work on it no longer; the repository stays as it is. Raises Unknown."""
        found = self.find(name)
        (self._folder / f"{found.name}.toml").unlink()

    async def _check(self, place: Path) -> None:
        """Raise where no task can work on it."""
        for mine in (self._home / WORKSPACES, self._home / "data"):
            if place.is_relative_to(await asyncio.to_thread(_resolved, mine)):
                raise InputError(
                    f"{place} is a folder of this home's own, and no repository of it."
                )
        if not await asyncio.to_thread(place.is_dir):
            raise InputError(f"There is no folder {place}.")
        git = HostGit(place)
        try:
            told = await git.text("rev-parse", "--is-shallow-repository", "--show-object-format")
        except RepositoryError as error:
            if "no git repository" not in str(error):
                raise
            raise InputError(f"{place} is not the top folder of a git repository.") from None
        shallow, format = told.split()
        if shallow == "true":
            raise InputError(
                f"{place} has only a part of its history; `git fetch --unshallow` brings the rest."
            )
        if format != "sha1":
            raise InputError(f"{place} keeps its objects as {format}; only sha1 is supported.")

    def _read(self, path: Path) -> Repository:
        try:
            written = msgspec.convert(toml_of(text_of(path)), _Written)
        except (OSError, ValueError) as error:
            raise BadSettings(
                f"{FOLDER}/{path.name} cannot be read: {error}. It holds `path` and `branch`, two "
                "texts; mend it, or delete it and register the repository again."
            ) from error
        return Repository(name=path.stem, path=written.path, branch=written.branch)


def _resolved(folder: Path) -> Path:
    return folder.expanduser().resolve()
