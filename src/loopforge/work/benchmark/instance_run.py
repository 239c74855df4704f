"""A benchmark of tasks: each instance is given to a mate as a task, and its tests decide.

    repository at the base commit -> task -> result -> tests -> approved, or rejected and once more
    tests: the branch, cloned anew -> the tests' own files as they were -> the test patch -> run

Attempts at an instance are tasks in one thread, so that the next is given what the last one taught,
as far as the home's `work_learning` says. Nobody answers during a benchmark: who asks is told so
once. Tests run in a workspace of their own, confined. What the task changed of files that the test
patch changes does not count, as in SWE-bench. No output is read: a run of tests went well if it
ended with 0. Does not know which models there are, nor who looks at the results.
"""

import asyncio
import shlex
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from loopforge.errors import InputError, LoopforgeError
from loopforge.runtime.ports import Clock
from loopforge.tools.sandbox.confined_process import ProcessEnded
from loopforge.work.benchmark.swe_instance import SweInstance
from loopforge.work.git.host_git import HostGit
from loopforge.work.git.person_repository import PersonRepository
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import TaskState
from loopforge.work.task_summary import is_settled
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


FOLDER = "bench"
LOOK = 0.05
"""Seconds between two looks at a task."""
ALONE = "Nobody answers here: decide that yourself, or say that it is done."


class InstanceAttempt(Struct, frozen=True, kw_only=True):
    """One attempt at an instance. `why` it is not resolved; `unusable` ones say nothing of a mate.

    `confidence` is the task's own, 0 to 100; `dollars` what it cost.
    """

    instance: str
    arm: str
    attempt: int
    resolved: bool
    why: str = ""
    unusable: bool = False
    task: str = ""
    turns: int = 0
    confidence: float = 0.0
    dollars: float = 0.0


class BenchmarkRun:
    """Instances given to the mates of a home. `arm` is what the home's `work_learning` is now."""

    def __init__(
        self, tasks: TaskService, clock: Clock, home: Path, person: str, arm: str, attempts: int = 1
    ) -> None:
        self._tasks, self._clock, self._home = tasks, clock, home
        self._person, self._arm, self._attempts = person, arm, attempts

    async def over(
        self, instances: Sequence[SweInstance], *, mate: str = "", budget: float = 0.0
    ) -> AsyncIterator[InstanceAttempt]:
        """Every attempt at each, as it ends. Cancelled, the task at work is stopped."""
        run = self._tasks.new_id()[-8:]
        for nth, instance in enumerate(instances):
            name = f"bench-{run}-{nth + 1}"
            try:
                async with self._prepared(instance, name) as tests:
                    if why := await tests.unusable():
                        yield self._unusable(instance, why)
                        continue
                    for attempt in range(1, self._attempts + 1):
                        done = await self._attempt(instance, tests, name, attempt, mate, budget)
                        yield done
                        if done.resolved:
                            break
            except LoopforgeError as error:
                yield self._unusable(instance, str(error))

    def _unusable(self, instance: SweInstance, why: str) -> InstanceAttempt:
        return InstanceAttempt(
            instance=instance.instance_id,
            arm=self._arm,
            attempt=0,
            resolved=False,
            why=why,
            unusable=True,
        )

    @asynccontextmanager
    async def _prepared(self, instance: SweInstance, name: str) -> AsyncIterator[InstanceTests]:
        """A registered repository that holds nothing later, and a workspace for the tests."""
        folder, places = self._home / FOLDER / name, self._tasks.places
        try:
            await make_repository(instance, folder)
            await places.repositories.registered.register(folder, name)
            yield InstanceTests(instance, places.workspaces.of(name), folder)
        finally:
            if any(name == each.name for each in places.repositories.registered.known()):
                places.repositories.registered.remove(name)
            await places.workspaces.forget(name)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _attempt(
        self,
        instance: SweInstance,
        tests: InstanceTests,
        name: str,
        attempt: int,
        mate: str,
        budget: float,
    ) -> InstanceAttempt:
        tasks, person = self._tasks, self._person
        id = await tasks.open(
            instance.problem_statement,
            person,
            mate=mate,
            thread=name,
            repo=name,
            budget=budget,
            owner=True,
        )
        try:
            state = await self._worked(id)
            offered = state.offered
            if state.stage != "finished":
                why = _unfinished(state)
                await tasks.stop(id, person, "a benchmark's attempt is over")
            elif offered is None or not offered.commit:
                why = "it changed nothing"
            else:
                why = await tests.failing(str(offered.branch))
            confidence = state.confidence
            await (tasks.reject(id, person, reason=why) if why else tasks.approve(id, person))
            state = await self._settled(id)
        except asyncio.CancelledError:
            await asyncio.shield(tasks.stop(id, person, "the benchmark was ended"))
            raise
        return InstanceAttempt(
            instance=instance.instance_id,
            arm=self._arm,
            attempt=attempt,
            resolved=not why,
            why=why,
            task=id,
            turns=state.turns,
            confidence=confidence,
            dollars=float(state.dollars),
        )

    async def _worked(self, id: str) -> TaskState:
        """The task when nothing is left to be done; one that asks is told that it is alone."""
        told = False
        while True:
            state = await self._settled(id)
            if state.allowing:
                await self._tasks.allow(id, self._person, owner=True, yes=False)
            elif state.stage == "waiting" and not told:
                told = True
                await self._tasks.say(id, self._person, ALONE)
            else:
                return state

    async def _settled(self, id: str) -> TaskState:
        while not is_settled(state := await self._tasks.store.named(id)):
            await self._clock.sleep(LOOK)
        return state


def _unfinished(state: TaskState) -> str:
    """Why it came to no result."""
    if state.stage == "waiting" and state.asked is not None:
        return f"it asks: {' '.join(str(state.asked.question).split())[:200]}"
    return f"it is {state.stage}" + (f": {state.halted.why}" if state.halted else "")
