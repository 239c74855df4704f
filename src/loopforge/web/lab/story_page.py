"""The run as a story beside its map: each sentence leads to the steps that it rests on, and back.

Stories are told by the lab (story_text.py), and the last ones kept, for telling a long one takes a
while. A long one is shown a few days at a time: those about a step or a day, or what it came to.
"""

import asyncio
from typing import Annotated

from litestar import get
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.errors import Unknown
from loopforge.lab.inspect.run_archive import RecentCache
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run_queue import RunQueue
from loopforge.lab.story.story_teller import tell_story
from loopforge.lab.story.story_text import Sentence, Story, StoryDay
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.lab.lab_pages import path_of
from loopforge.web.lab.robot_cast import cast_of
from loopforge.web.lab.run_viewer import Name, Step, open_undamaged_run, reading_of
from loopforge.web.lab.side_panels import render_pane
from loopforge.web.server.page_context import Asked, PageContext

STORIES = 8
"""Stories that are kept."""
WHOLE, EACH = 8, 5
"""Days of a story that is shown in one piece; days on a page of a longer one."""
Nth = Annotated[int, Parameter(ge=1, le=10**6)]


class TalePart(Struct, frozen=True, kw_only=True):
    """What of a story is on a page: its days, and whether what it came to is there.

    `whole`: all of it is. `before` and `after` are the days, counted from 0, that the pages before
    and after begin with; -1: there is none.
    """

    days: tuple[StoryDay, ...]
    ending: bool
    whole: bool
    before: int = -1
    after: int = -1


def stories_of(request: Asked) -> RecentCache[Story]:
    """The stories that this server has told; one of a run that grew is told anew."""
    found: RecentCache[Story] = request.app.state.setdefault("lab_stories", RecentCache(STORIES))
    return found


@get("/lab/{run:str}/story")
async def story(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    run: Name,
    step: Step = 0,
    day: Nth | None = None,
    end: bool = False,
) -> Template | Redirect:
    """The run as prose; each sentence leads to the step that it rests on.

    Of a long run the days about `step` are shown, or, with `end`, what it came to. Whoever asks for
    a `day`, counted from 1, is led to where it stands.
    """
    stories = stories_of(request)
    async with reading_of(request):
        found, index = await asyncio.to_thread(_story, site.shifts, stories, run)
    assert index.scenario is not None
    cast, per_day = cast_of(index.scenario), index.scenario.steps_per_day
    if day is not None:
        nth = min(day, len(found.days))
        return Redirect(f"{path_of(run, 'story')}?step={(nth - 1) * per_day}#day-{nth}")

    def steps(sentence: Sentence) -> list[int]:
        return sorted({index.step_at(row) for row in sentence.rows if row})

    return render_pane(
        request,
        visitor,
        "lab-story.html",
        run=run,
        story=found,
        part=part_of(found.days, step // per_day, end=end),
        per_day=per_day,
        each=EACH,
        steps=steps,
        cast=cast,
        by_name={figure.name: figure for figure in cast},
        going=not index.ended,
    )


def part_of(days: tuple[StoryDay, ...], day: int, *, end: bool = False) -> TalePart:
    """The page of a story that has this day, counted from 0; with `end`, the one after all days."""
    if len(days) <= WHOLE:
        return TalePart(days=days, ending=True, whole=True)
    final = (len(days) - 1) // EACH * EACH
    if end:
        return TalePart(days=(), ending=True, whole=False, before=final)
    first = min(day // EACH * EACH, final)
    return TalePart(
        days=days[first : first + EACH],
        ending=False,
        whole=False,
        before=first - EACH if first else -1,
        after=first + EACH if first < final else -1,
    )


def _story(shifts: RunQueue, stories: RecentCache[Story], run: str) -> tuple[Story, RunIndex]:
    index, _ = open_undamaged_run(shifts, run)
    if not index.steps:
        raise Unknown("Nothing has happened in this run yet.")
    return stories.of((index.path, index.size), lambda: tell_story(index.folder)), index
