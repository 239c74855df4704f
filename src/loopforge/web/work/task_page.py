"""One task as a page: how it stands, its turns, what came of it, and what people do about it.

Every form is bound to what was shown: a result that has changed since is not taken by a yes to the
one before. What is refused is said where the form stands.
"""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.chat.room.member_visibility import EVERYTHING
from loopforge.chat.why.flight_record import TurnRecord
from loopforge.chat.why.record_building import build_redacted_record
from loopforge.core.work.task_confidence import START
from loopforge.errors import Changed, InputError, LoopforgeError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.server.file_response import file_response
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page
from loopforge.web.work.task_access import TaskAccess, task_access
from loopforge.web.work.task_list import (
    cost_of,
    dollars_in,
    effort_of,
    seen_tasks,
    stage_in_words,
    title_of,
    who_does,
)
from loopforge.work.task_state import TaskState
from loopforge.work.task_timeline import counted_rows, diff_rows, timeline_of
from loopforge.work.task_transcript import lines_of
from loopforge.work.workspace.file_markers import named_files, without_marks
from loopforge.work.workspace.task_workspace import GIT, TaskWorkspace
from loopforge.work.workspace.workspace_tools import CLONE

RESULT_ROWS = 2000
"""Rows of the result's diff that are shown."""
FILES = 60
"""Files that are listed to be downloaded."""
LISTED = 400
Word = Annotated[str, Parameter(max_length=10)]
Format = Literal["page", "json"]
GONE_ON = "It has gone on since you opened this page. Look at it as it is now, below."
GO_ON = "“Go on”"
"""The button that does what the command `resume` does, where people are told of it."""


@get("/work/{task:str}")
async def show_task(
    request: Asked, site: PageContext, visitor: Visitor, task: str, told: Word = ""
) -> Template:
    """A task as it stands; `told` names what a form was answered."""
    access = await task_access(site, visitor, task)
    notes: FlashMessages = request.app.state["notes"]
    return await _shown(site, access, told=notes.read(visitor.person, told))


async def _shown(site: PageContext, access: TaskAccess, **more: Any) -> Template:
    state = access.state
    head = state.seq
    drawn = timeline_of(await site.ledger.read(state.stream), START)
    result = str(state.finished.result) if state.finished else ""
    rows = diff_rows(str(state.offered.diff)) if state.offered else []
    return render_page(
        "task.html",
        access.visitor,
        here="work",
        access=access,
        state=state,
        head=head,
        title=title_of(state),
        stands=stage_in_words(state),
        who=who_does(site, state),
        names={
            person: name_of(site, person)
            for person in {state.task.person, *(getattr(one, "person", "") for one in drawn)} - {""}
        },
        most=state.since + site.work.world.turns_of(state),
        cost=cost_of(state),
        effort=effort_of(site, state),
        budget=site.work.world.calls.budget_of(state),
        drawn=drawn,
        counted=counted_rows,
        result=without_marks(result, {}),
        rows=rows[:RESULT_ROWS],
        cut=max(0, len(rows) - RESULT_ROWS),
        files=await files_of(site, state, result),
        offers=access.rights.acts(),
        only_owner=site.work.world.only_owner,
        **{"told": "", "error": "", "typed": "", **more},
    )


# ---------------------------------------------------------------- what people do


@post("/work/{task:str}")
async def drive_task(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    task: str,
    data: Fields,
) -> Response[Any] | Template:
    """Say something to it, stop it, let it go on, decide on what came of it."""
    access = await task_access(site, visitor, task)
    act = data.get("act", "")
    (site.paces.stops if act == "stop" else site.paces.changes).take(visitor.person)
    try:
        told = await _done(site, access, act, data)
    except LoopforgeError as error:
        again = await task_access(site, visitor, task)
        status = 400 if isinstance(error, InputError) else 503
        typed = data.get("text", "")
        return await _shown(site, again, error=str(error), typed=typed, status=status)
    notes: FlashMessages = request.app.state["notes"]
    code = notes.keep(visitor.person, told.replace("`resume`", GO_ON))
    return Redirect(f"/work/{access.state.id}?told={code}", status_code=303)


async def _done(site: PageContext, access: TaskAccess, act: str, data: dict[str, str]) -> str:
    """Have it done; what is told of it. Raises LoopforgeError, and then nothing was done."""
    tasks, id, person = site.work, access.state.id, access.visitor.person
    access.rights.must(act)
    match act:
        case "say":
            granted = access.rights.granted
            return await tasks.say(id, person, data.get("text", ""), tools=granted)
        case "stop":
            return await tasks.stop(id, person)
        case "up" | "down":
            after = await tasks.rate(id, person, up=act == "up")
            return f"Its confidence is {after:.0f} of 100 now."
        case "resume":
            return await tasks.resume(id, person, dollars_in(data.get("budget", "")))
        case "allow" | "deny":
            return await tasks.allow(
                id,
                person,
                owner=access.rights.owner,
                yes=act == "allow",
                use=data.get("use", "") or "?",
                tools=access.rights.granted,
                reason=data.get("reason", ""),
            )
        case "approve":
            _as_shown(access.state, data)
            return await tasks.approve(id, person, data.get("commit", ""))
        case "reject":
            _as_shown(access.state, data)
            commit, reason = data.get("commit", ""), data.get("reason", "")
            return await tasks.reject(id, person, commit, reason)
        case "undo":
            _as_shown(access.state, data)
            standing = access.state.stage, access.state.turns
            if data.get("stage", "") != standing[0]:  # the right to it was looked at for this one
                raise Changed(GONE_ON)
            return await tasks.undo(id, person, standing)
        case _:
            raise InputError("There is nothing of that name to be done with a task.")


def _as_shown(state: TaskState, data: dict[str, str]) -> None:
    """Raise Changed where the task, or its commit, is not what the form stood under."""
    commit = state.offered.commit if state.offered else ""
    if (data.get("turn"), data.get("commit", "")) != (str(state.turns), commit):
        raise Changed(GONE_ON)


# ---------------------------------------------------------------- files


async def files_of(site: PageContext, state: TaskState, result: str) -> list[tuple[str, int]]:
    """Files that can be downloaded, with their sizes: those of the answer first."""
    try:
        place = site.work.places.workspaces.known(state.stream)
    except LoopforgeError:
        return []
    wanted = dict.fromkeys((*named_files(result), *state.written))
    return await asyncio.to_thread(_there, place, list(wanted), whole=not state.task.repo)


def _there(place: TaskWorkspace, wanted: list[str], *, whole: bool) -> list[tuple[str, int]]:
    """Those that are there; with `whole`, what else lies in the workspace, too."""
    found: dict[str, int] = {}
    for path in wanted[:FILES]:
        try:
            entry = place.files.entry(path.removeprefix("/workspace/"))
        except LoopforgeError:
            continue
        if entry.kind == "file":
            found[entry.path] = entry.size
    for entry in place.files.listing(LISTED) if whole else ():
        hidden = {GIT, CLONE, "__pycache__"} & set(entry.path.split("/"))
        if entry.kind == "file" and not hidden and len(found) < FILES:
            found.setdefault(entry.path, entry.size)
    return list(found.items())


@get("/work/{task:str}/files/{path:path}")
async def task_file(
    request: Asked, site: PageContext, visitor: Visitor, task: str, path: str
) -> Response[bytes]:
    """A file of its workspace, byte for byte; none that holds a key of this home."""
    state = (await task_access(site, visitor, task)).state
    found = await site.work.places.workspaces.known(state.stream).file(path.lstrip("/"))
    media = "application/octet-stream"
    return file_response(found.data, found.name, media, request.headers, inline=False)


# ---------------------------------------------------------------- why


@get("/work/{task:str}/why/{event:str}")
async def task_why(
    site: PageContext, visitor: Visitor, task: str, event: str, format: Format = "page"
) -> Template | Response[Any]:
    """The record of a turn of a task: what it was shown, asked, meant, used, and what that took.

    Of what is of no turn: what happened, when, and who had it so.
    """
    access = await task_access(site, visitor, task)
    state = access.state
    beside = {one.state.stream for one in await seen_tasks(site, visitor)}
    try:
        record = await build_redacted_record(
            site.ledger,
            event,
            state.stream,
            EVERYTHING,
            owner=access.rights.owner,
            beside=beside,
        )
    except Unknown:
        record = None
    if not isinstance(record, TurnRecord):
        return await _happened(site, access, event)
    if format == "json":
        pretty = msgspec.json.format(msgspec.json.encode(record), indent=2)
        return Response(pretty, media_type=MediaType.JSON)
    nth = next((one.nth for one in state.progress if one.turn == record.turn), 0)
    return render_page(
        "task-why.html",
        visitor,
        here="work",
        record=record,
        task=state.id,
        title=title_of(state),
        nth=nth,
    )


async def _happened(site: PageContext, access: TaskAccess, id: str) -> Template:
    """What happened to a task beside its turns. Raises Unknown."""
    try:
        event = await site.ledger.event(id)
    except Unknown:
        event = None
    owner = access.visitor.right == "owner"
    rows = lines_of(event, owner=owner) if event and event.stream == access.state.stream else []
    if event is None or not rows:
        raise Unknown("There is no such turn in this task.")
    kind, _, person = event.actor.partition(":")
    return render_page(
        "task-why-line.html",
        access.visitor,
        here="work",
        task=access.state.id,
        title=title_of(access.state),
        event=event,
        rows=rows,
        by=name_of(site, person) if kind == "person" and person else "",
    )
