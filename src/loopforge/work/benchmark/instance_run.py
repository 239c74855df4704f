"""A benchmark of tasks: each instance is given to a mate as a task, and its tests decide.

    repository at the base commit -> task -> result -> tests -> approved, or rejected and once more

Attempts at an instance are tasks in one thread, so that the next is given what the last one taught,
as far as the home's `work_learning` says. Nobody answers during a benchmark: who asks is told so
once. Does not know which models there are, nor who looks at the results.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Clock
from loopforge.work.benchmark.instance_tests import InstanceTests, make_repository
from loopforge.work.benchmark.swe_instance import SweInstance
from loopforge.work.task_service import TaskService
from loopforge.work.task_state import TaskState
from loopforge.work.task_summary import is_settled

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
