"""The story on its page: sentences lead to steps, and a long one is shown a few days at a time."""

import asyncio
import html
import re
from threading import Event
from typing import Any

import pytest

from loopforge.lab.run.run_log import LOG
from loopforge.lab.story.story_teller import tell_story
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.web.lab import story_page
from tests.web.conftest import Guest, Town
from tests.web.labs import cut, played

LONG: dict[str, Any] = {"days": 14, "steps_per_day": 2}
LINK = re.compile(r'class="told-line" href="/lab/spun\?step=(\d+)" data-step="(\d+)"')


def days_of(page: str) -> list[int]:
    """The days that are told on a page, by their anchors."""
    return [int(day) for day in re.findall(r'<section id="day-(\d+)"', page)]


def lines_of(page: str) -> list[str]:
    """The sentences of a page that lead somewhere."""
    return [html.unescape(text) for text in re.findall(r'"told-line"[^>]*>([^<]+)</a>', page)]


def ways(page: str) -> dict[str, str]:
    """Where the ways on from a page lead, by how they stand to it."""
    found = re.findall(r'<a href="([^"]+)" rel="(prev|next)"', page)
    return {rel: html.unescape(path) for path, rel in found}


async def test_the_storys_sentences_lead_to_their_steps(site: Town, owner: Guest) -> None:
    """Each sentence of the story links to the step of a row that it rests on."""
    await played(site)
    page = (await owner.get("/lab/spun/story")).text
    links = LINK.findall(page)
    assert len(links) > 10
    assert all(one == other and 0 <= int(one) < 12 for one, other in links)
    assert days_of(page) == [1, 2]
    assert "What it came to" in page
    assert not ways(page)


async def test_a_long_story_is_read_page_by_page(site: Town, owner: Guest) -> None:
    """From the first page on, each way on leads to further days, until all were told, each once."""
    folder = await played(site, **LONG)
    path, before, told, days = "/lab/spun/story", "", list[str](), list[int]()
    while path:
        page = (await owner.get(path)).text
        on = ways(page)
        assert on.get("prev", "") == before
        assert len(days_of(page)) <= 5
        days += days_of(page)
        told += lines_of(page)
        steps = [int(step) for step, _ in LINK.findall(page)]
        assert max(steps) < 2 * max(days_of(page))
        before, path = f"/lab/spun/story?step={2 * days_of(page)[0] - 2}", on.get("next", "")
    assert days == list(range(1, 15))
    end = (await owner.get("/lab/spun/story?end=true")).text
    assert "What became of them" in end
    assert not days_of(end)
    assert ways(end) == {"prev": before}
    sentences = tell_story(folder).sentences
    assert [*told, *lines_of(end)] == [each.text for each in sentences if any(each.rows)]


async def test_a_step_and_a_day_are_found_in_a_long_story(site: Town, owner: Guest) -> None:
    """A step's page has its day; a day that is asked for is led to where it stands, in any case."""
    await played(site, **LONG)
    for step, days in ((0, range(1, 6)), (9, range(1, 6)), (10, range(6, 11)), (27, range(11, 15))):
        assert days_of((await owner.get(f"/lab/spun/story?step={step}")).text) == list(days)
    assert days_of((await owner.get("/lab/spun/story?step=9999")).text) == list(range(11, 15))
    form = r'<form action="/lab/spun/story" method="get"[^>]*><label for="tale-day">to day</label>'
    page = (await owner.get("/lab/spun/story")).text
    assert re.search(form + ' <input id="tale-day" name="day"[^>]*><button', page)
    for day, found in ((1, 1), (7, 7), (14, 14), (400, 14)):
        answer = await owner.http.get(f"/lab/spun/story?day={day}", follow_redirects=False)
        assert answer.status_code in (302, 303)
        where = answer.headers["location"]
        assert where.endswith(f"#day-{found}")
        assert found in days_of((await owner.get(where)).text)
    for wrong in ("day=0", "day=x", "step=-1"):
        assert (await owner.get(f"/lab/spun/story?{wrong}")).status_code == 400


async def test_a_story_grows_with_its_run(site: Town, owner: Guest) -> None:
    """Of a run that goes on the days so far are told, and those that came since when asked again."""
    folder = await played(site, **LONG)
    whole = (folder / LOG).read_bytes()
    cut(folder, 60)
    early = (await owner.get("/lab/spun/story?step=9999")).text
    assert "its story so far" in early
    (folder / LOG).write_bytes(whole)
    late = (await owner.get("/lab/spun/story?step=9999")).text
    assert days_of(late) == list(range(11, 15))
    assert days_of(early)[-1] < 14
    assert "its story so far" not in late


async def test_stories_that_are_long_in_telling_hold_up_nothing_else(
    site: Town, owner: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many people ask for one, threads are left for files, memory and tools."""
    await played(site)
    told, telling, keeping = Event(), story_page._story, story_page.stories_of
    come = list[Any]()

    def slow(*given: Any) -> Any:
        told.wait()
        return telling(*given)

    def kept(request: Any) -> Any:
        come.append(request)
        return keeping(request)

    monkeypatch.setattr(story_page, "_story", slow)
    monkeypatch.setattr(story_page, "stories_of", kept)
    async with BackgroundTasks() as tasks:
        asked = [tasks.spawn(owner.get("/lab/spun/story"), "a reader") for _ in range(40)]
        try:
            while len(come) < len(asked):
                await asyncio.sleep(0.01)
            await asyncio.to_thread(int)
        finally:
            told.set()
        assert {(await each).status_code for each in asked} == {200}
