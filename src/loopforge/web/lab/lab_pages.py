"""The lab: the runs of the home, the questions there are to ask, and starting a run.

Everybody who is signed in may look; the owner alone starts, takes up, forks and stops. What a run
is like by itself is in run_viewer.py. Reading logs is work for a thread, never for the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from litestar import Response, get, post
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.core.factory_vocabulary import PERCEPTION_MODES, STYLES
from loopforge.errors import BadRun, BadScenario, InputError, LoopforgeError
from loopforge.lab.inspect.run_archive import Archive
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run.robot_minds import MATE
from loopforge.lab.run.run_lifecycle import Choice
from loopforge.lab.run_queue import QueueStanding, Shifts
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import (
    MOST_DAYS,
    MOST_STEPS,
    open_scenario,
    shipped_scenarios,
)
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.robot_cast import cast_of
from loopforge.web.server.page_context import Fields, Site, page
from loopforge.web.server.request_limits import Paces

PAGE = 40
"""Runs on a page at once."""
PLAIN = ("stub", "guardrail", "context")
ASKING = ("llm", "chain")
Older = Annotated[int, Parameter(ge=0, le=10_000)]
Word = Annotated[str, Parameter(max_length=200)]


class RunLine(Struct, frozen=True, kw_only=True):
    """A run as it is listed. `state` is finished, running, waiting, failed, cut off or damaged."""

    name: str
    state: str
    told: str = ""
    question: str = ""
    scenario: str = ""
    policy: str = ""
    perception: str = ""
    supervisor: str = ""
    pressure: tuple[int, ...] = ()
    seed: int = 0
    days: int = 0
    steps: int = 0
    planned: int = 0
    over_compliance: float = 0.0
    over_reach: float = 0.0
    belief_error: float = 0.0
    incidents: int = 0
    answers: str = ""
    warning: str = ""
    changes: Mapping[str, str] = {}
    at: int = 0
    of: str = ""
    head: str = ""
    written: datetime | None = None


class RunQuestion(Struct, frozen=True, kw_only=True):
    """A scenario that can be run, or why it cannot."""

    key: str
    scenario: Scenario | None
    own: bool
    problem: str = ""


def path_of(run: str, *more: str) -> str:
    """The path of a run's page."""
    return "/".join(("/lab", quote(run, safe=""), *(quote(part, safe="") for part in more)))


# ---------------------------------------------------------------- what there is


def line_of(index: RunIndex, name: str, standing: QueueStanding, *, busy: bool) -> RunLine:
    """A run as it is listed."""
    state, told = state_of(index, standing, busy=busy)
    if index.scenario is None or index.began is None:
        return RunLine(name=name, state=state, told=told)
    scenario, run = index.scenario, index.run
    settings, forked = index.began.settings, index.began.forked or {}
    return RunLine(
        name=name,
        state=state,
        told=told,
        question=scenario.question,
        scenario=scenario.name,
        policy=str(settings.get("policy", "")),
        perception=scenario.perception,
        supervisor=scenario.supervisor,
        pressure=scenario.pressure,
        seed=index.began.seed,
        days=scenario.days,
        steps=index.steps,
        planned=index.planned,
        over_compliance=run.over_compliance,
        over_reach=run.over_reach,
        belief_error=run.mean_belief_error,
        incidents=run.incidents,
        answers=run.answers.line,
        warning=run.answers.warning,
        changes={str(key): str(value) for key, value in forked.get("set", {}).items()},
        at=int(forked.get("at", 0)),
        of=str(forked.get("of", "")),
        head=run.head,
        written=datetime.fromtimestamp(index.written, UTC) if index.written else None,
    )


def state_of(index: RunIndex, standing: QueueStanding, *, busy: bool) -> tuple[str, str]:
    """How a run stands, in a word, and what is to be said of it."""
    if index.damage:
        return "damaged", index.damage
    if index.ended:
        return "finished", ""
    if standing.state in ("running", "waiting", "failed"):
        return standing.state, standing.told
    if busy:
        return "running", "Another process plays it."
    return "cut off", "It was stopped before its end. It can be taken up where it was."


def look(shifts: Shifts, name: str) -> tuple[RunIndex, RunLine]:
    """A run and how it stands. Raises Unknown, BadRun."""
    index = shifts.archive.index(name)
    standing = shifts.standing(name)
    busy = not index.ended and not standing.state and shifts.archive.busy(name)
    return index, line_of(index, name, standing, busy=busy)


def listed(shifts: Shifts, first: int) -> tuple[list[RunLine], bool]:
    """A page of runs, newest first, and whether there are older ones."""
    found = []
    names = shifts.archive.names()
    if not first:
        found = [
            RunLine(name=name, state=shifts.standing(name).state, told=shifts.standing(name).told)
            for name in shifts.known()
            if name not in names
        ]
    for name in names[first : first + PAGE]:
        try:
            found.append(look(shifts, name)[1])
        except LoopforgeError as error:
            found.append(RunLine(name=name, state="damaged", told=str(error)))
    return found, len(names) > first + PAGE


def questions(folder: Path) -> list[RunQuestion]:
    """The scenarios of the home, then those that are shipped; a broken one says what is wrong."""
    own = sorted(path.stem for path in folder.glob("*.toml")) if folder.is_dir() else []
    keys = [*((key, True) for key in own), *((key, False) for key in shipped_scenarios())]
    found = []
    for key, mine in dict(reversed(keys)).items():
        try:
            scenario = open_scenario(key, folder if mine else None)
            found.append(RunQuestion(key=key, scenario=scenario, own=mine))
        except BadScenario as error:
            found.append(RunQuestion(key=key, scenario=None, own=mine, problem=str(error)))
    return sorted(found, key=lambda each: (not each.own, each.key != "first_shift", each.key))


def policies(site: Site) -> list[str]:
    """The policies that a form offers: those that ask nobody, then those that ask a model."""
    mates = [f"{MATE}{handle}" for handle in site.roster.mates()]
    return [*PLAIN, *ASKING, *mates]


# ---------------------------------------------------------------- the list


@get("/lab")
async def lab(site: Site, visitor: Visitor, older: Older = 0, told: Word = "") -> Template:
    """The runs, and the questions that one may ask next."""
    lines, more = await asyncio.to_thread(listed, site.shifts, older)
    asked = await asyncio.to_thread(questions, site.scenarios)
    casts = {each.key: cast_of(each.scenario) for each in asked if each.scenario}
    names = [figure.name for cast in casts.values() for figure in cast]
    return page(
        "lab.html",
        visitor,
        here="lab",
        lines=lines,
        more=older + PAGE if more else 0,
        older=older,
        sweeps=await asyncio.to_thread(site.shifts.archive.sweeps),
        questions=asked,
        casts=casts,
        figures=names,
        policies=policies(site),
        modes=PERCEPTION_MODES,
        styles=STYLES,
        most=(MOST_DAYS, MOST_STEPS),
        told=TOLD.get(told, ""),
        path_of=path_of,
    )


TOLD = {
    "stopped": "It is stopped. What was closed is kept, and can be taken up again.",
    "resumed": "It goes on.",
}


@post("/lab")
async def begin(site: Site, owner: Visitor, data: Fields, paces: Paces) -> Redirect:
    """Start a run."""
    paces.changes.take(owner.person)
    asked = await asyncio.to_thread(questions, site.scenarios)
    found = next((each for each in asked if each.key == data.get("scenario", "")), None)
    if found is None:
        raise InputError("Choose one of the scenarios first.")
    if found.scenario is None:
        raise InputError(found.problem)
    policy = data.get("policy", "stub")
    if policy not in policies(site):
        raise InputError(f"There is no policy {policy[:60]!r} here.")
    scenario = chosen(data).apply(found.scenario)
    name = site.shifts.begin(scenario, policy)
    return Redirect(path_of(name), status_code=303)


def chosen(data: Mapping[str, str]) -> Choice:
    """What a form says other than its scenario; an empty field leaves it. Raises InputError."""
    return Choice(
        seed=_number(data, "seed"),
        days=_number(data, "days"),
        steps_per_day=_number(data, "steps"),
        perception=data.get("perception", "") or None,
        supervisor=data.get("supervisor", "") or None,
        pressure=_number(data, "pressure"),
    )


def _number(data: Mapping[str, str], name: str) -> int | None:
    text = data.get(name, "").strip()
    if not text:
        return None
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 18:
        raise InputError(f"{name.capitalize()} is a whole number, or nothing.")
    return int(text)


# ---------------------------------------------------------------- what becomes of a run


@post("/lab/{run:str}/resume")
async def take_up(site: Site, owner: Visitor, run: Word, paces: Paces) -> Redirect:
    """Go on with a run that was cut off."""
    paces.changes.take(owner.person)
    await asyncio.to_thread(_resumable, site.shifts.archive, run)
    site.shifts.take_up(run)
    return Redirect(path_of(run), status_code=303)


def _resumable(archive: Archive, run: str) -> None:
    if archive.index(run).damage:
        raise BadRun(f"{archive.index(run).damage} It cannot be gone on from.")


@post("/lab/{run:str}/stop")
async def stop(site: Site, owner: Visitor, run: Word, paces: Paces) -> Redirect:
    """End a run where it is, or take it out of the queue."""
    paces.stops.take(owner.person)
    site.shifts.stop(run)
    return Redirect("/lab?told=stopped", status_code=303)


REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
"""A report has styles and pictures in itself, and nothing else: no script, nothing from elsewhere,
and no part in this site, whatever somebody may have written into it."""


@get("/lab/{run:str}/reports/{file:str}")
async def report(site: Site, visitor: Visitor, run: Word, file: Word) -> Response[bytes]:  # noqa: ARG001
    """A report from the folder of a run or a sweep, shut in."""
    data = await asyncio.to_thread(site.shifts.archive.report, run, file)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(data, media_type=MediaType.HTML, headers=headers)


def others(lines: Iterable[RunLine], than: RunLine) -> list[RunLine]:
    """The runs that a run may be compared with: its fork's kin first, then the same scenario."""

    def kin(line: RunLine) -> tuple[bool, bool]:
        related = line.of in (than.head, than.of) or line.head == than.of
        return not (related and bool(line.of or than.of)), line.scenario != than.scenario

    return sorted((line for line in lines if line.name != than.name and line.planned), key=kin)


handlers: list[Any] = [lab, begin, take_up, stop, report]
