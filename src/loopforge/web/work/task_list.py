"""The tasks of a home as a page: how each stands, a form that gives one, and calibration.

A task is given here by the owner alone; others give theirs where they talk with mates. Everybody
sees those that task_access.py lets them see. The figure is drawn as the charts of the Factory are.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from litestar import Response, get, post
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.core.limits.money_amounts import format_dollars
from loopforge.core.text.name_labels import truncate_text
from loopforge.core.text.spoken_lists import pluralize, seconds_in_words
from loopforge.core.work.first_tier import advice_of
from loopforge.core.work.task_confidence import ReliabilityBin
from loopforge.core.work.task_lifecycle import TaskStage
from loopforge.errors import BadSettings, InputError, NotLetIn
from loopforge.lab.charts.bar_charts import percent
from loopforge.lab.charts.line_charts import CurveLine, curve_chart
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.server.page_context import Fields, PageContext, render_page
from loopforge.web.work.task_access import RoomStands, TaskAccess, access_to
from loopforge.work.model_choice import decided_tasks
from loopforge.work.task_service import calibration_of, checked_budget
from loopforge.work.task_state import TaskState


class CalibrationFigure(Struct, frozen=True, kw_only=True):
    """The score (0 is perfect), of how many tasks, its bins, and the drawing."""

    brier: float
    tasks: int
    bins: tuple[ReliabilityBin, ...]
    drawing: str


def figure_of(brier: float | None, bins: Sequence[ReliabilityBin]) -> CalibrationFigure | None:
    """The figure; None where no task is over."""
    if brier is None:
        return None
    points = tuple((round(one.thought, 2), (one.came,) * 3) for one in bins)
    said = "; ".join(
        f"thought {one.thought:.0%}, came {one.came:.0%}, of {one.tasks}" for one in bins
    )
    even = CurveLine(
        label="as foretold",
        role="quiet",
        nth=2,
        points=((0.0, (0.0,) * 3), (1.0, (1.0,) * 3)),
    )
    came = CurveLine(label="as it came", role="ink", points=points)
    drawing = curve_chart(
        "calibration",
        "How often results were taken, by the confidence at the end",
        said,
        [even, came],
        percent,
        along="confidence at the end (1 is certain)",
        scale="shares",
    )
    return CalibrationFigure(
        brier=brier, tasks=sum(one.tasks for one in bins), bins=tuple(bins), drawing=drawing
    )


MOST = 200
"""Tasks that are looked at, the newest of the home."""
STAGES: dict[TaskStage, str] = {
    "opened": "just given",
    "ready": "about to go on",
    "queued": "waits for its thread",
    "working": "at work",
    "waiting": "waits for an answer",
    "stopped": "stopped",
    "finished": "done, to be looked at",
    "approved": "approved",
    "rejected": "rejected",
}
"""How it stands, in words."""
FILTERS = {
    "work": "at work",
    "waiting": "waiting for somebody",
    "stopped": "stopped",
    "over": "over",
}
"""What the list can be narrowed to."""
Which = Annotated[str, Parameter(max_length=20)]


class TaskRow(Struct, frozen=True, kw_only=True):
    """A task as it is listed."""

    id: str
    title: str
    stage: TaskStage
    stands: str
    who: str
    by: str
    room: str
    turn: int
    confidence: float
    cost: str
    last: str
    state: TaskState


def stage_in_words(state: TaskState) -> str:
    """How a task stands, in words."""
    if state.at_work and state.delayed is not None:
        return "waits for its model"
    return "waits for a yes" if state.allowing else STAGES[state.stage]


def filter_of(state: TaskState) -> str:
    """Where in the list it stands, by FILTERS."""
    if state.allowing or state.stage in ("waiting", "finished"):
        return "waiting"
    if state.at_work:
        return "work"
    return "stopped" if state.stage == "stopped" else "over"


def title_of(state: TaskState) -> str:
    """What a task is called: the beginning of what was asked for."""
    return truncate_text(" ".join(str(state.task.text).split()), 110)


def who_does(site: PageContext, state: TaskState) -> str:
    """Who does it: a mate of the home, or the mate of a role; "" while nobody knows."""
    if not (handle := state.task.mate):
        return state.classified.role if state.classified else ""
    mate = site.roster.mates().get(handle)
    return mate.name if mate else handle


def cost_of(state: TaskState) -> str:
    """What it cost so far, as far as prices are known."""
    return format_dollars(state.cost) if state.cost else "no price" if state.unpriced else "$0"


def effort_of(site: PageContext, state: TaskState) -> str:
    """How long it worked so far, and the tokens that models read and wrote for it."""
    worked = seconds_in_words(state.worked_seconds(site.clock.now()))
    return f"{worked}, {pluralize(state.tokens, 'token')}"


def _row(site: PageContext, access: TaskAccess) -> TaskRow:
    state = access.state
    return TaskRow(
        id=state.id,
        title=title_of(state),
        stage=state.stage,
        stands=stage_in_words(state),
        who=who_does(site, state),
        by=name_of(site, state.task.person),
        room=access.title,
        turn=state.turns,
        confidence=state.confidence,
        cost=cost_of(state),
        last=str(state.progress[-1].action) if state.progress else "",
        state=state,
    )


async def seen_tasks(site: PageContext, visitor: Visitor) -> list[TaskAccess]:
    """The tasks that a visitor may see of the newest, the newest first."""
    rooms: RoomStands = {}
    states = await site.work.tasks(MOST)
    found = [await access_to(site, visitor, state, rooms) for state in states]
    return [one for one in found if one is not None]


@get("/work")
async def tasks(site: PageContext, visitor: Visitor, which: Which = "") -> Template:
    """The tasks, of all states or of one kind of them."""
    return await _tasks(site, visitor, which)


async def _tasks(site: PageContext, visitor: Visitor, chosen: str = "", **more: Any) -> Template:
    seen = await seen_tasks(site, visitor)
    kinds = [filter_of(one.state) for one in seen]
    rows = [
        one
        for one, kind in zip(seen, kinds, strict=True)
        if kind == chosen or chosen not in FILTERS
    ]
    return render_page(
        "tasks.html",
        visitor,
        here="work",
        rows=[_row(site, one) for one in rows],
        more=len(await site.work.store.streams()) > MOST,
        all=len(seen),
        filters=[(name, words, kinds.count(name)) for name, words in FILTERS.items()],
        chosen=chosen if chosen in FILTERS else "",
        figure=_figure([one.state for one in seen]),
        advice=advice_of(await decided_tasks(site.work.store)) if visitor.right == "owner" else (),
        watches=await site.watch.shown() if visitor.right == "owner" else (),
        stages=STAGES,
        **_form(site),
        **{"error": "", "typed": {}, **more},
    )


def _figure(states: Sequence[TaskState]) -> CalibrationFigure | None:
    return figure_of(*calibration_of(states))


def _form(site: PageContext) -> dict[str, Any]:
    """What can be chosen in the form."""
    try:
        repos, trouble = site.work.places.repositories.registered.known(), ""
    except BadSettings as error:
        repos, trouble = (), str(error)
    roles = site.work.world.calls.roles
    mates = [one for one in site.roster.mates().values() if roles.is_mate(one.handle)]
    return {"repos": repos, "repos_trouble": trouble, "mates": mates}


@post("/work")
async def give_task(site: PageContext, visitor: Visitor, data: Fields) -> Response[Any] | Template:
    """Give a task; what was typed stays where it is refused."""
    site.paces.changes.take(visitor.person)
    try:
        if visitor.right != "owner":
            raise NotLetIn("Only the owner of this home gives tasks here.")
        id = await site.work.open(
            data.get("task", ""),
            visitor.person,
            mate=data.get("mate", ""),
            repo=data.get("repo", ""),
            budget=dollars_in(data.get("budget", "")),
            surface="web",
            owner=True,
        )
    except InputError as error:
        return await _tasks(site, visitor, error=str(error), typed=data, status=400)
    return Redirect(f"/work/{id}", status_code=303)


def dollars_in(text: str) -> float:
    """US dollars as they are typed; 0 for nothing. Raises BadLine."""
    text = text.strip().removeprefix("$")
    if not text:
        return 0.0
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    return checked_budget(found)
