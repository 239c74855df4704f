"""Git of this machine, in repositories of Loopforge's own and of people: never in a task's tree.

    git = HostGit(folder)
    head = await git.text("rev-parse", "--verify", "refs/heads/main")

It is given no configuration but the repository's own, no hooks, no network, no terminal, no program
to page, sign or compare with, and no more memory, time and disk than it may use. Cancelled, it is
ended. Trees and files are read as git has them: no filter, no checkout, no program of anybody's.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loopforge.errors import InputError, NotInstalled, RepositoryError
from loopforge.runtime.installation.limited_process import child_process
from loopforge.work.git.change_review import PathChange, read_changes

OLDEST = (2, 38)
"""The git that first merges without a working tree."""
SECONDS, MEMORY = 120.0, 2 << 30
"""What one run may use: time, and bytes of addresses."""
PIECE = 1 << 20
COMMITTER_NAME, COMMITTER_MAIL = "Loopforge", "loopforge@localhost"
"""Who makes commits."""
SAFE = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.attributesFile": os.devnull,
    "core.bigFileThreshold": "16m",
    "core.alternateRefsCommand": "",
    "core.quotePath": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "diff.external": "",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "diff.orderFile": os.devnull,
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "merge.verifySignatures": "false",
    "submodule.recurse": "false",
    "push.recurseSubmodules": "no",
    "push.gpgSign": "false",
    "push.followTags": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "transfer.fsckObjects": "true",
    "receive.fsckObjects": "true",
    "fetch.fsckObjects": "true",
    "pack.threads": "1",
    "index.threads": "1",
    "trace2.eventTarget": "",
    "trace2.normalTarget": "",
    "trace2.perfTarget": "",
}
"""What of a repository's own configuration does not count."""
NO_REPOSITORY = "not a git repository"
"""What git says of a folder that is none, whatever it is asked."""
ELSEWHERE = (
    "Bring it back, or write where it is now into its file in the folder `repositories` of the "
    "home."
)
_PLACES = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class GitEnded:
    """How it ended: its exit code, and what it wrote."""

    code: int
    output: bytes

    @property
    def text(self) -> str:
        """What it wrote, without the last line's end."""
        return self.output.decode("utf-8", "replace").removesuffix("\n")


class HostGit:
    """Git in one repository: a folder that is one, or has one in it.

    `environment` is what it has besides its own, `more` is configuration besides SAFE, and `own`
    are names of SAFE in which what the repository says counts.
    """

    def __init__(
        self,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        more: Mapping[str, str] | None = None,
        own: Collection[str] = (),
    ) -> None:
        self.folder = folder
        self._environment = environment or {}
        chosen = {name: value for name, value in SAFE.items() if name not in own} | {**(more or {})}
        self._options = [each for pair in chosen.items() for each in ("-c", "=".join(pair))]

    async def text(self, *arguments: str, stdin: bytes = b"") -> str:
        """What it wrote. Raises RepositoryError."""
        return (await self.run(*arguments, stdin=stdin)).text

    async def parts(self, *arguments: str, stdin: bytes = b"") -> list[str]:
        """The parts of what it wrote, of a command that ends each with a zero byte."""
        ended = await self.run(*arguments, stdin=stdin)
        parts = ended.output.decode("utf-8", "surrogateescape").split("\0")
        return parts[:-1] if parts[-1] == "" else parts

    async def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        ok: tuple[int, ...] = (0,),
        environment: Mapping[str, str] | None = None,
    ) -> GitEnded:
        """Run it. Raises RepositoryError for an exit code not of these, and NotInstalled."""
        program, prlimit = await asyncio.to_thread(_found_for, self.folder)
        child = child_process(
            *(prlimit, f"--as={MEMORY}", f"--cpu={int(SECONDS)}", "--core=0", "--"),
            *(program, "--no-pager", "--no-replace-objects", "--literal-pathspecs"),
            *self._options,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
            env=self._variables(environment),
        )
        try:
            async with child as process, asyncio.timeout(SECONDS):
                output, complaint = await process.communicate(stdin)
        except TimeoutError:
            told = f"git {arguments[0]} took longer than {SECONDS:g} seconds."
            raise RepositoryError(told) from None
        said = complaint.decode("utf-8", "replace").strip()
        code = process.returncode or 0
        if code not in ok or (code and NO_REPOSITORY in said):
            raise RepositoryError(_refusal(arguments[0], self.folder, said, code))
        return GitEnded(code, output)

    async def holds(self, needles: Collection[bytes], *arguments: str) -> bool:
        """Whether any of these stands in what it writes, however much that is."""
        program, _ = await asyncio.to_thread(_found_for, self.folder)
        child = child_process(
            *(program, "--no-pager", "--no-replace-objects", *self._options, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.folder,
            env=self._variables(None),
        )
        longest, last = max(map(len, needles), default=0), b""
        async with child as process:
            assert process.stdout is not None
            while piece := await process.stdout.read(PIECE):
                last = last[-longest:] + piece
                if any(needle in last for needle in needles):
                    return True
        return False

    def _variables(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {
            "PATH": _PLACES,
            "HOME": os.devnull,
            "LC_ALL": "C",
            "TZ": "UTC",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            **self._environment,
            **(more or {}),
        }


def _found_for(folder: Path) -> tuple[str, str]:
    """Both, to be run in a folder. Raises NotInstalled, RepositoryError where that is gone."""
    if not folder.is_dir():
        raise RepositoryError(f"There is no folder {folder} any more. {ELSEWHERE}")
    return _found()


@cache
def _found() -> tuple[str, str]:
    """Where git and prlimit are. Raises NotInstalled."""
    git, prlimit = (shutil.which(name, path=_PLACES) for name in ("git", "prlimit"))
    if git is None or prlimit is None:
        raise NotInstalled(
            "Work on a repository needs git and prlimit, and one of them is not installed: "
            "`apt install git util-linux`."
        )
    version = _version(git)
    if version < OLDEST:
        have, need = (".".join(map(str, each)) for each in (version, OLDEST))
        raise NotInstalled(f"Work on a repository needs git {need} or newer; here is {have}.")
    return git, prlimit


def _version(git: str) -> tuple[int, int]:
    import subprocess

    said = subprocess.run(  # noqa: S603
        [git, "--version"], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    ).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _refusal(what: str, folder: Path, said: str, code: int) -> str:
    if "dubious ownership" in said:
        return (
            f"{folder} belongs to another user than the one who runs Loopforge, so git does not "
            "touch it. Run Loopforge as that user, or give the folder to this one."
        )
    if NO_REPOSITORY in said:
        return f"{folder} is no git repository. {ELSEWHERE}"
    lines = [line for line in said.splitlines() if line.strip()]
    told = "; ".join(lines[-3:])[:600] or f"it ended with {code}"
    return f"git {what} failed: {told}"


def is_commit(text: str) -> bool:
    """Whether this is the full name of a commit."""
    return re.fullmatch(r"[0-9a-f]{40}", text) is not None


def checked_commit(text: str) -> str:
    """The same, or InputError."""
    if not is_commit(text):
        raise InputError(f"{text[:60]!r} is no commit: it has 40 hex digits.")
    return text


# ---------------------------------------------------------------- tree reading


async def tree_changes(git: HostGit, before: str, after: str) -> list[PathChange]:
    """Which paths differ between two commits or trees."""
    parts = await git.parts(
        *("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", before, after)
    )
    return read_changes(parts)


async def packed_commits(git: HostGit, wanted: Sequence[str], without: Sequence[str] = ()) -> bytes:
    """Some commits as a pack, for a repository that has the others."""
    asked = "".join([f"{each}\n" for each in wanted] + [f"^{each}\n" for each in without])
    ended = await git.run(
        *("pack-objects", "--revs", "--stdout", "--thin", "-q"), stdin=asked.encode()
    )
    return ended.output


async def file_contents(git: HostGit, objects: Collection[str]) -> dict[str, bytes]:
    """The bytes of files, by their objects. Raises RepositoryError for one that is not there."""
    if not objects:
        return {}
    asked = "\n".join([*objects, ""]).encode()
    told = (await git.run("cat-file", "--batch", stdin=asked)).output
    found, at = dict[str, bytes](), 0
    while at < len(told):
        end = told.index(b"\n", at)
        name, kind, *size = told[at:end].decode().split(" ")
        if not size:  # such as of a clone that left it out
            raise RepositoryError(f"Git has no whole copy here: object {name} is {kind}.")
        found[name] = told[end + 1 : end + 1 + int(size[0])]
        at = end + 2 + int(size[0])
    return found
