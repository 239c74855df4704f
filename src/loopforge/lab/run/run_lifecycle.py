"""Lifecycle of runs, each in a folder: begun, taken up again after a kill, forked, and played anew.

A run's folder holds its log (actions.jsonl), complete and hash-chained; everything else about a run
is derived from that. A folder is written by one process at a time.
"""

import asyncio
import dataclasses
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, takewhile
from pathlib import Path
from typing import cast

import msgspec

from loopforge.core.factory_vocabulary import Began, DayEnded, Row, RunLastRow, Stepped
from loopforge.core.policy import PlainPolicy, Policy
from loopforge.errors import BadRun, BadScenario, Unknown
from loopforge.lab.run.answered_decisions import models_that_answered
from loopforge.lab.run.fork_change import check_changes
from loopforge.lab.run.log_writer import open_logs
from loopforge.lab.run.robot_minds import MATE, PLAIN, Minds
from loopforge.lab.run.run_counts import CountingChain, RunCounts
from loopforge.lab.run.run_folder import (
    action_log,
    free_folder,
    keep_source,
    refuse_run_of_sweep,
)
from loopforge.lab.run.run_log import (
    START,
    began_of,
    body_of,
    head_of,
    is_resume_point,
    lines_of,
    row_of,
    rows_of,
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


async def play_run(
    first: Began,
    minds: Minds,
    folder: Path,
    *,
    record: DecisionRecord | None = None,
    beside: Path | None = None,
    progress: Progress | None = None,
    source: Path | None = None,
) -> RunCounts:
    """Play a run into a new folder, from its first row to its last.

    `record` is what was decided before. `beside` is an action log besides the folder's own, and
    `source` the run that this is a fork of. Raises BadRun, BadScenario.
    """
    minds.check()
    with open_logs(folder, beside) as (_, sink):
        if source is not None:
            keep_source(folder, source)
        return await _play(Episode(first, minds, sink, record), folder, progress)


async def _play(episode: Episode, folder: Path, progress: Progress | None) -> RunCounts:
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
    minds = minds.naming_model()
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


def minds_of(
    first: Began, given: Minds | None = None, answered: Mapping[str, str] | None = None
) -> Minds:
    """The minds that a run's first row names; models, prompts and mates are taken from `given`.

    `answered` are the models that answered so far, by policy: they go on, where the first row names
    none, as those of earlier programs. Raises BadRun where `given` asks another.
    """
    if first.format != FORMAT:
        raise BadRun(f"This run has format {first.format}; this program reads format {FORMAT}.")
    minds, settings = given or Minds(), _settings_of(first)
    model, wanted = settings.route.model, minds.route.model
    names = {model} if model else set((answered or {}).values())
    if wanted and names != {wanted}:
        asks = " and ".join(sorted(names)) or "the first model of its tier"
        raise BadRun(f"This run asks {asks}, not {wanted}; leave --model away.")
    if any(name.startswith(MATE) for name in _policies_in(settings)):
        minds = minds.on_model(model)
    minds = dataclasses.replace(
        minds,
        policy=settings.policy,
        supervisor=settings.supervisor,
        named=settings.named,
        reflects=settings.reflects,
        route=settings.route,
    )
    return minds if model else minds.going_on_with(answered or {})


def _check_models(minds: Minds) -> None:
    """Raise BadScenario, or BadRun where a model that answered so far cannot be asked any more."""
    try:
        minds.check()
    except Unknown as error:
        told = "The run was answered by that one so far: let it be asked again, or begin a new run."
        raise BadRun(f"{error} {told}") from error


def _policies_in(settings: _Settings) -> set[str]:
    return {settings.policy, settings.supervisor, *settings.named.values()}


def policies_of(first: Began, changes: Mapping[str, str] | None = None) -> set[str]:
    """The policies that a run names, and those that a fork has set, or these changes would set."""
    names = _policies_in(_settings_of(first))
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
    refuse_run_of_sweep(folder)
    first = began_of(folder)
    if _is_finished(lines_of(folder)):
        return _finished_counts(folder)
    with open_logs(folder, beside, resumed=True) as (log, sink):
        if _is_finished(log.known):
            return _finished_counts(folder)
        minds = minds_of(first, given, models_that_answered(map(row_of, log.known)))
        _check_models(minds)
        record = DecisionRecord.of(map(row_of, log.known))
        return await _play(Episode(first, minds, sink, record), folder, progress)


def _is_finished(lines: Iterable[bytes]) -> bool:
    (last,) = deque(lines, 1)
    return isinstance(row_of(last), RunLastRow)


def _finished_counts(folder: Path) -> RunCounts:
    """The counts of a finished run. Raises BadRun where a line of it is not what was written."""
    digest = START
    for number, line in enumerate(lines_of(folder), 1):
        body, stated = body_of(line)
        digest = sha256(digest + body).digest()
        if stated != digest.hex():
            raise BadRun(
                f"The run is finished, and line {number} of it is not what was written: it was "
                f"changed since. `loopforge lab verify {folder}` says more."
            )
    return summary_of(folder)


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

    Raises BadRun where the run has no such step, or is not what this program plays from its record
    up to there; BadScenario where nothing can be changed so.
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
    answered = models_that_answered(rows_of(source))
    minds = minds_of(first, given, answered)
    check_changes(scenario, first.seed, minds_of(first, given, answered), changes)
    _check_models(minds)
    record, count = _record_before(source, at)
    if at > 0 and at - 1 not in record.steps:
        raise BadRun(f"{source} was cut off before step {at}; take it up with --resume first.")
    await _check_source(source, first, given, count)
    forked_first = msgspec.structs.replace(
        first,
        settings={**first.settings, "route": msgspec.to_builtins(minds.route)},
        forked={"of": head_of(source), "at": at, "set": dict(changes)},
    )
    return await play_run(
        forked_first, minds, out, record=record, beside=beside, progress=progress, source=source
    )


def _record_before(source: Path, at: int) -> tuple[DecisionRecord, int]:
    """What was decided before a step, as far as it was closed, and how many lines tell of it."""
    count = 0

    def closed() -> Iterator[Row]:
        nonlocal count
        for row in takewhile(lambda row: isinstance(row, Began) or row.step < at, rows_of(source)):
            if is_resume_point(row):
                count = row.n + 1
            yield row

    return DecisionRecord.of(closed()), count


async def _check_source(source: Path, first: Began, given: Minds | None, count: int) -> None:
    """Raise BadRun where so many lines of a run do not come out of its record the same again."""
    record = DecisionRecord.of(islice(rows_of(source), count))
    played = cast("AsyncGenerator[bytes, None]", replay_run(first, given, record))
    async with aclosing(played):
        for number, line in enumerate(islice(lines_of(source), count), 1):
            if await anext(played, b"") != line:
                by = first.versions.get("loopforge", "another program")
                raise BadRun(
                    f"{source} cannot be forked: played again, line {number} of it comes out "
                    f"other than it stands there. It was changed since, or {by}, which wrote it, "
                    f"played otherwise: `loopforge lab verify {source}` says more. Fork it with "
                    "the program that wrote it, or run its scenario anew and fork that."
                )


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
