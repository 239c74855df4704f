"""The lab: the runs of the home, the questions there are to ask, and starting a run.

Everybody who is signed in may look; the owner alone starts, takes up, forks, stops and deletes.
What a run is like by itself is in run_viewer.py. Reading logs is work for a thread.

Of what is deleted it is shown first what would go. What is being played, and a run that a sweep
keeps, are left as they are.
"""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from litestar import Response, get, post
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import PERCEPTION_MODES, STYLES
from loopforge.errors import BadRun, InputError, LoopforgeError, Unknown
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run.robot_minds import MATE
from loopforge.lab.run.run_deletion import RunContents, contents_of
from loopforge.lab.run.run_folder import EXPERIMENT, LONGEST, entitle, label_of
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.run.run_log import LOG
from loopforge.lab.run_queue import QueueStanding, RunQueue
from loopforge.lab.world.scenario_checks import MOST_DAYS, MOST_STEPS, Scenario
from loopforge.lab.world.scenario_file import ListedScenario, listed_scenarios
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.robot_cast import cast_of
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

PAGE = 40
"""Runs on a page at once."""
PLAIN = ("stub", "guardrail", "context")
ASKING = ("llm", "chain")
NAMED = ("perception", "supervisor")
"""What a fork may have otherwise that is told of a run in a word."""
SWEEP = "sweep"
"""The state of a line that is a sweep."""
Older = Annotated[int, Parameter(ge=0, le=10_000)]
Word = Annotated[str, Parameter(max_length=200)]


class RunLine(Struct, frozen=True, kw_only=True):
    """A run as it is listed. `state` is finished, running, waiting, failed, cut off or damaged.

    Where it is deleted a sweep is one, too: its state is SWEEP.

    `index` is None where not even its first row can be read; `title` is what people call it, or "";
    `source` is the name of the run that it was forked from, where it keeps that.
    """

    name: str
    state: str
    title: str = ""
    source: str = ""
    told: str = ""
    index: RunIndex | None = None

    @property
    def called(self) -> str:
        """What to call it where people read."""
        return self.title or self.name

    @property
    def scenario(self) -> Scenario | None:
        """What it is a run of, if that is known; of a fork with what that has otherwise."""
        if self.index is None or self.index.scenario is None:
            return None
        otherwise = {key: self.changed[key] for key in NAMED if key in self.changed}
        return replace(self.index.scenario, **otherwise)

    @property
    def policy(self) -> str:
        """Who decides for those that the run names no other mind for."""
        began = self.index.began if self.index else None
        return str(
            self.changed.get("policy") or (began.settings.get("policy", "") if began else "")
        )

    @property
    def planned(self) -> int:
        """Steps that it has in the end, or 0."""
        return self.index.planned if self.index else 0

    @property
    def head(self) -> str:
        """The hash of what was closed last, or "" of nothing."""
        return self.index.run.head if self.index else ""

    @property
    def forked(self) -> Mapping[str, Any]:
        """The run that it was forked from (`of`, its head), `at` which step, what was `set`."""
        return (self.index.began.forked or {}) if self.index and self.index.began else {}

    @property
    def changed(self) -> Mapping[str, Any]:
        """What was `set` in the fork; nothing in another run."""
        found: Mapping[str, Any] = self.forked.get("set", {})
        return found


def path_of(run: str, *more: str) -> str:
    """The path of a run's page."""
    return "/".join(("/lab", quote(run, safe=""), *(quote(part, safe="") for part in more)))


# ---------------------------------------------------------------- what there is


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


def look_up_run(shifts: RunQueue, name: str) -> tuple[RunIndex, RunLine]:
    """A run and how it stands. Raises Unknown, BadRun."""
    index = shifts.archive.index(name)
    standing = shifts.standing(name)
    busy = not index.ended and not standing.state and shifts.archive.busy(name)
    state, told = state_of(index, standing, busy=busy)
    if state == "cut off" and shifts.archive.in_sweep(index.folder):
        told = "It was stopped before its end. Its sweep, started again, plays it anew."
    known = index if index.scenario and index.began else None
    label = label_of(index.folder)
    return index, RunLine(
        name=name, state=state, title=label.title, source=label.source, told=told, index=known
    )


def page_of_runs(shifts: RunQueue, first: int, find: str = "") -> tuple[list[RunLine], bool]:
    """A page of runs, newest first, and whether there are older ones.

    With `find` those that have all of its words in their names and in what they are called.
    """
    found = []
    words = find.casefold().split()
    names = shifts.archive.names()
    if words:
        names = [name for name in names if _has(shifts.archive, name, words)]
    if not first and not words:
        found = [
            RunLine(name=name, state=shifts.standing(name).state, told=shifts.standing(name).told)
            for name in shifts.known()
            if name not in names
        ]
    for name in names[first : first + PAGE]:
        try:
            found.append(look_up_run(shifts, name)[1])
        except LoopforgeError as error:
            found.append(RunLine(name=name, state="damaged", told=str(error)))
    return found, len(names) > first + PAGE


def _has(archive: RunArchive, name: str, words: Iterable[str]) -> bool:
    text = f"{name} {label_of(archive.path(name)).title}".casefold()
    return all(word in text for word in words)


def questions(folder: Path) -> list[ListedScenario]:
    """The scenarios of the home, then those that are shipped, the one to begin with first."""
    listed = listed_scenarios(folder)
    return sorted(listed, key=lambda each: (not each.own, each.key != "first_shift", each.key))


def offered_policies(site: PageContext) -> list[str]:
    """The policies that a form offers: those that ask nobody, then those that ask a model."""
    mates = [f"{MATE}{handle}" for handle in site.roster.mates()]
    return [*PLAIN, *ASKING, *site.shifts.minds().own, *mates]


# ---------------------------------------------------------------- the list


@get("/lab")
async def lab(
    site: PageContext,
    visitor: Visitor,
    older: Older = 0,
    told: Word = "",
    find: Word = "",
    beside: Word = "",
) -> Template:
    """The runs, those that are looked for, and the questions that one may ask next.

    With `beside`, the name of a run, each can be set beside that one.
    """
    if beside:
        await asyncio.to_thread(site.shifts.archive.found, beside)
    lines, more = await asyncio.to_thread(page_of_runs, site.shifts, older, find)
    asked = await asyncio.to_thread(questions, site.scenarios)
    casts = {each.key: cast_of(each.scenario) for each in asked if each.scenario}
    names = [figure.name for cast in casts.values() for figure in cast]
    return render_page(
        "lab.html",
        visitor,
        here="lab",
        lines=lines,
        more=older + PAGE if more else 0,
        older=older,
        find=find.strip(),
        beside=beside,
        sweeps=await asyncio.to_thread(site.shifts.archive.sweeps),
        longest=LONGEST,
        questions=asked,
        casts=casts,
        figures=names,
        policies=offered_policies(site),
        modes=PERCEPTION_MODES,
        styles=STYLES,
        most=(MOST_DAYS, MOST_STEPS),
        told=TOLD.get(told, ""),
    )


TOLD = {
    "stopped": "It is stopped. What was closed is kept, and can be taken up again.",
    "taken": "It is taken out of the queue; nothing of it was played.",
    "resumed": "It goes on.",
    "deleted": "It is deleted.",
}


@post("/lab")
async def begin(site: PageContext, owner: Visitor, data: Fields) -> Redirect:
    """Start a run."""
    site.paces.changes.take(owner.person)
    asked = await asyncio.to_thread(questions, site.scenarios)
    found = next((each for each in asked if each.key == data.get("scenario", "")), None)
    if found is None:
        raise InputError("Choose one of the scenarios first.")
    if found.scenario is None:
        raise InputError(found.problem)
    policy = data.get("policy", "stub")
    if policy not in offered_policies(site):
        raise InputError(f"There is no policy {policy[:60]!r} here.")
    scenario = chosen(data).apply(found.scenario)
    name = site.shifts.begin(scenario, policy)
    return Redirect(path_of(name), status_code=303)


def chosen(data: Mapping[str, str]) -> RunChoice:
    """What a form says other than its scenario; an empty field leaves it. Raises InputError."""
    return RunChoice(
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
    digits = text.removeprefix("-")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 18:
        raise InputError(f"{name.capitalize()} is a whole number of at most 18 digits, or nothing.")
    return int(text)


# ---------------------------------------------------------------- what becomes of a run


@post("/lab/{run:str}/resume")
async def take_up(site: PageContext, owner: Visitor, run: Word) -> Redirect:
    """Go on with a run that was cut off."""
    site.paces.changes.take(owner.person)
    await asyncio.to_thread(_resumable, site.shifts.archive, run)
    site.shifts.take_up(run)
    return Redirect(path_of(run), status_code=303)


def _resumable(archive: RunArchive, run: str) -> None:
    if archive.index(run).damage:
        raise BadRun(f"{archive.index(run).damage} It cannot be gone on from.")


@post("/lab/{run:str}/stop")
async def stop(site: PageContext, owner: Visitor, run: Word) -> Redirect:
    """End a run where it is, or take it out of the queue."""
    site.paces.stops.take(owner.person)
    site.shifts.stop(run)
    kept = await asyncio.to_thread((site.shifts.archive.path(run) / LOG).exists)
    return Redirect(f"/lab?told={'stopped' if kept else 'taken'}", status_code=303)


@post("/lab/{run:str}/title")
async def rename(
    site: PageContext,
    owner: Visitor,
    run: Word,
    data: Fields,
) -> Redirect:
    """Say what a run or a sweep is called; its name, and with it its address, stays."""
    site.paces.changes.take(owner.person)
    folder = await asyncio.to_thread(site.shifts.archive.listed, run)
    await asyncio.to_thread(entitle, folder, data.get("title", ""))
    page = path_of(run) if (folder / LOG).exists() else "/lab"
    return Redirect(page, status_code=303)


REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
"""A report has styles and pictures in itself, and nothing else: no script, nothing from elsewhere,
and no part in this site, whatever somebody may have written into it."""


@get("/lab/{run:str}/reports/{file:str}")
async def report(site: PageContext, visitor: Visitor, run: Word, file: Word) -> Response[bytes]:  # noqa: ARG001
    """A report from the folder of a run or a sweep, shut in."""
    data = await asyncio.to_thread(site.shifts.archive.report, run, file)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(data, media_type=MediaType.HTML, headers=headers)


def source_of(archive: RunArchive, line: RunLine) -> tuple[str, str]:
    """The run that a fork came from, or "", and a sentence if that was deleted."""
    of = line.forked.get("of")
    return archive.origin(str(of), line.name) if of else ("", "")


def comparable_runs(lines: Iterable[RunLine], than: RunLine) -> list[RunLine]:
    """The runs that a run may be compared with: its fork's kin first, then the same scenario."""
    source, named = than.forked.get("of"), than.scenario.name if than.scenario else ""

    def kin(line: RunLine) -> tuple[bool, bool]:
        of = line.forked.get("of")
        heads, names = (than.head, source), (than.name, than.source)
        if of:
            related = of in heads or (bool(line.source) and line.source in names)
        else:
            related = bool(source) and (line.head == source or line.name == than.source)
        return not related, line.scenario is None or line.scenario.name != named

    return sorted((line for line in lines if line.name != than.name and line.planned), key=kin)


# ---------------------------------------------------------------- deleting

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
async def delete(request: Asked, site: PageContext, owner: Visitor) -> Redirect:
    """Delete them: those that can be, whichever cannot. What is gone already may be sent again."""
    site.paces.changes.take(owner.person)
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
