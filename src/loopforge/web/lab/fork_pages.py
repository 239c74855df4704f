"""Forks: the same city with one thing changed from a step on.

A fork is made by the owner, from a form that offers what can be changed; it is queued as any run.
"""

import asyncio
from collections.abc import Mapping

from litestar import get, post
from litestar.response import Redirect, Template

from loopforge.core.factory_vocabulary import EMOTIONS, PERCEPTION_MODES, SCARS, STYLES, TRAITS
from loopforge.errors import BadRun, InputError
from loopforge.lab.run.fork_change import check_changes, parse_key_values
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import minds_of
from loopforge.lab.run_queue import RunQueue
from loopforge.lab.world.protocols import VARS
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.lab_pages import offered_policies, path_of, source_of
from loopforge.web.lab.robot_cast import cast_of
from loopforge.web.lab.run_viewer import (
    Name,
    Step,
    open_undamaged_run,
)
from loopforge.web.server.page_context import Fields, PageContext, render_page

MOST = 12
"""Things that one fork changes, at most."""


@get("/lab/{run:str}/fork")
async def ask_fork(
    site: PageContext, owner: Visitor, run: Name, step: Step | None = None
) -> Template:
    """What may be changed, and from which step on."""
    index, line = await asyncio.to_thread(open_undamaged_run, site.shifts, run)
    assert index.scenario is not None
    assert index.began is not None
    source = await asyncio.to_thread(source_of, site.shifts.archive, line)
    return render_page(
        "lab-fork.html",
        owner,
        here="lab",
        line=line,
        run=run,
        scenario=index.scenario,
        forked=index.began.forked,
        source=source,
        at=min(index.steps, line.planned - 1) if step is None else min(step, line.planned - 1),
        most=max(0, min(index.steps, line.planned - 1)),
        policies=offered_policies(site),
        styles=STYLES,
        modes=PERCEPTION_MODES,
        inner=[
            (part, names)
            for part, names in (("traits", TRAITS), ("scars", SCARS), ("emotions", EMOTIONS))
        ],
        quantities=VARS,
        cast=cast_of(index.scenario),
    )


@post("/lab/{run:str}/fork")
async def make_fork(site: PageContext, owner: Visitor, run: Name, data: Fields) -> Redirect:
    """Put the fork into the queue."""
    site.paces.changes.take(owner.person)
    changes = changed(data)
    text = data.get("step", "").strip()
    if not text.isdecimal() or not text.isascii() or len(text) > 6:
        raise InputError("Say from which step on, by its number.")
    await asyncio.to_thread(_checked, site.shifts, run, int(text), changes)
    fork = site.shifts.branch(run, int(text), changes)
    return Redirect(path_of(fork), status_code=303)


def changed(data: Mapping[str, str]) -> dict[str, str]:
    """What the form says shall be otherwise, as `lab fork --set` takes it. Raises InputError."""

    def given(name: str) -> str:
        return data.get(name, "").strip()

    match given("what"):
        case "policy":
            return {f"policy.{given('who')}".rstrip("."): given("policy")}
        case "supervisor" | "pressure" | "perception" as key:
            return {key: given(key)}
        case "inner":
            return {f"robot.{given('whose')}.{given('inner')}": given("value")}
        case "place":
            return {f"place.{given('place')}.{given('of')}": given("amount")}
        case "luck":
            return {f"luck.{given('lucky')}": given("seed")}
        case "lines":
            return _lines(given("lines"))
        case _:
            raise InputError("Choose what shall be different.")


def _lines(text: str) -> dict[str, str]:
    found = parse_key_values((line for line in text.splitlines() if line.strip()), "A fork")
    if not 0 < len(found) <= MOST:
        raise InputError(f"Write 1 to {MOST} lines of KEY=VALUE.")
    return found


def _checked(shifts: RunQueue, run: str, at: int, changes: Mapping[str, str]) -> None:
    """Raises BadRun, BadScenario where this could not be forked so."""
    index, line = open_undamaged_run(shifts, run)
    assert index.began is not None
    assert index.scenario is not None
    if index.began.forked is not None:
        raise BadRun(f"{run} is a fork itself; fork the run it came from, at the same step.")
    if at > index.steps or at >= line.planned:
        raise BadRun(f"{run} can be forked from step 0 to {min(index.steps, line.planned - 1)}.")
    minds: Minds = minds_of(index.began, shifts.minds())
    check_changes(index.scenario, index.began.seed, minds, changes)
