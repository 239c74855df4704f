"""Comparisons: two runs side by side at the same step, where they part, and what became of it.

See lab/inspect/run_diff.py.
"""

import asyncio
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import get
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.errors import BadRun
from loopforge.lab.inspect.diff_text import RunDiff, count_label, difference_cells
from loopforge.lab.inspect.run_archive import RecentCache
from loopforge.lab.inspect.run_diff import diff_runs
from loopforge.lab.run_queue import RunQueue
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.lab_pages import path_of
from loopforge.web.lab.run_viewer import (
    Name,
    Step,
    open_showable_run,
    page_size,
    reading_of,
    scene_of,
)
from loopforge.web.server.page_context import Asked, PageContext, render_page

DIFFS = 8
"""Comparisons that are kept."""
Word = Annotated[str, Parameter(max_length=200)]


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
    async with reading_of(request):
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
