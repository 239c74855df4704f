"""Whether an instance's tests pass at a commit: in a workspace of its own, confined, by exit codes.

    the branch, cloned anew -> the tests' own files as they were -> the test patch -> the tests

What the task changed of files that the test patch changes does not count, as in SWE-bench. No
output is read: a run of tests went well if it ended with 0.
"""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path

from loopforge.errors import InputError
from loopforge.tools.sandbox.confined_process import ProcessEnded
from loopforge.work.benchmark.swe_instance import SweInstance
from loopforge.work.git.host_git import HostGit
from loopforge.work.git.person_repository import PersonRepository
from loopforge.work.workspace.task_workspace import TaskWorkspace

BRANCH = "main"
HISTORY, PATCH, TREE = "history.bundle", "tests.patch", "tree"
TOLD = 400
"""Signs of an output that are told."""


async def make_repository(instance: SweInstance, folder: Path) -> None:
    """A bare repository whose one branch ends at the base commit: nothing that came later is in it.

    Raises RepositoryError.
    """
    await asyncio.to_thread(folder.mkdir, parents=True)
    made, source = HostGit(folder), HostGit(Path(instance.repo))
    await made.run("init", "-q", "--bare", "-b", BRANCH)
    wanted = f"{instance.base_commit}\n".encode()
    packed = await source.run("pack-objects", "-q", "--revs", "--stdout", stdin=wanted)
    await made.run("index-pack", "--stdin", stdin=packed.output)
    await made.run("update-ref", f"refs/heads/{BRANCH}", instance.base_commit)


class InstanceTests:
    """The tests of one instance, in a workspace that nothing else uses."""

    def __init__(self, instance: SweInstance, place: TaskWorkspace, repository: Path) -> None:
        self._instance, self._place = instance, place
        self._person = PersonRepository(repository)

    async def unusable(self) -> str:
        """Why the instance says nothing about anybody: as it stands, tests pass or fail otherwise.

        "" where each that must pass later fails now, and all that must go on passing do.
        """
        one = self._instance
        await self._prepare(BRANCH)
        for test in one.must_pass:
            if (await self._run([test])).code == 0:
                return f"{test} passes before anything was done"
        if one.stay_passing and (ended := await self._run(one.stay_passing)).code != 0:
            return f"tests that must go on passing fail before anything was done: {_tail(ended)}"
        return ""

    async def failing(self, branch: str) -> str:
        """Why the problem is not solved on a branch; "" where it is."""
        try:
            await self._prepare(branch)
        except InputError as error:
            return str(error)
        for tests, what in (
            (self._instance.must_pass, "its tests fail"),
            (self._instance.stay_passing, "tests that passed before fail"),
        ):
            if tests and (ended := await self._run(tests)).code != 0:
                return f"{what}: {_tail(ended)}"
        return ""

    async def _prepare(self, branch: str) -> None:
        """Raises InputError where the test patch does not fit."""
        one, files = self._instance, self._place.files
        files.write(HISTORY, await self._person.history(branch), self._place.limits.disk)
        files.write(PATCH, one.test_patch.encode(), self._place.limits.disk)
        base = shlex.quote(one.base_commit)
        restored = [
            f"git checkout -q {base} -- {path} 2>/dev/null || rm -rf -- {path}"
            for path in map(shlex.quote, one.tested_paths)
        ]
        lines = (
            "set -e",
            f"rm -rf {TREE}",
            f"git clone -q -b {shlex.quote(branch)} {HISTORY} {TREE}",
            f"cd {TREE}",
            *restored,
            f"if [ -s ../{PATCH} ]; then git apply --whitespace=nowarn ../{PATCH}; fi",
        )
        ended = await self._place.run("\n".join(lines))
        if ended.code != 0:
            raise InputError(f"its tests could not be put in place: {_tail(ended)}")

    async def _run(self, tests: Sequence[str]) -> ProcessEnded:
        line = f"cd {TREE} && {self._instance.test_cmd} {shlex.join(tests)}"
        return await self._place.run(line)


def _tail(ended: ProcessEnded) -> str:
    """The end of an output in one line, or which limit it met."""
    if ended.met:
        return f"it took more {ended.met} than it may"
    said = " ".join(ended.output.decode("utf-8", "replace").split())
    return said[-TOLD:] or f"exit code {ended.code}"
