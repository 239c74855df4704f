"""A run to be watched: the city as a map, its steps in pages, and a stream while it grows.

The page shows one step whole, without any script; the script plays, with steps that it asks for in
pages. The stream tells how far the run has come, never what happened: whoever is told asks for it.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

import msgspec
from jinja2 import Template as Fragment
from litestar import Response, get
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Stream, Template

from loopforge.errors import BadRun, LoopforgeError, Unknown
from loopforge.lab.inspect.run_reader import RunIndex, StepMoment
from loopforge.lab.run.answered_decisions import ERRORS
from loopforge.lab.run.run_folder import LONGEST
from loopforge.lab.run_queue import QueueStanding, RunQueue
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.city_map import build_city_map
from loopforge.web.lab.lab_pages import (
    RunLine,
    comparable_runs,
    look_up_run,
    page_of_runs,
    source_of,
)
from loopforge.web.lab.robot_cast import (
    RobotFigure,
    cast_of,
    cast_standings,
    heard_of,
    hearings_by_message,
    step_as_json,
)
from loopforge.web.rendering.live_hub import server_sent_event
from loopforge.web.room.event_stream import (
    KEPT,
    PATIENCE,
    RETRY,
    CountedEvents,
    event_stream_response,
)
from loopforge.web.server.access_guards import visitor_of
from loopforge.web.server.page_context import Asked, PageContext, render_page

Name = Annotated[str, Parameter(max_length=200)]
Step = Annotated[int, Parameter(ge=0, le=10**6)]
DEEDS = 40
"""Deeds that a page of steps holds, about: many robots, fewer steps. Each is about 1 kB."""
SOON = 0.2
"""Seconds between two looks at a log that grows."""


def page_size(scenario: Scenario) -> int:
    """How many steps go onto a page of them."""
    return min(16, max(2, DEEDS // len(scenario.robots)))


def reading_of(request: Asked) -> asyncio.Semaphore:
    """Stories and comparisons are made two at a time; who waits takes no thread from the home."""
    found: asyncio.Semaphore = request.app.state.setdefault("lab_reading", asyncio.Semaphore(2))
    return found


def open_showable_run(shifts: RunQueue, run: str) -> tuple[RunIndex, RunLine]:
    """A run that can be shown. Raises Unknown, BadRun."""
    index, line = look_up_run(shifts, run)
    if index.scenario is None:
        raise BadRun(f"{run} cannot be shown. {index.damage or 'Its log has no first row yet.'}")
    return index, line


def open_undamaged_run(shifts: RunQueue, run: str) -> tuple[RunIndex, RunLine]:
    """A run of which no line is damaged, for what reads all of it. Raises Unknown, BadRun."""
    index, line = open_showable_run(shifts, run)
    if index.damage:
        raise BadRun(f"{index.damage} `loopforge lab verify` says more.")
    return index, line


def scene_of(index: RunIndex, step: int) -> dict[str, Any]:
    """What a map and its floor are drawn from, at one step; for a run with no step yet, empty."""
    assert index.scenario is not None
    drawn, cast = build_city_map(index.scenario), cast_of(index.scenario)
    found: dict[str, Any] = {"city": drawn, "cast": cast, "moment": None, "standings": []}
    if index.steps:
        moment = index.moment(min(step, index.steps - 1))
        found |= {"moment": moment, "standings": cast_standings(moment, drawn, cast)}
        found |= floor_of(index, moment, cast)
    return found


def floor_of(index: RunIndex, moment: StepMoment, cast: tuple[RobotFigure, ...]) -> dict[str, Any]:
    """What the list of a step's deeds is drawn from."""
    assert index.scenario is not None
    meant, strength = heard_of(moment)
    return {
        "moment": moment,
        "by_name": {figure.name: figure for figure in cast},
        "overseer": next((figure for figure in cast if figure.overseer), None),
        "meant": meant,
        "strength": strength,
        "hearings": hearings_by_message(moment, cast),
        "rules": index.scenario.rules,
        "run": index.folder.name,
        "per_day": index.scenario.steps_per_day,
        "step_of": index.step_of,
    }


# ---------------------------------------------------------------- the page


@get("/lab/{run:str}")
async def watch(
    site: PageContext, visitor: Visitor, run: Name, step: Step | None = None
) -> Template:
    """The run at a step; at its last one, if none is named."""
    return await asyncio.to_thread(_watch, site.shifts, visitor, run, step)


def _watch(shifts: RunQueue, visitor: Visitor, run: str, step: int | None) -> Template:
    try:
        index, line = open_showable_run(shifts, run)
    except (Unknown, BadRun):
        standing = shifts.standing(run)
        if not standing.state:
            raise
        waiting = RunLine(name=run, state=standing.state, told=standing.told)
        return render_page("lab-wait.html", visitor, here="lab", line=waiting)
    assert index.scenario is not None
    steps = index.steps  # more may come while the page is made; who follows is at the last it has
    at = steps - 1 if step is None and line.state == "running" else step or 0
    lines = page_of_runs(shifts, 0)[0]
    return render_page(
        "lab-run.html",
        visitor,
        here="lab",
        line=line,
        scenario=line.scenario,
        began=index.began,
        at=max(0, min(at, steps - 1)),
        steps=steps,
        size=page_size(index.scenario),
        others=comparable_runs(lines, line)[:30],
        source=source_of(shifts.archive, line),
        longest=LONGEST,
        sweep=shifts.archive.in_sweep(index.folder),
        reports=shifts.archive.reports(run),
        **scene_of(index, at),
    )


# ---------------------------------------------------------------- steps in pages


@get("/lab/{run:str}/steps")
async def steps(
    request: Asked,
    site: PageContext,
    visitor: Visitor,  # noqa: ARG001
    run: Name,
    first: Step = 0,
) -> Response[dict[str, Any]]:
    """A page of steps from `first` on, as JSON."""
    engine = request.app.template_engine
    assert engine is not None
    floor = engine.get_template("lab-floor.html")
    found = await asyncio.to_thread(_steps, site.shifts, run, first, floor)
    return Response(found, media_type=MediaType.JSON)


def _steps(shifts: RunQueue, run: str, first: int, floor: Fragment) -> dict[str, Any]:
    index, line = open_showable_run(shifts, run)
    assert index.scenario is not None
    drawn, cast = build_city_map(index.scenario), cast_of(index.scenario)
    moments = index.moments(first, page_size(index.scenario))
    return {
        "first": first,
        "closed": index.steps,
        "state": line.state,
        "steps": [
            step_as_json(moment, drawn, cast)
            | {"html": floor.render(**floor_of(index, moment, cast))}
            for moment in moments
        ],
    }


@get("/lab/{run:str}/course")
async def course(
    site: PageContext,
    visitor: Visitor,  # noqa: ARG001
    run: Name,
    first: Step = 0,
) -> Response[Any]:
    """All steps from `first` on in four numbers each, for the line through time."""
    index, line = await asyncio.to_thread(open_showable_run, site.shifts, run)
    told = {"first": first, "closed": index.steps, "state": line.state}
    return Response(told | {"briefs": index.briefs(first)}, media_type=MediaType.JSON)


# ---------------------------------------------------------------- while it grows


@get("/lab/{run:str}/stream", middleware=[CountedEvents])
async def stream(
    request: Asked,
    site: PageContext,
    visitor: Visitor,  # noqa: ARG001
    run: Name,
    after: Step = 0,
) -> Stream:
    """How far the run has come, from `after` steps on; ends when the run, or the session, does."""
    if not site.shifts.standing(run).state:
        await asyncio.to_thread(site.shifts.archive.index, run)
    return event_stream_response(request, after, partial(_followed, request, site, run))


async def _followed(
    request: Asked, site: PageContext, run: str, after: int
) -> AsyncIterator[bytes]:
    yield b"retry: %d\n\n" % RETRY
    yield server_sent_event("hello", {"boot": site.boot, "after": after})
    quiet, before = 0.0, ("", "")
    while not site.shifts.closed:
        if await visitor_of(request, site) is None:
            yield server_sent_event("gone", {"why": "You are signed out."})
            return
        found = await asyncio.to_thread(_news, site.shifts, run, after)
        if found["briefs"]:
            after, quiet = found["closed"], 0.0
            yield server_sent_event("steps", found, after)
        if (now := (found["state"], found["told"])) != before:
            before, quiet = now, 0.0
            yield server_sent_event("state", {"state": now[0], "told": now[1], "closed": after})
        if now[0] not in ("running", "waiting"):
            yield server_sent_event("over", {"state": now[0], "closed": after})
            return
        await site.clock.sleep(SOON)
        quiet += SOON
        if quiet >= PATIENCE:
            quiet = 0.0
            yield KEPT


def _news(shifts: RunQueue, run: str, after: int) -> dict[str, Any]:
    """The steps that were closed since, and how the run stands."""
    standing = shifts.standing(run)
    try:
        index, line = look_up_run(shifts, run)
    except LoopforgeError as error:
        now = standing if standing.state else QueueStanding("failed", str(error))
        return {"first": after, "closed": after, "briefs": [], "state": now.state, "told": now.told}
    after = min(after, index.steps)
    return {
        "first": after,
        "closed": index.steps,
        "planned": index.planned,
        "briefs": msgspec.to_builtins(index.briefs(after)),
        "rates": [
            *(_percent(index.run.rate(name)) for name in ERRORS),
            str(index.run.incidents),
            index.run.answers.line if index.scenario else "",
            index.run.answers.warning,
            f"{index.run.failings['over_compliance']} of {index.run.wrong}",
            f"{index.run.failings['over_reach']} of {index.run.right}",
        ],
        "state": line.state,
        "told": line.told,
    }


def _percent(rate: float | None) -> str:
    return "none" if rate is None else f"{rate * 100:.0f}%"
