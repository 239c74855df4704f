"""Lifecycle of runs, each in a folder: begun, taken up again after a kill, forked, and played anew.

A run's folder holds its log (actions.jsonl), complete and hash-chained; everything else about a run
is derived from that. A folder is written by one process at a time.
"""

import asyncio
import dataclasses
import fcntl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from loopforge.core.factory_vocabulary import Began, DayEnded, RunLastRow, Stepped
from loopforge.core.policy import PlainPolicy, Policy
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.fork_change import check_changes
from loopforge.lab.run.robot_minds import PLAIN, Minds
from loopforge.lab.run.run_counts import CountingChain, RunCounts
from loopforge.lab.run.run_folder import action_log, free_folder
from loopforge.lab.run.run_log import (
    LOG,
    START,
    JsonlActionLogger,
    LogSink,
    began_of,
    body_of,
    file_error_text,
    head_of,
    is_resume_point,
    lines_of,
    row_of,
    rows_of,
    write_all,
)
from loopforge.lab.run.step_loop import FORMAT, DecisionRecord, Episode, make_first_row
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.runtime.ports import Route

Progress = Callable[[Stepped | DayEnded | RunLastRow], Awaitable[None] | None]
"""Told of each closing row once it is written; what it gives back is awaited before going on."""


@dataclass(frozen=True)
class RunChoice:
    """What a run may have other than its scenario says; None leaves it."""

    seed: int | None = None
    days: int | None = None
    steps_per_day: int | None = None
    perception: str | None = None
    supervisor: str | None = None
    pressure: int | None = None
    traits: Mapping[str, int] = field(default_factory=dict)
    ablate: tuple[str, ...] | None = None

    def apply(self, scenario: Scenario) -> Scenario:
        """The scenario with these choices, checked again. Raises BadScenario."""
        fields = scenario.to_dict()
        for name in ("seed", "days", "steps_per_day", "perception", "supervisor"):
            if (value := getattr(self, name)) is not None:
                fields[name] = value
        if self.pressure is not None:
            fields["pressure"] = [self.pressure]
        if self.ablate is not None:
            fields["ablate"] = list(self.ablate)
        for robot in fields["robots"]:
            if robot["role"] != "supervisor":
                robot["traits"] = {**robot["traits"], **self.traits}
        return Scenario.from_dict(fields)


class _Log:
    """A run's own log file, held by one process; compares before it appends where rows exist."""

    def __init__(self, folder: Path, known: list[bytes] | None = None) -> None:
        self._known = b"".join(known or [])
        self._at = 0
        self.path = folder / LOG
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("ab" if known else "xb", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileExistsError as error:
            if not folder.is_dir():
                raise BadRun(f"{folder} is no folder; a run needs one of its own.") from error
            raise BadRun(
                f"{folder} holds a run already. Name another --out, or take it up with --resume."
            ) from error
        except BlockingIOError as error:
            raise BadRun(f"{folder} is being written by another process just now.") from error
        except (OSError, ValueError) as error:  # ValueError: no path at all
            raise BadRun(f"{self.path} cannot be written: {file_error_text(error)}.") from error
        if known:
            self._file.truncate(len(self._known))

    def write(self, lines: bytes) -> None:
        """Append; what stands there already must be the same."""
        if self._at < len(self._known):
            there = self._known[self._at : self._at + len(lines)]
            if there != lines[: len(there)]:
                raise BadRun(
                    f"{self.path} cannot be taken up: what it holds is not what this program does "
                    "with the same scenario. Its log is left as it is."
                )
            self._at += len(lines)
            lines = lines[len(there) :]
        write_all(self._file, self.path, lines)

    def close(self) -> None:
        """Give the folder free."""
        self._file.close()


class _Beside:
    """A run's log with an action log beside it, which gets what is new: behind `known` bytes."""

    def __init__(self, log: LogSink, logger: LogSink, known: int) -> None:
        self._log, self._logger, self._left = log, logger, known

    def write(self, lines: bytes) -> None:
        """To both."""
        self._log.write(lines)
        skipped = min(self._left, len(lines))
        self._left -= skipped
        if skipped < len(lines):
            self._logger.write(lines[skipped:])


async def play_run(
    first: Began,
    minds: Minds,
    folder: Path,
    *,
    record: DecisionRecord | None = None,
    known: list[bytes] | None = None,
    beside: Path | None = None,
    progress: Progress | None = None,
) -> RunCounts:
    """Play a run into its folder, from its first row to its last.

    `known` are lines that stand there already; `record` what was decided before. `beside` is an
    action log besides the folder's own. Raises BadRun, BadScenario.
    """
    minds.check()
    with ExitStack() as stack:
        if beside is not None:  # first: where it cannot be, no run is begun
            logger = JsonlActionLogger(beside)
            stack.callback(logger.close)
        log = _Log(folder, known)
        stack.callback(log.close)
        sink: LogSink = log
        if beside is not None:
            sink = _Beside(log, logger, sum(map(len, known or ())))
        episode = Episode(first, minds, sink, record)
        episode.chain = chain = CountingChain(folder)
        async for row in episode.run():
            if progress is not None and (more := progress(row)) is not None:
                await more
    chain.run.head = chain.head.hex()
    return chain.run


def summary_of(folder: Path) -> RunCounts:
    """The counts of a run, from its log."""
    run = RunCounts(folder)
    last = b""
    for line in lines_of(folder):
        run.add(row_of(line))
        last = line
    _, run.head = body_of(last)
    return run


async def simulate(
    scenario: Scenario,
    minds: Minds | None = None,
    *,
    out: Path | None = None,
    beside: Path | None = None,
    progress: Progress | None = None,
) -> RunCounts:
    """Run a scenario into a new folder."""
    minds = minds or Minds()
    minds.check()
    folder = out or free_folder(f"{scenario.name}-{minds.policy.replace(':', '-')}-{scenario.seed}")
    first = make_first_row(scenario, scenario.seed, minds)
    return await play_run(first, minds, folder, beside=beside, progress=progress)


class _Settings(msgspec.Struct):
    """What a first row says of the minds."""

    policy: str
    supervisor: str
    named: dict[str, str]
    reflects: str
    route: Route


class _Forked(msgspec.Struct):
    """What a first row says of the run it was forked from."""

    of: str
    at: int
    set: dict[str, str]


def _settings_of(first: Began) -> _Settings:
    try:
        msgspec.convert(first.forked, _Forked | None)
        return msgspec.convert(first.settings, _Settings)
    except msgspec.ValidationError as error:
        raise BadRun(f"The first row of this run is damaged: {error}.") from error


def minds_of(first: Began, given: Minds | None = None) -> Minds:
    """The minds that a run's first row names; models, prompts and mates are taken from `given`."""
    if first.format != FORMAT:
        raise BadRun(f"This run has format {first.format}; this program reads format {FORMAT}.")
    minds, settings = given or Minds(), _settings_of(first)
    if minds.route.model not in ("", settings.route.model):
        asks = settings.route.model or "the first model of its tier"
        raise BadRun(f"This run asks {asks}, not {minds.route.model}; leave --model away.")
    return dataclasses.replace(
        minds,
        policy=settings.policy,
        supervisor=settings.supervisor,
        named=settings.named,
        reflects=settings.reflects,
        route=settings.route,
    )


def policies_of(first: Began, changes: Mapping[str, str] | None = None) -> set[str]:
    """The policies that a run names, and those that a fork has set, or these changes would set."""
    settings = _settings_of(first)
    names = {settings.policy, settings.supervisor, *settings.named.values()}
    changed = {**(first.forked["set"] if first.forked else {}), **(changes or {})}
    return names | {str(changed[key]) for key in changed if key.partition(".")[0] == "policy"}


def asks_models(first: Began, changes: Mapping[str, str] | None = None) -> bool:
    """Whether a run, or its fork with these changes, may ask a model."""
    return bool(policies_of(first, changes) - set(PLAIN)) or first.settings["reflects"] == "llm"


async def resume_run(
    folder: Path,
    given: Minds | None = None,
    *,
    beside: Path | None = None,
    progress: Progress | None = None,
) -> RunCounts:
    """Take a run up where it was cut off, and end it with the bytes it would have had anyway.

    What is written is played again from its record and compared; what was in flight is lost.
    """
    first = began_of(folder)
    minds = minds_of(first, given)
    whole: list[bytes] = []
    pending: list[bytes] = []
    for line in lines_of(folder):
        pending.append(line)
        row = row_of(line)
        if is_resume_point(row):
            whole += pending
            pending = []
            if isinstance(row, RunLastRow):
                _check_unchanged(folder, whole)
                return summary_of(folder)
    record = DecisionRecord.of(row_of(line) for line in whole)
    return await play_run(
        first, minds, folder, record=record, known=whole, beside=beside, progress=progress
    )


def _check_unchanged(folder: Path, lines: Sequence[bytes]) -> None:
    """Raise BadRun where a line of a finished run is not what was written."""
    digest = START
    for number, line in enumerate(lines, 1):
        body, stated = body_of(line)
        digest = sha256(digest + body).digest()
        if stated != digest.hex():
            raise BadRun(
                f"The run is finished, and line {number} of it is not what was written: it was "
                f"changed since. `loopforge lab verify {folder}` says more."
            )


async def fork_run(
    source: Path,
    out: Path,
    at: int,
    changes: Mapping[str, str],
    given: Minds | None = None,
    *,
    beside: Path | None = None,
    progress: Progress | None = None,
) -> RunCounts:
    """The same world up to step `at`, one thing changed there, and on from there live.

    Raises BadRun where the run has no such step, BadScenario where nothing can be changed so.
    """
    first = began_of(source)
    if first.forked is not None:
        raise BadRun(f"{source} is a fork itself; fork the run it came from, at the same step.")
    scenario = Scenario.from_dict(first.scenario)
    last = scenario.days * scenario.steps_per_day - 1
    if not 0 <= at <= last:
        raise BadRun(f"There is no step {at} in {source}; its steps are 0 to {last}.")
    if not changes:
        raise BadScenario("A fork needs at least one --set KEY=VALUE.")
    minds = minds_of(first, given)
    check_changes(scenario, first.seed, minds_of(first, given), changes)
    record = DecisionRecord.of(rows_of(source))
    reached = at == 0 or at - 1 in record.steps
    record.steps = {step: rows for step, rows in record.steps.items() if step < at}
    days = at // scenario.steps_per_day
    record.days = {day: rows for day, rows in record.days.items() if day < days}
    if not reached:
        raise BadRun(f"{source} was cut off before step {at}; take it up with --resume first.")
    forked = {"of": head_of(source), "at": at, "set": dict(changes)}
    forked_first = msgspec.structs.replace(first, forked=forked)
    return await play_run(forked_first, minds, out, record=record, beside=beside, progress=progress)


async def replay_run(
    first: Began, given: Minds | None, record: DecisionRecord | None
) -> AsyncIterator[bytes]:
    """The lines of a run played again: from its record where one is given, else asking anew."""
    taken: list[bytes] = []

    class Taken:
        """Keeps what is written until it is taken."""

        def write(self, lines: bytes) -> None:
            """Keep."""
            taken.append(lines)

    episode = Episode(first, minds_of(first, given), Taken(), record)
    async for _ in episode.run():
        for lines in taken:
            for line in lines.splitlines(keepends=True):
                yield line
        taken.clear()


def run_simulation(
    scenario: Scenario | str | Path,
    *,
    policy: str | PlainPolicy | Policy | None = None,
    seed: int | None = None,
    days: int | None = None,
    steps_per_day: int | None = None,
    perception: str | None = None,
    supervisor: str | None = None,
    minds: Minds | None = None,
    out: Path | str | None = None,
    action_log_path: Path | str | None = None,
) -> RunCounts:
    """Run a scenario (a name, a path, or one that was read) and give its counts.

    `policy` is a name or a function from perception to plan; without one, `minds` say. The log
    goes into the run's folder (`out`, or a new one under runs/) and, besides, to
    `action_log_path`, or ACTION_LOG_PATH, or logs/loopforge_actions.jsonl. Raises BadScenario,
    BadRun.
    """
    found = scenario if isinstance(scenario, Scenario) else open_scenario(str(scenario))
    choice = RunChoice(seed, days, steps_per_day, perception, supervisor)
    chosen = choice.apply(found)
    minds = dataclasses.replace(minds) if minds else Minds()
    if isinstance(policy, str):
        minds.policy = policy
    elif policy is not None:
        minds.policy, minds.own = _named_policy(policy, minds.own)
    return asyncio.run(
        simulate(
            chosen,
            minds,
            out=Path(out) if out else None,
            beside=action_log(action_log_path),
        )
    )


def _named_policy(
    policy: PlainPolicy | Policy, own: Mapping[str, PlainPolicy | Policy]
) -> tuple[str, Mapping[str, PlainPolicy | Policy]]:
    """The name of a policy given as a function, and the policies of one's own with it.

    One that ships is known by its own name; a stranger that is called like one is not.
    """
    shipped = next((name for name, (_, plain) in PLAIN.items() if plain is policy), "")
    if shipped:
        return shipped, own
    called = "".join(sign for sign in getattr(policy, "__name__", "own") if sign.isidentifier())
    name = f"own-{called}" if called in PLAIN or called in ("llm", "chain") else called or "own"
    return name, {**own, name: policy}
