"""Deleting runs and sweeps: what would go is shown first, and goes once it is confirmed.

The owner alone deletes. What is being played, and a run that a sweep keeps, are left as they are.
"""

import asyncio
from pathlib import Path

from litestar import get, post
from litestar.response import Redirect, Template

from loopforge.errors import BadRun, InputError, LoopforgeError, Unknown
from loopforge.lab.run.run_deletion import RunContents, contents_of
from loopforge.lab.run.run_label import label_of
from loopforge.lab.run.run_paths import EXPERIMENT
from loopforge.lab.run_queue import RunQueue
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.lab_pages import SWEEP, RunLine, look_up_run
from loopforge.web.server.page_context import Asked, PageContext, render_page
from loopforge.web.server.request_limits import RequestLimits

MOST = 100
"""Runs and sweeps that are deleted at once."""


@get("/lab/~/delete")
async def ask_deletion(site: PageContext, owner: Visitor, run: list[str] | None = None) -> Template:
    """What goes with these runs and sweeps, and what stays."""
    if not run:
        raise InputError("Tick what shall be deleted first.")
    going, staying = await asyncio.to_thread(_weighed, site.shifts, run[:MOST])
    return render_page("lab-delete.html", owner, here="lab", going=going, staying=staying)


Going = list[tuple[RunLine, RunContents]]


def _weighed(shifts: RunQueue, names: list[str]) -> tuple[Going, list[tuple[str, str]]]:
    going, staying = [], []
    for name in dict.fromkeys(names):
        try:
            folder = shifts.idle(name)
        except LoopforgeError as error:
            staying.append((name, str(error)))
            continue
        try:
            line = _sweep(folder) or look_up_run(shifts, name)[1]
        except LoopforgeError:
            line = RunLine(name=name, state=shifts.standing(name).state or "damaged")
        going.append((line, contents_of(folder)))
    return going, staying


def _sweep(folder: Path) -> RunLine | None:
    """A sweep as it is listed; None of a run."""
    if not (folder / EXPERIMENT).is_file():
        return None
    return RunLine(name=folder.name, state=SWEEP, title=label_of(folder).title)


@post("/lab/~/delete")
async def delete(
    request: Asked, site: PageContext, owner: Visitor, paces: RequestLimits
) -> Redirect:
    """Delete them: those that can be, whichever cannot. What is gone already may be sent again."""
    paces.changes.take(owner.person)
    names = [str(name) for name in (await request.form()).getall("run", [])]
    staying = []
    for name in names[:MOST]:
        try:
            await site.shifts.delete(name, site.clock.now(), f"person:{owner.person}")
        except Unknown:
            continue
        except BadRun as error:
            staying.append(str(error))
    if staying:
        raise BadRun(" ".join(["Not all was deleted.", *staying]))
    return Redirect("/lab?told=deleted", status_code=303)
