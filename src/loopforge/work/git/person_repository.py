"""The repository of a person, and the folder in which they work on it: what may be changed there.

Git runs there with the repository's own configuration, which is the person's, but no hooks, no
monitor and no network: a hook may lie among the very files that a task changed. A branch is moved
only from where it was seen to stand, in one step; where it is checked out, the files come along by
git's own merge of two trees, which refuses to touch what the person changed and did not commit.
"""

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from loopforge.errors import Changed, RepositoryError
from loopforge.runtime.installation.folder_lock import lock_folder
from loopforge.work.git.change_review import NOTHING, PathChange, shown_path
from loopforge.work.git.host_git import HostGit, file_contents, packed_commits, tree_changes

NOBODY = "0" * 40
PERSONAL = (
    "HOME",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
)
"""Variables by which a person's keys are found; only a push is given them."""
PUSHING = (
    "protocol.allow",
    "credential.helper",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
)
"""What of a person's configuration counts in a push."""
IN_THE_WAY = (
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_LOG", "a bisection"),
    ("index.lock", "a command of git, or one died there and left its index.lock; delete it then"),
)
"""What lies in git's folder while something is under way."""
REBASED = ("rebase-merge/head-name", "rebase-apply/head-name")
"""In git's folder, which branch a rebase there sets when it is done; until then none is on it."""
UNDER_WAY = "loopforge-advance"
"""In git's folder while files are brought along: from where and to where."""
COMPARE = ("diff-index", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules")
NAMED = 10


class PersonRepository:
    """The repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git = HostGit(folder)

    async def head(self, branch: str) -> str:
        """Where a branch stands. Raises RepositoryError where there is none."""
        found = await self.find(branch)
        if not found:
            raise RepositoryError(
                f"{self.folder} has no branch {branch!r} any more. Make it again, or write which "
                "one it is now into its file in the folder `repositories` of the home."
            )
        return found

    async def find(self, branch: str) -> str:
        """Where a branch stands; "" for none."""
        name = f"refs/heads/{branch}^{{commit}}"
        ended = await self._git.run("rev-parse", "--verify", "-q", name, ok=(0, 1, 128))
        return ended.text if ended.code == 0 else ""

    async def history(self, branch: str, without: Sequence[str] = ()) -> bytes:
        """A branch as a bundle, without what these commits have; its ref is the branch's."""
        less = [f"^{each}" for each in without]
        ended = await self._git.run("bundle", "create", "-q", "-", f"refs/heads/{branch}", *less)
        return ended.output

    async def has(self, commit: str) -> bool:
        """Whether a commit is there, on a branch or not."""
        return not (await self._git.run("cat-file", "-e", commit, ok=(0, 1, 128))).code

    async def packed(self, commit: str) -> bytes:
        """A commit as a pack, with all its history."""
        return await packed_commits(self._git, [commit])

    async def contains(self, branch: str, commit: str) -> bool:
        """Whether a branch has a commit in its history."""
        if not await self.has(commit):
            return False
        head = await self.head(branch)
        return (
            await self._git.run("merge-base", "--is-ancestor", commit, head, ok=(0, 1))
        ).code == 0

    async def changes(self, before: str, after: str) -> list[PathChange]:
        """Which paths differ between two commits."""
        return await tree_changes(self._git, before, after)

    async def contents(self, objects: Collection[str]) -> dict[str, bytes]:
        """The bytes of files, by their objects."""
        return await file_contents(self._git, objects)

    async def take(self, pack: bytes) -> None:
        """Take in commits; no branch is moved by it."""
        await self._git.run("index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)

    async def set_branch(self, branch: str, commit: str, before: str = NOBODY) -> None:
        """Move or make a branch that nobody works on. Raises Changed where it cannot be."""
        if await self.checkout(branch):
            raise Changed(f"The branch {branch} is checked out in a folder, so it is not moved.")
        above = branch.partition("/")[0]
        if above != branch and await self.find(above):
            raise Changed(
                f"The branch {above} stands in the way of {branch}: git keeps no such two names. "
                f"Rename it (`git branch -m {above} another`), and have the work proposed again."
            )
        await self._move(branch, commit, before)

    async def drop_branch(self, branch: str, at: str) -> bool:
        """Delete a branch that stands there; whether it did."""
        if await self.checkout(branch) or await self.find(branch) != at:
            return False
        await self._git.run("update-ref", "-d", f"refs/heads/{branch}", at)
        return True

    async def checkout(self, branch: str) -> Path | None:
        """The folder where a branch is checked out, or rebased; none that was deleted by hand."""
        name, told = f"refs/heads/{branch}", dict[str, str]()
        for line in [*await self._git.parts("worktree", "list", "--porcelain", "-z"), ""]:
            if line:
                what, _, told[what] = line.partition(" ")
                continue
            if "prunable" not in told and "worktree" in told:
                folder = Path(told["worktree"])
                if told.get("branch") == name or await self._rebases(folder, name, told):
                    return folder
            told.clear()
        return None

    async def _rebases(self, folder: Path, name: str, told: Mapping[str, str]) -> bool:
        """Whether a rebase of this branch is under way there."""
        if "detached" not in told or not await asyncio.to_thread(folder.is_dir):
            return False
        asked = [each for file in REBASED for each in ("--git-path", file)]
        files = (await HostGit(folder).text("rev-parse", *asked)).split("\n")
        reads = [await asyncio.to_thread(_reads, folder / file, f"{name}\n") for file in files]
        return any(reads)

    async def uncommitted(self, branch: str) -> list[str]:
        """The files where a branch is checked out that are not as it has them, or new there."""
        folder = await self.checkout(branch)
        if folder is None:
            return []
        git = HostGit(folder)
        await git.run("update-index", "-q", "--refresh", ok=(0, 1, 128))
        changed = await git.parts(*COMPARE, await self.head(branch))
        fresh = await git.parts("ls-files", "-z", "--others", "--exclude-standard")
        return sorted({*changed, *fresh} - {""})

    async def advance(self, branch: str, commit: str, before: str) -> Path | None:
        """Move a branch from where it was seen, with the folder in which it is checked out, if any.

        Raises Changed where it stands elsewhere by now, RepositoryError where that folder cannot
        come along; then nothing was changed. Two who do this at once do it one after the other.
        """
        async with lock_folder(self.folder):
            return await self._advance(branch, commit, before)

    async def _advance(self, branch: str, commit: str, before: str) -> Path | None:
        if await self.head(branch) != before:
            raise Changed(f"{branch} has moved on since this was shown.")
        folder = await self.checkout(branch)
        if folder is None:
            await self._move(branch, commit, before)
            return None
        git = HostGit(folder)
        await self._idle(git, folder)
        await git.run("update-index", "-q", "--refresh", ok=(0, 1, 128))
        mark = folder / await git.text("rev-parse", "--git-path", UNDER_WAY)
        changes = await self._nothing_lost(git, folder, commit, before, mark)
        try:
            await asyncio.to_thread(mark.write_text, f"{before} {commit}")
            await git.run("read-tree", "-m", "-u", before, commit)
        except (RepositoryError, OSError) as error:
            left = await self._put_back(git, folder, changes, before)
            mark.unlink(missing_ok=True)
            told = f"Look there at {', '.join(left)}" if left else "Nothing was changed"
            why = await self._overlooked(git, changes) or str(error).rstrip(".")
            raise RepositoryError(f"{folder} cannot come along: {why}. {told}.") from error
        mark.unlink(missing_ok=True)
        try:
            await self._move(branch, commit, before)
        except BaseException:
            if await self.find(branch) != commit:
                await git.run("read-tree", "-m", "-u", commit, before)
            raise
        return folder

    async def push(self, remote: str, commit: str, branch: str, environ: Mapping[str, str]) -> None:
        """Push a commit to a branch of a configured remote, by the person's own keys; no force.

        Raises RepositoryError, which has the remote's own words.
        """
        known = (await self._git.text("remote")).split("\n")
        if remote not in known:
            named = ", ".join(filter(None, known)) or "none"
            raise RepositoryError(f"{self.folder} has no remote {remote!r}; it has: {named}.")
        person = {name: environ[name] for name in PERSONAL if name in environ}
        config = {"GIT_CONFIG_GLOBAL": f"{environ.get('HOME', '')}/.gitconfig"}
        git = HostGit(self.folder, environment={**person, **config}, own=PUSHING)
        await git.run("push", "-q", "--no-verify", "--", remote, f"{commit}:refs/heads/{branch}")

    async def _move(self, branch: str, commit: str, before: str) -> None:
        name, why = f"refs/heads/{branch}", "loopforge: a task"
        try:
            await self._git.run("update-ref", "--create-reflog", "-m", why, name, commit, before)
        except RepositoryError as error:
            if await self.find(branch) != (before if before != NOBODY else ""):
                raise Changed(f"{branch} has moved on since this was shown.") from error
            raise

    async def _idle(self, git: HostGit, folder: Path) -> None:
        for name, what in IN_THE_WAY:
            path = folder / await git.text("rev-parse", "--git-path", name)
            if await asyncio.to_thread(path.exists):
                raise RepositoryError(
                    f"{folder} is in the middle of {what}. Finish or abort that, then try "
                    "again; nothing was changed."
                )

    async def _put_back(
        self, git: HostGit, folder: Path, changes: Sequence[PathChange], before: str
    ) -> list[str]:
        """Undo what git wrote before it failed, such as on a full disk; which paths differ still.

        Touches what is missing, or there as git writes it, whole or cut off: no work of a person.
        """
        held = await file_contents(git, {each.new for each in changes if not each.goes})
        written = [
            each
            for each in changes
            if await asyncio.to_thread(_by_git, folder / each.path, held.get(each.new, b""))
        ]
        fresh = [each.path for each in changes if each.was == NOTHING]
        for each in written:
            with suppress(OSError):
                (folder / each.path).unlink()
        old = "".join(f"{each.path}\0" for each in written if each.was != NOTHING)
        fed = old.encode("utf-8", "surrogateescape")
        await git.run("checkout-index", "-f", "-q", "-z", "--stdin", stdin=fed, ok=(0, 1, 128))
        await git.run("update-index", "-q", "--refresh", ok=(0, 1, 128))
        differ = await git.parts(*COMPARE, before)
        left = {*await asyncio.to_thread(_standing, folder, fresh), *differ}
        return [shown_path(each.path) for each in changes if each.path in left][:NAMED]

    async def _nothing_lost(
        self, git: HostGit, folder: Path, commit: str, before: str, mark: Path
    ) -> list[PathChange]:
        """What is to be written there. Raises where that would be over work of a person's.

        What this same change left there when it was killed is none, and is put back first.
        """
        changes, lost = await self._ahead(git, folder, commit, before)
        broke_off = await asyncio.to_thread(_reads, mark, f"{before} {commit}")
        if lost and broke_off:
            await self._put_back(git, folder, changes, before)
            changes, lost = await self._ahead(git, folder, commit, before)
        if lost:
            shown = ", ".join(map(shown_path, lost[:NAMED]))
            raise RepositoryError(
                f"{folder} cannot come along: you have work of your own in {shown}. Commit or "
                "stash it there, then try again; nothing was changed."
            )
        return changes

    async def _ahead(
        self, git: HostGit, folder: Path, commit: str, before: str
    ) -> tuple[list[PathChange], list[str]]:
        """What is still to be written there, and over which files that are not as git has them."""
        changes = await tree_changes(git, before, commit)
        touched = {change.path for change in changes}
        status = await git.parts(*COMPARE, before)
        edited = sorted(touched.intersection(status))
        fresh = [change.path for change in changes if change.was == NOTHING]
        held = await asyncio.to_thread(_standing, folder, fresh)
        already = await self._same(git, commit, [*edited, *held])
        lost = [path for path in dict.fromkeys([*edited, *held]) if path not in already]
        return [change for change in changes if change.path not in already], lost

    async def _overlooked(self, git: HostGit, changes: Sequence[PathChange]) -> str:
        """Which of these files git was told there to overlook, and how that ends; or nothing."""
        rows = await git.parts("ls-files", "-v", "-z", "--", *(each.path for each in changes))
        found = [row for row in rows if row[0] == "S" or row[0].islower()][:NAMED]
        if not found:
            return ""
        flag = "skip-worktree" if found[0][0] == "S" else "assume-unchanged"
        named = ", ".join(shown_path(row[2:]) for row in found)
        return (
            f"git overlooks your work in {named}. Have it looked at (`git update-index --no-{flag} "
            "FILE`) and commit or stash it there, then try again"
        )

    async def _same(self, git: HostGit, commit: str, paths: Sequence[str]) -> frozenset[str]:
        """Those that are there just as the commit has them: left by an approval that broke off."""
        if not paths:
            return frozenset()
        other = await git.parts(*COMPARE, commit, "--", *paths)
        index = await git.parts("ls-files", "-z", "--", *paths)
        return frozenset(set(paths) & set(index) - set(other))


def _standing(folder: Path, paths: Sequence[str]) -> list[str]:
    """Which paths lie there already, or below something that is no folder."""
    return [path for path in paths if _stands(folder, path)]


def _stands(folder: Path, path: str) -> bool:
    place = folder
    *way, name = path.split("/")
    for part in way:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return True
        if not place.exists():
            return False
    return os.path.lexists(place / name)


def _reads(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(errors="replace") == text


def _by_git(path: Path, written: bytes) -> bool:
    """Whether nothing lies there, or what git has written so far of these bytes."""
    if path.is_symlink():
        return written.startswith(os.fsencode(path.readlink()))
    if path.is_file():
        return written.startswith(path.read_bytes())
    return not os.path.lexists(path)
