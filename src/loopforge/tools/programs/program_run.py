"""One run of a program in pydantic-monty: every call that it makes of a tool goes by the door.

    code -> checked against its tools -> run -> a call -> door -> what it gave, or an exception

It goes the same way whenever it is run: time stands still in it, chance has a seed, and calls side
by side are all waited for before it goes on. So one that ended at a question to people is run from
its first line again when they have answered (runtime/effects/nested_calls.py), and comes to the
same place.

A program has no files, network, environment or clock. Time, memory, depth and output are limited
by monty, which runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.mind_containment import bounded_text
from loopforge.runtime.ports import PeopleAsked, ToolDoor, UsedTool
from loopforge.tools.programs.tool_functions import HEAD, ToolFunction

if TYPE_CHECKING:
    from pydantic_monty import AsyncMontySession, AsyncSnapshot

DEPTH = 200
"""Calls of functions within one another."""
PRINTED = 1_000_000
"""Characters that a program may print."""
GRACE = 2.0
"""Seconds beyond its own after which a program is ended from outside."""
CERTAIN = re.compile(
    r"error\[(?:missing-argument|unknown-argument|too-many-positional-arguments)\]"
    r"|error\[invalid-argument-type\].* found `Literal\["
)
"""Findings of the type checker that are none of its guesses."""
OF_FUNCTION = re.compile(r"\bfunction `(\w+)`")
WAITS = re.compile(r"\b(?:await|asyncio)\b")
_Answer = dict[str, Any]
RAISED = {"refused": PermissionError, "timed_out": TimeoutError}
"""What a program is told of a call that did not come back, by its outcome; else RuntimeError."""


@dataclass(frozen=True, kw_only=True)
class ProgramLimits:
    """How long it may compute, in seconds, and how many bytes of memory it may hold."""

    seconds: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class ProgramWorld:
    """What is the same in every run of a program: the moment, the zone, and the seed of chance."""

    at: datetime
    zone: str
    seed: int


@dataclass
class ProgramRun:
    """A program: its code, the tools it may call by their functions, and what came of it so far.

    `given` are names that have values from its beginning.
    """

    code: str
    functions: Mapping[str, ToolFunction]
    limits: ProgramLimits
    world: ProgramWorld
    given: Mapping[str, Any] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    size: int = 0
    full: Callable[[], object] = field(default=lambda: None)
    """Is called when it has printed more than it may."""

    @property
    def waits(self) -> bool:
        """Whether it awaits what tools give; else every call gives it at once."""
        return bool(WAITS.search(self.code))

    def hear(self, _stream: str, text: str) -> None:
        """It prints."""
        if self.size <= PRINTED:
            self.printed.append(text)
            self.size += len(text)
            if self.size > PRINTED:
                self.full()


async def run_program(program: ProgramRun, door: ToolDoor | None) -> Any:
    """The value of its last line. Raises PeopleAsked, and InputError, which says how it failed."""
    from pydantic_monty import AsyncMonty, MontyError, MontyRuntimeError, MontySyntaxError

    limits, world, loop = program.limits, program.world, asyncio.get_running_loop()
    most = limits.seconds + GRACE
    try:
        async with AsyncMonty(max_processes=1, request_timeout=most) as pool:
            stubs = [each.stub(waits=program.waits) for each in program.functions.values()]
            session = pool.checkout(
                limits={
                    "max_feed_duration_secs": limits.seconds,
                    "max_memory": limits.memory,
                    "max_recursion_depth": DEPTH,
                },
                type_check=bool(stubs),
                type_check_stubs=HEAD + "".join(stubs),
                type_check_format="concise",
                os_policy={
                    "datetime": world.at,
                    "timezone": world.zone,
                    "sleep": "zero",
                    "random_start": {"seed": world.seed},
                },
            )
            async with asyncio.timeout(None) as bound, session as begun, BackgroundTasks() as tasks:
                program.full = partial(loop.call_soon_threadsafe, bound.reschedule, 0)
                given = await _ProgramRun(program, door, tasks).output(begun)
    except TimeoutError:
        if program.size <= PRINTED:
            raise
    except (MontyRuntimeError, MontySyntaxError) as error:
        raise InputError(error.display()) from error
    except MontyError as error:
        raise InputError(f"the program broke off: {error}") from error
    if program.size > PRINTED:
        raise InputError(f"a program may print {PRINTED:,} characters")
    return given


class _ProgramRun:
    """Answers whatever a program asks for until it ends."""

    def __init__(self, program: ProgramRun, door: ToolDoor | None, tasks: BackgroundTasks) -> None:
        self._program, self._door, self._tasks = program, door, tasks
        self._under_way: dict[int, asyncio.Task[_Answer | Exception]] = {}
        self._nth = 0

    async def output(self, session: AsyncMontySession) -> Any:
        """What its last line gives."""
        from pydantic_monty import (
            AsyncFunctionSnapshot,
            AsyncFutureSnapshot,
            AsyncNameLookupSnapshot,
        )

        at = await self._begun(session)
        while True:
            if isinstance(at, AsyncFunctionSnapshot):
                at = await self._called(at)
            elif isinstance(at, AsyncFutureSnapshot):
                at = await at.resume(await self._settled(sorted(at.pending_call_ids)))  # type: ignore[arg-type]
            elif isinstance(at, AsyncNameLookupSnapshot):
                known = at.variable_name in self._program.functions
                more = {"value": _function(at.variable_name)} if known else {}
                at = await at.resume(**more)
            else:
                await self._settled(sorted(self._under_way))
                return at.output

    async def _begun(self, session: AsyncMontySession) -> AsyncSnapshot:
        """Where it first asks for something; nothing of it has run where its calls are wrong."""
        from pydantic_monty import MontyTypingError

        program = self._program
        given: dict[str, Any] = {"inputs": dict(program.given), "print_callback": program.hear}
        try:
            return await session.feed_start(program.code, **given)
        except MontyTypingError as error:
            wrong = [line for line in error.display().splitlines() if self._certain(line)]
        if wrong:
            raise InputError("nothing was run: " + "; ".join(map(bounded_text, wrong)))
        return await session.feed_start(program.code, skip_type_check=True, **given)

    def _certain(self, finding: str) -> bool:
        """Whether it is wrong beyond doubt, about a call of a tool."""
        about = OF_FUNCTION.search(finding)
        return bool(about and about[1] in self._program.functions and CERTAIN.search(finding))

    async def _called(self, at: Any) -> AsyncSnapshot:
        if at.is_os_function:
            return await at.resume_not_handled()  # type: ignore[no-any-return]
        self._nth += 1
        called = self._answer(self._nth, at.function_name, at.args, at.kwargs)
        if not self._program.waits:
            return await at.resume(await called)  # type: ignore[no-any-return]
        self._under_way[at.call_id] = self._tasks.spawn(self._caught(called), f"call {self._nth}")
        return await at.resume({"future": ...})  # type: ignore[no-any-return]

    async def _settled(self, calls: Sequence[int]) -> dict[int, _Answer]:
        """What came of calls, once all have ended. Raises PeopleAsked where one waits."""
        waited = [self._under_way.pop(call) for call in calls]
        ended = dict(zip(calls, await asyncio.gather(*waited), strict=True))
        broken = [each for each in ended.values() if isinstance(each, Exception)]
        for each in sorted(broken, key=lambda each: isinstance(each, PeopleAsked)):
            raise each
        return {call: each for call, each in ended.items() if not isinstance(each, Exception)}

    async def _caught(self, called: Coroutine[Any, Any, _Answer]) -> _Answer | Exception:
        """What a call side by side gives, or why there is nothing."""
        try:
            return await called
        except Exception as error:  # raised where it is waited for
            return error

    async def _answer(
        self, nth: int, name: str, given: Sequence[Any], named: Mapping[str, Any]
    ) -> _Answer:
        """What a call gives to the program, as monty takes it."""
        function = self._program.functions.get(name)
        if function is None or self._door is None:
            names = ", ".join(self._program.functions) if self._door else ""
            return {"exception": NameError(f"there is no {name!r}; tools are: {names or 'none'}")}
        try:
            arguments = function.arguments(given, named)
        except TypeError as error:
            return {"exception": error}
        used: UsedTool = await self._door.use(nth, function.tool.name, arguments)
        self._program.calls.append(f"{function.tool.name}: {used.outcome}")
        if used.outcome == "returned":
            return {"return_value": used.value}
        return {"exception": RAISED.get(used.outcome, RuntimeError)(used.value)}


def _function(name: str) -> Any:
    """A function of this name, for a program that hands it on; its calls are asked for as such."""

    def function() -> None:
        """Nothing is done here."""

    function.__name__ = name
    return function
