"""Forks and comparisons: the same city with one thing changed, and two runs side by side.

A fork is made by the owner, from a form that offers what can be changed; it is queued as any run.
Two runs are set out at the same step, with where they part and what became of it
(lab/inspect/run_diff.py).
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import get, post
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.core.factory_vocabulary import EMOTIONS, PERCEPTION_MODES, SCARS, STYLES, TRAITS
from loopforge.errors import BadRun, InputError
from loopforge.lab.inspect.diff_text import RunDiff, count_label, difference_cells
from loopforge.lab.inspect.run_archive import RecentCache
from loopforge.lab.inspect.run_diff import diff_runs
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
    open_showable_run,
    open_undamaged_run,
    page_size,
    scene_of,
)
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page
from loopforge.web.server.request_limits import RequestLimits

MOST = 12
"""Things that one fork changes, at most."""
DIFFS = 8
"""Comparisons that are kept."""
Word = Annotated[str, Parameter(max_length=200)]

# ---------------------------------------------------------------- a fork


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
async def make_fork(
    site: PageContext, owner: Visitor, run: Name, data: Fields, paces: RequestLimits
) -> Redirect:
    """Put the fork into the queue."""
    paces.changes.take(owner.person)
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


# ---------------------------------------------------------------- side by side


def diffs_of(request: Asked) -> RecentCache[RunDiff]:
    """The comparisons of this server that were made last; a run that grew is compared anew."""
    found: RecentCache[RunDiff] = request.app.state.setdefault("lab_diffs", RecentCache(DIFFS))
    return found


@get("/lab/{run:str}/against")
async def choose_against(visitor: Visitor, run: Name, other: Word = "") -> Redirect:  # noqa: ARG001
    """On to the comparison with the run that was chosen, or to all that can be."""
    if not other:
        return Redirect(f"/lab?{urlencode({'beside': run})}", status_code=303)
    return Redirect(path_of(run, "against", other), status_code=303)


@get("/lab/{run:str}/against/{other:str}")
async def against(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    run: Name,
    other: Name,
    step: Step | None = None,
) -> Template:
    """Two runs at the same step, where they part, and the numbers."""
    kept = diffs_of(request)
    context = await asyncio.to_thread(_against, site.shifts, kept, run, other, step)
    return render_page("lab-compare.html", visitor, here="lab", **context)


def _against(
    shifts: RunQueue, kept: RecentCache[RunDiff], run: str, other: str, step: int | None
) -> dict[str, Any]:
    both = [open_showable_run(shifts, run), open_showable_run(shifts, other)]
    if not all(index.steps for index, _ in both):
        raise BadRun("One of these runs has no step yet; wait for it, then compare.")
    one, two = both[0][0], both[1][0]
    key = one.path, one.size, two.path, two.size
    found = kept.of(key, lambda: diff_runs(one.folder, two.folder))
    steps = max(index.steps for index, _ in both)
    parted = found.parting.step if found.parting else -1
    at = min(steps - 1, max(0, parted) if step is None else step)
    sides = []
    for index, line in both:
        assert index.scenario is not None
        side = {"line": line, "size": page_size(index.scenario), "steps": index.steps}
        sides.append(side | {"scene": scene_of(index, at)})
    return {
        "sides": sides,
        "found": found,
        "story": [part for part in found.text.split("\n\n") if "\n" not in part],
        "numbers": [
            (count_label(name), *difference_cells(name, pair))
            for name, pair in found.numbers.items()
        ],
        "at": at,
        "steps": steps,
        "parted": parted,
        "per_day": both[0][0].scenario.steps_per_day if both[0][0].scenario else 1,
        "planned": max(line.planned for _, line in both),
        "state": next((line.state for _, line in both if line.state == "running"), "finished"),
    }
