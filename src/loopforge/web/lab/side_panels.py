"""What stands beside the map: one decision, one robot's inner life, one place.

Each is a page of its own, and the same as a fragment for the page of the run. The records come
from the lab (decision_why.py, inner_life.py); here they are only set out to be looked at.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Template
from msgspec import Struct

from loopforge.core.factory_vocabulary import BONDS, EMOTIONS, SCARS, TRAITS
from loopforge.errors import Unknown
from loopforge.lab.inspect.decision_why import DecisionWhy, decision_as_text, explain_row, meant_of
from loopforge.lab.inspect.inner_life import Life, LifeMark
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.inspect.trait_drift import cause_of, how_often, signed_change, what_of
from loopforge.lab.run_queue import RunQueue
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.protocols import Protocol
from loopforge.lab.world.robot_perception import BAND_OF, HEARD, MIDDLE
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.city_map import CitySpot, build_city_map
from loopforge.web.lab.lab_pages import path_of
from loopforge.web.lab.robot_cast import CALM, cast_of, mood_word
from loopforge.web.lab.run_viewer import Name, Step, open_showable_run
from loopforge.web.server.page_context import Asked, PageContext, render_page

WIDE, TALL = 300, 60
"""Units of a small chart."""
POINTS = 400
"""Points that a line is drawn with, at most."""
AROUND = 5
"""Decisions before and after a step that are listed."""
What = Annotated[str, Parameter(max_length=120)]
Format = Literal["page", "text", "json"]


WORDS: dict[str, Any] = {
    "path_of": path_of,
    "articled": add_place_articles,
    "signed": signed_change,
    "times": how_often,
    "what_of": what_of,
    "cause_of": cause_of,
    "band": lambda value: BAND_OF[min(1000, max(0, value))],
    "wide": WIDE,
    "tall": TALL,
}
"""What every template of the lab may use."""


def render_pane(request: Asked, visitor: Visitor, template: str, **context: Any) -> Template:
    """A page by itself, or what the page of a run sets beside its map, if that asks for it."""
    within = "hx-request" in request.headers
    return render_page(template, visitor, here="lab", pane=within, **context)


# ---------------------------------------------------------------- one decision


class LifeLane(Struct, frozen=True, kw_only=True):
    """Where something stands on the scale of how much speaks for the rule, 0 to 1000.

    `was` is where it stood before it was edited, or -1.
    """

    kind: str
    at: int
    was: int = -1
    label: str = ""


@get("/lab/{run:str}/why/{number:int}")
async def why(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    run: Name,
    number: int,
    format: Format = "page",
) -> Template | Response[Any]:
    """A decision by its row: what was true, shown and believed, and what came of it."""
    found, index = await asyncio.to_thread(_why, site.shifts, run, number)
    if format == "json":
        pretty = msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=2)
        return Response(pretty, media_type=MediaType.JSON)
    if format == "text":
        return Response(decision_as_text(found), media_type=MediaType.TEXT)
    assert index.scenario is not None
    row = found.row
    cast = cast_of(index.scenario)
    return render_pane(
        request,
        visitor,
        "lab-why.html",
        found=found,
        row=row,
        run=run,
        figure=next(figure for figure in cast if figure.name == row.who),
        cast=cast,
        mood=mood_word(row.shown.emotions),
        lanes=lanes(found),
        meant=meant_of(row),
        heard=HEARD,
        per_day=index.scenario.steps_per_day,
        rules=index.scenario.rules,
    )


def _why(shifts: RunQueue, run: str, number: int) -> tuple[DecisionWhy, RunIndex]:
    index, _ = open_showable_run(shifts, run)
    return explain_row(index, number), index


def lanes(found: DecisionWhy) -> list[LifeLane]:
    """The truth, what was shown and what was believed, on one scale."""
    row = found.row
    lanes = [LifeLane(kind="true", at=row.truth.case, label=BAND_OF[row.truth.case])]
    true = {edit.what: edit.true for edit in reversed(row.edits)}  # where it stood at first
    for what in ("sign", "cue"):
        shown, was = row.shown.context.get(what, ""), true.get(what, "")
        if shown or was:
            lanes.append(
                LifeLane(kind=what, at=MIDDLE.get(shown, -1), was=MIDDLE.get(was, -1), label=shown)
            )
    believed = row.outcome.belief if meant_of(row) else ""
    at = MIDDLE.get(believed, 500) if believed else -1
    return [*lanes, LifeLane(kind="believed", at=at, label=believed)]


# ---------------------------------------------------------------- one robot


class Chart(Struct, frozen=True, kw_only=True):
    """A value over time: its line as a path, where it began and stands, and what it is called."""

    what: str
    name: str
    path: str
    first: int
    now: int


@get("/lab/{run:str}/robots/{who:str}")
async def robot(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    run: Name,
    who: Name,
    step: Step | None = None,
    of: What = "traits.guardrail_reliance",
) -> Template:
    """A robot's inner life up to a step: every value over time, and why `of` became what it is."""
    context = await asyncio.to_thread(_robot, site.shifts, run, who, step, of)
    return render_pane(request, visitor, "lab-robot.html", **context)


def _robot(shifts: RunQueue, run: str, who: str, step: int | None, of: str) -> dict[str, Any]:
    index, _ = open_showable_run(shifts, run)
    if not index.steps:
        raise Unknown("Nobody has lived through a step of this run yet.")
    assert index.scenario is not None
    life = index.life(who)
    last = index.steps - 1
    at = last if step is None else min(step, last)
    cast = cast_of(index.scenario)
    spec = next(each for each in index.scenario.robots if each.name == who)
    whats = life.whats
    of = of if of in whats else whats[0]
    assert index.began is not None
    deeds = index.deeds(who, at, at + 1)
    return {
        "run": run,
        "figure": next(figure for figure in cast if figure.name == who),
        "cast": cast,
        "spec": spec,
        "policy": index.began.policies.get(who, ""),
        "life": life,
        "at": at,
        "last": last,
        "of": of,
        "mood": mood_word(deeds[0].shown.emotions) if deeds else CALM,
        "place": index.moment(at).row.robots[who][0],
        "groups": groups(life, at, last),
        "chart": chart(life, of, at, last),
        "because": life.because(of, at),
        "greatest": life.greatest(6, at),
        "strip": strip(life.deeds, last),
        "near": index.deeds(who, at - AROUND, at + AROUND + 1),
        "battery": life.battery[at] if at < len(life.battery) else 0,
        "per_day": index.scenario.steps_per_day,
    }


def groups(life: Life, at: int, last: int) -> list[tuple[str, list[Chart]]]:
    """All its charts, under what they are."""
    named = (
        ("How it feels", [f"emotions.{name}" for name in EMOTIONS]),
        ("What it is like", [f"traits.{name}" for name in TRAITS]),
        ("What it carries", [f"scars.{name}" for name in SCARS]),
        ("What others are to it", sorted((w for w in life.whats if w[:6] == "bonds."), key=_bond)),
    )
    return [
        (title, [chart(life, what, at, last) for what in whats if what in life.whats])
        for title, whats in named
        if whats
    ]


def _bond(what: str) -> tuple[str, int]:
    kind, _, other = what.removeprefix("bonds.").partition(":")
    return other, BONDS.index(kind) if kind in BONDS else 0


def chart(life: Life, what: str, at: int, last: int) -> Chart:
    """One value over the whole run; `now` is what it was after step `at`."""
    return Chart(
        what=what,
        name=what_of(what),
        path=line(life.points(what), last),
        first=life.start(what),
        now=life.value(what, at),
    )


def line(points: Sequence[tuple[int, int]], last: int) -> str:
    """A path through (step, value) points that stay what they are until the next one."""
    wide = WIDE / (last + 1)
    thin = max(1, len(points) // POINTS)
    parts: list[str] = []
    for nth, (step, value) in enumerate(points):
        if nth % thin and nth != len(points) - 1:
            continue
        x, y = round((step + 1) * wide, 1), round(TALL - value * TALL / 1000, 1)
        parts.append(f"M0 {y:g}" if not parts else f"H{x:g}V{y:g}")
    return "".join([*parts, f"H{WIDE}"])


class DecisionStripe(Struct, frozen=True):
    """Decisions that fell alike, one after another: which square, from where, how broad."""

    square: str
    x: float
    width: float


def strip(marks: Sequence[LifeMark], last: int) -> list[DecisionStripe]:
    """A life's decisions as stripes; of very many, the worst of some stands for them."""
    thin = max(1, len(marks) // POINTS)
    wide = WIDE / (last + 1)
    found: list[DecisionStripe] = []
    for nth in range(0, len(marks), thin):
        some = marks[nth : nth + thin]
        worst = next((mark for mark in some if mark.failing), some[0])
        stripe = DecisionStripe(
            worst.square.replace("+", " "), round(worst.step * wide, 2), wide * thin
        )
        found.append(stripe)
    return found


# ---------------------------------------------------------------- one place


@get("/lab/{run:str}/places/{spot:str}")
async def place_of(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    run: Name,
    spot: Name,
    step: Step | None = None,
) -> Template:
    """A place's quantities over time, what they are at a step, and what happened there."""
    context = await asyncio.to_thread(_place, site.shifts, run, spot, step)
    return render_pane(request, visitor, "lab-place.html", **context)


def _place(shifts: RunQueue, run: str, name: str, step: int | None) -> dict[str, Any]:
    index, _ = open_showable_run(shifts, run)
    assert index.scenario is not None
    weather = index.weather(name)
    if not weather:
        raise Unknown("Nothing has happened in this run yet.")
    last = len(weather) - 1
    at = last if step is None else min(step, last)
    spot = next(spot for spot in build_city_map(index.scenario).spots if spot.name == name)
    charts = []
    for bar in spot.bars:
        lie = bar.name == "bias"  # from -500 to 500, drawn about its middle
        points = [(n - 1, vals[bar.nth] + 500 * lie) for n, (vals, _) in enumerate(weather)]
        told = "how far its gauges lie" if lie else bar.name
        now, first = weather[at][0][bar.nth], weather[0][0][bar.nth]
        path = line(points, last)
        charts.append(Chart(what=bar.name, name=told, path=path, first=first, now=now))
    happened = [(n, each) for n, (_, some) in enumerate(weather) for each in some]
    standing = index.moment(at).row.robots.items()
    return {
        "run": run,
        "spot": spot,
        "cast": cast_of(index.scenario),
        "charts": charts,
        "at": at,
        "last": last,
        "happened": [each for each in happened if each[0] <= at][-8:],
        "present": [who for who, (where, _) in standing if where == name],
        "guarded": guarded(index.scenario, spot),
    }


def guarded(scenario: Scenario, spot: CitySpot) -> dict[str, list[Protocol]]:
    """The rules that are in force at such a place, by what they guard against."""
    found: dict[str, list[Protocol]] = {}
    roles = [robot.role for robot in scenario.robots]
    for rule in scenario.protocols:
        if any(rule.covers(role, spot.kind) for role in roles):
            found.setdefault(rule.guards, []).append(rule)
    return found
