"""A task's bare repository, Loopforge's own, between the clone and the person's.

    person's --history--> shelf <--result-- bundle of the clone
                            |--one commit, merged dry--> person's, when it is shown

In it is what the task was given and what came back, and nothing else; it has no configuration but
what was made here, no working tree, no attributes. A result comes in as the bare pack of a bundle,
every object of it checked, and bounded.
"""

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from loopforge.core.egress.egress_filter import SHORTEST
from loopforge.errors import RepositoryError
from loopforge.work.git.bundle_header import only_commit, read_head
from loopforge.work.git.change_review import PathChange
from loopforge.work.git.host_git import (
    COMMITTER_MAIL,
    COMMITTER_NAME,
    HostGit,
    file_contents,
    packed_commits,
    tree_changes,
)

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
MOST_OBJECTS, MOST_BYTES = 200_000, 256 << 20
"""Objects that a result may bring, and bytes of all of them unpacked."""
GIVEN, SHOWN = "refs/given", "refs/shown"


class DryMerge(NamedTuple):
    """What a merge would make: a tree, or the files in which both sides changed the same."""

    tree: str
    conflicts: tuple[str, ...]


class BareRepository:
    """The one in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git = HostGit(folder, more={"attr.tree": EMPTY_TREE})

    async def make(self) -> None:
        """Make it; quiet where it is there."""
        if await asyncio.to_thread((self.folder / "HEAD").is_file):
            return
        await asyncio.to_thread(self.folder.mkdir, 0o700, parents=True, exist_ok=True)
        await self._git.run("init", "-q", "--bare", "--template=", "-b", "none", ".")

    async def given(self) -> list[str]:
        """The commits of the person's that the task was given, or their merge was tried with."""
        told = await self._git.text("for-each-ref", "--format=%(objectname)", f"{GIVEN}/")
        return told.split()

    async def shown(self) -> list[str]:
        """The commits that were made here."""
        told = await self._git.text("for-each-ref", "--format=%(objectname)", f"{SHOWN}/")
        return told.split()

    async def holds(self, secrets: Collection[str]) -> bool:
        """Whether any of these stands, as it is, in anything that lies here."""
        needles = [secret.encode() for secret in secrets if len(secret) >= SHORTEST]
        if not needles:
            return False
        every = ("cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered")
        return await self._git.holds(needles, *every)

    async def add_history(self, bundle: bytes, commit: str) -> None:
        """Take in the person's history up to a commit, as their repository packed it."""
        head = read_head(bundle)
        pack = bundle[head.pack :]
        await self._git.run("index-pack", "--stdin", "--fix-thin", stdin=pack)
        await self._git.run("update-ref", f"{GIVEN}/{commit}", commit)

    async def add_result(self, bundle: bytes, ref: str) -> str:
        """Take in what came out of the clone; its commit. Raises RepositoryError: it is refused.

        What is refused is not kept.
        """
        commit, pack = only_commit(bundle, ref)
        most = f"--max-input-size={MOST_BYTES}"
        try:
            await self._git.run("index-pack", "--stdin", "--fix-thin", "--strict", most, stdin=pack)
            if not await self._is(commit, "commit"):
                raise RepositoryError("it is no commit.")
            await self._bounded(commit)
        except RepositoryError as error:
            await self._git.run("repack", "-a", "-d", "-q")
            await self._git.run("prune", "--expire=now")
            raise RepositoryError(f"What the task made is not taken over: {error}") from error
        return commit

    async def add_shown(self, pack: bytes, commit: str) -> None:
        """Take in again what was made here and is in the person's repository, as that packed it."""
        await self._git.run("index-pack", "--stdin", "--fix-thin", stdin=pack)
        await self.keep(commit)

    async def keep(self, commit: str) -> None:
        """Keep a commit that was made here, whatever else is refused."""
        await self._git.run("update-ref", f"{SHOWN}/{commit}", commit)

    async def _bounded(self, commit: str) -> None:
        """Every object is there, and together they are not too much."""
        listed = await self._git.text(
            *("rev-list", "--objects", "--no-object-names", commit, "--not", f"--glob={GIVEN}/*")
        )
        names = listed.split()
        if len(names) > MOST_OBJECTS:
            raise RepositoryError(f"it has more than {MOST_OBJECTS:,} objects.")
        told = await self._git.text(
            "cat-file", "--batch-check=%(objectsize)", stdin="\n".join([*names, ""]).encode()
        )
        if sum(map(int, told.split())) > MOST_BYTES:
            raise RepositoryError(f"it is more than {MOST_BYTES >> 20} MiB.")

    async def _is(self, name: str, kind: str) -> bool:
        ended = await self._git.run("cat-file", "-t", name, ok=(0, 1, 128))
        return ended.code == 0 and ended.text == kind

    # ------------------------------------------------------------ looking

    async def common(self, one: str, other: str) -> str:
        """The newest commit that both build on; "" for none."""
        return (await self._git.run("merge-base", one, other, ok=(0, 1))).text.split("\n")[0]

    async def changes(self, before: str, after: str) -> list[PathChange]:
        """Which paths differ between two commits or trees."""
        return await tree_changes(self._git, before, after)

    async def paths(self, tree: str) -> list[str]:
        """All paths of a commit or tree."""
        return await self._git.parts("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree)

    async def contents(self, objects: Collection[str]) -> dict[str, bytes]:
        """The bytes of files, by their objects."""
        return await file_contents(self._git, objects)

    async def diff(self, before: str, after: str) -> str:
        """The difference as people read it."""
        shown = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index")
        sides = ("--src-prefix=a/", "--dst-prefix=b/")
        return await self._git.text("diff-tree", "-r", "-p", *shown, *sides, before, after)

    # ------------------------------------------------------------ making

    async def tree(self, commit: str) -> str:
        """The tree of a commit."""
        return await self._git.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    async def rebuilt(self, base: str, changes: Sequence[PathChange]) -> str:
        """The tree of a commit with these changes, written by git from names that it allows."""
        rows = [f"{each.mode} {each.new}\t{each.path}\0" for each in changes]
        index = {"GIT_INDEX_FILE": str(self.folder / "index.part")}
        (self.folder / "index.part").unlink(missing_ok=True)
        await self._git.run("read-tree", base, environment=index)
        fed = "".join(rows).encode("utf-8", "surrogateescape")
        await self._git.run("update-index", "-z", "--index-info", stdin=fed, environment=index)
        return (await self._git.run("write-tree", environment=index)).text

    async def commit(self, tree: str, parents: Sequence[str], message: str, at: datetime) -> str:
        """Make a commit, in the name of Loopforge."""
        when = f"@{int(at.timestamp())} +0000"
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", COMMITTER_NAME), ("EMAIL", COMMITTER_MAIL), ("DATE", when))
        }
        above = [each for parent in parents for each in ("-p", parent)]
        arguments = ("commit-tree", "--no-gpg-sign", *above, "-F", "-", tree)
        ended = await self._git.run(*arguments, stdin=message.encode(), environment=who)
        return ended.text

    async def merged(self, one: str, other: str) -> DryMerge:
        """What a merge of two commits would make; nothing is touched."""
        ended = await self._git.run(
            *("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", one, other),
            ok=(0, 1),
        )
        tree, *names = ended.output.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
        return DryMerge(tree, tuple(dict.fromkeys(names)) if ended.code else ())

    async def packed(self, wanted: Sequence[str], without: Sequence[str]) -> bytes:
        """Some commits as a pack, for a repository that has the others."""
        return await packed_commits(self._git, wanted, without)
