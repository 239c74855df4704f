"""Tasks in a browser: given, watched while they go on, answered, stopped, merged; narrow and dark."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from loopforge.errors import Changed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.work.task_state import PREFIX
from tests.browser.people import Crowd, Person, owner_of
from tests.browser.test_shape import WINDOWS, looked_at
from tests.rooms.conftest import write_mates
from tests.rooms.oven import installed
from tests.web.conftest import Town, town
from tests.web.test_task_pages import BAKER, GIVEN, asked, rested, works
from tests.work.conftest import in_order, says, uses
from tests.work.test_task_results import STEPS, TASK, project

__all__ = ["project", "works"]
pytestmark = pytest.mark.xdist_group("sandbox")
MARKUP = "<b id=won>x</b><img src=x onerror=alert(1)></pre></script>"
BEHIND = "(button) => { button.form.elements.commit.value = '0'.repeat(40); button.click(); }"
"""Presses Approve on a page that shows another commit; at once, for what comes live puts it right."""
LONG = MARKUP + "a word that is as long as it can be " + "long" * 40


async def gives(ana: Person, text: str, repo: str = "") -> str:
    """Give a task by the form; its id."""
    await ana.opens("/work")
    await ana.page.get_by_label("What is to be done").fill(text)
    if repo:
        await ana.page.get_by_label("Repository").select_option(repo)
    await ana.clicks("Begin")
    await expect(ana.page.locator("[data-task]")).to_be_attached()
    return ana.page.url.partition("?")[0].rpartition("/")[2]


async def test_a_task_is_watched_answered_and_approved(works: Town, crowd: Crowd) -> None:
    """Turns come by themselves; what is unfolded and typed stays; an answer and a yes are taken."""
    async with crowd:
        ana = await owner_of(works, crowd)
        await ana.opens("/work")
        await expect(ana.page.get_by_role("heading", name="No task yet")).to_be_visible()
        await (
            ana.page.get_by_role("navigation", name="Site")
            .get_by_role("link", name="Tasks")
            .click()
        )
        id = await gives(ana, GIVEN)
        page = ana.page
        await expect(page.locator("#task-ask")).to_contain_text("Which number?")
        await expect(page.locator(".turn h3")).to_have_text(["Turn 1", "Turn 2"])
        await rested(works, id)
        step = page.locator(".step").first
        await step.locator("summary").click()
        await expect(step.locator(".d-add")).to_have_text("+print(42)")
        await page.get_by_label("Your answer").fill("forty")
        await works.app.work.tasks.rate(id, "somebody", up=True)
        await expect(page.locator(".note-rated")).to_be_visible()
        await expect(page.get_by_label("Your answer")).to_have_value("forty")
        await expect(page.get_by_label("Your answer")).to_be_focused()
        await expect(step).to_have_attribute("open", "")
        await page.get_by_label("Your answer").fill("42")
        await ana.clicks("Say it")
        await expect(page.locator("#task-result")).to_contain_text("It prints 42: hello.py.")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="hello.py").click()
        assert (await (await download.value).path()).read_bytes() == b"print(42)\n"
        await ana.clicks("Approve")
        await expect(page.get_by_role("status").first).to_contain_text("Approved.")
        await expect(page.locator("#task-acts")).to_contain_text("This task is over.")
        await page.locator(".turn").first.get_by_role("link", name="Why?").click()
        await expect(page.get_by_role("heading", name="Why? Turn 1")).to_be_visible()


async def test_a_forgotten_task_leaves_an_open_page(works: Town, crowd: Crowd) -> None:
    """Once what a task was is forgotten, its name is gone from a page that was open all along."""
    async with crowd:
        ana = await owner_of(works, crowd)
        id = await gives(ana, f"{GIVEN} and says {LONG}")
        page = ana.page
        await expect(page.locator("#task-ask")).to_contain_text("Which number?")
        await rested(works, id)
        await page.get_by_text("The task as it was given").click()
        await expect(page.locator("#task-given .task-text")).to_be_visible()
        first = (await works.app.ledger.read(PREFIX + id))[0]
        await works.app.ledger.erase(ErasureRequest(events=(first.id,)))
        await expect(page.get_by_role("heading", level=1)).to_have_text("[forgotten]")
        await expect(page.locator("#task-given")).to_be_hidden()
        await expect(page).to_have_title("[forgotten] · Tasks · Loopforge")


async def test_exactly_the_commit_that_is_shown_is_merged(
    works: Town, crowd: Crowd, project: Path
) -> None:
    """A page that is behind merges nothing and says so; the one that is not merges its commit."""
    async with crowd:
        ana = await owner_of(works, crowd)
        ana.expects("status of 400")
        tasks, page = works.app.work.tasks, ana.page
        await tasks.places.repositories.registered.register(project)
        first = await gives(ana, GIVEN)
        await expect(page.locator("#task-ask")).to_contain_text("Which number?")
        await page.get_by_label("Your answer").fill("42")
        await ana.clicks("Say it")
        await rested(works, first)
        id = await gives(ana, TASK, "project")
        await expect(page.locator("#task-result .d-add")).to_have_text("+    return 2")
        offered = (await rested(works, id)).offered
        assert offered is not None
        approve = page.get_by_role("button", name=f"Approve {offered.commit[:12]}")
        await expect(approve).to_be_visible()
        await approve.evaluate(BEHIND)
        await expect(page.get_by_role("alert")).to_contain_text("It has gone on since")
        assert "return 3" in await asyncio.to_thread((project / "app.py").read_text)
        await approve.click()
        await expect(page.get_by_role("status").first).to_contain_text("Merged as")
        assert "return 2" in await asyncio.to_thread((project / "app.py").read_text)


async def test_stop_reaches_a_command_that_runs(place: Path, browser: Browser) -> None:
    """What is said meanwhile and the stop are seen at once, and the page offers to go on."""
    home = place / "home"
    home.mkdir()
    steps = in_order(uses("work_run", command="sleep 600"))
    async with town(home, steps) as site, Crowd(browser) as crowd:
        ana = await owner_of(site, crowd)
        id = await gives(ana, "Run a Python script that takes its time and write what it says")
        page = ana.page
        await expect(page.locator(".task-now")).to_contain_text("work_run runs")
        await page.get_by_label("Say something to it").fill("hurry")
        await ana.clicks("Say it")
        await expect(page.locator(".note-steered")).to_contain_text("hurry")
        await ana.clicks("Stop")
        await expect(page.locator(".task-now")).to_contain_text("stopped")
        await rested(site, id)
        await expect(page.locator("#task-result")).to_contain_text("Cut off by the stop")
        await ana.clicks("Go on")
        await expect(page.locator(".task-now")).to_contain_text("done, to be looked at")


async def test_a_page_that_changes_takes_no_press_that_was_meant_for_another(
    place: Path, browser: Browser
) -> None:
    """Who is at the keyboard keeps their place; on what came instead of a question rests no finger."""
    home = place / "home"
    home.mkdir()
    write_mates(home, otto=BAKER)
    first = uses("work_write", path="a.txt", text="1")
    first["calls"] += uses("oven", degrees=180)["calls"]
    steps = in_order(first, uses("oven", degrees=190), uses("oven", degrees=200))
    with installed(asks=True) as oven:
        async with town(home, steps) as site, Crowd(browser) as crowd:
            olu = await owner_of(site, crowd)
            olu.expects("ERR_INTERNET_DISCONNECTED")
            page, tasks = olu.page, site.app.work.tasks
            id = await tasks.open(GIVEN, "olu", mate="otto", owner=True)
            await asked(site, id)
            await olu.opens(f"/work/{id}")
            step, ask = page.locator(".step summary").nth(1), page.locator("#task-ask")
            yes = ask.get_by_role("button", name="Yes, just this once")
            acts = [page.get_by_role("button", name=name) for name in ("Stop", "Thumb up")]
            boxes = [await act.bounding_box() for act in acts]
            assert len({box["y"] for box in boxes if box}) == 1, boxes
            await step.focus()
            await tasks.allow(id, "olu", owner=True, yes=False)
            await expect(page.locator(".note-denied")).to_contain_text("No to oven.")
            await expect(step).to_be_focused()
            await expect(ask).to_contain_text("190")
            await yes.focus()
            await page.context.set_offline(True)
            await tasks.allow(id, "olu", owner=True, yes=False)
            use = next(iter((await asked(site, id)).allowing))
            await page.context.set_offline(False)
            await expect(ask).to_contain_text("200")
            await expect(ask).to_be_focused()
            await yes.focus()
            await tasks.allow(id, "olu", owner=True, use=use)
            with pytest.raises(Changed, match="somebody said yes to it"):
                await tasks.allow(id, "ben", owner=True, yes=False, use=use)
            await expect(page.locator("main")).to_be_focused()
            assert oven.baked == [200]
            await tasks.stop(id, "olu")
            await rested(site, id)


@pytest.mark.patient
async def test_they_fit_every_window_and_every_reader(
    place: Path, browser: Browser, project: Path
) -> None:
    """No page of tasks reaches out sideways or has a serious finding, and no text becomes markup."""
    home = place / "home"
    home.mkdir()
    script = in_order(
        uses("work_write", LONG, path=f"{'folder/' * 9}file.py", text=f"x = '{LONG}'\n"),
        uses("work_run", command=f"echo '{LONG}'; exit 3"),
        says("question", f"Which number? {MARKUP}"),
        says("done", f"It prints <<a.py>>. {MARKUP}", plan=[MARKUP], evidence=MARKUP),
        *STEPS,
    )

    async with town(home, script) as site, Crowd(browser) as crowd:
        ana = await owner_of(site, crowd)
        wrong = [one async for one in looked_at(ana, "/work", WINDOWS)]
        await ana.turns_desk()
        tasks = site.app.work.tasks
        await tasks.places.repositories.registered.register(project)
        first = await gives(ana, f"{GIVEN} {LONG}")
        await rested(site, first)
        wrong += [one async for one in looked_at(ana, f"/work/{first}", WINDOWS)]
        await tasks.say(first, ana.name, "42")
        await rested(site, first)
        await ana.turns_desk()
        second = await gives(ana, TASK, "project")
        await rested(site, second)
        turn = (await site.app.work.store.state(PREFIX + first)).progress[0].turn
        await tasks.undo(first, ana.name)
        await tasks.reject(first, ana.name)
        for path in ("/work", f"/work/{first}", f"/work/{second}", f"/work/{first}/why/{turn}"):
            wrong += [one async for one in looked_at(ana, path, WINDOWS)]
            await expect(ana.page.locator("#won, main img")).to_have_count(0)
    assert not wrong, "\n".join(wrong)
