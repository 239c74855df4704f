"""Deleting runs: what would go is shown first, and goes once it is confirmed.

The owner alone deletes. A run that is being played, and those of a sweep, are left as they are.
"""

import asyncio

from litestar import get, post
from litestar.response import Redirect, Template

from loopforge.errors import BadRun, InputError, LoopforgeError, Unknown
from loopforge.lab.run.run_deletion import RunContents, contents_of
from loopforge.lab.run_queue import RunQueue
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.lab_pages import RunLine, look_up_run
from loopforge.web.server.page_context import Asked, PageContext, render_page
from loopforge.web.server.request_limits import RequestLimits

MOST = 100
"""Runs that are deleted at once."""


@get("/lab/~/delete")
async def ask_deletion(site: PageContext, owner: Visitor, run: list[str] | None = None) -> Template:
    """What goes with these runs, and what stays."""
    if not run:
        raise InputError("Tick the runs that shall be deleted first.")
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
            line = look_up_run(shifts, name)[1]
        except LoopforgeError:
            line = RunLine(name=name, state=shifts.standing(name).state or "damaged")
        going.append((line, contents_of(folder)))
    return going, staying


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
