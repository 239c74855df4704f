"""The lab, used by hand: runs are started, played, asked why, forked, compared, and read."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Locator, Request, Route, expect

from loopforge.core.factory_vocabulary import Decided, Stepped
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.browser.people import Crowd, Person, owner_of
from tests.browser.test_shape import HEAVY, RULES, WINDOWS, found, looked_at
from tests.held_clock import HeldClock
from tests.web.conftest import Town, town
from tests.web.labs import forked, played, runs_of

CLOCK = "#clock"


def steps_of(folder: Path) -> list[Stepped]:
    """The closed steps of a run."""
    return [row for row in rows_of(folder) if isinstance(row, Stepped)]


async def watches(person: Person, run: str, step: int = 0) -> None:
    """Open a run's page at a step, and wait until its script has the step."""
    await person.opens(f"/lab/{run}?step={step}")
    await stands_at(person, step)


async def stands_at(person: Person, step: int) -> None:
    """Wait until the page shows this step: on its clock and on its floor."""
    await expect(person.page.locator(CLOCK)).to_have_text(re.compile(rf"step {step}$"))
    await expect(person.page.locator(".floor-when").first).to_contain_text(f"step {step}")


async def everybody_is_where(person: Person, row: Stepped, map: Locator | None = None) -> None:
    """The robots on the map are said to be where the log says that they are."""
    map = map or person.page.locator("[data-city]")
    for robot, (at, _) in row.robots.items():
        label = re.compile(rf"^{robot}, .*at {at}$")
        await expect(map.locator(f'[data-bot][data-name="{robot}"]')).to_have_attribute(
            "aria-label", label
        )


@pytest.mark.patient
async def test_playing_by_mouse_and_by_keys(site: Town, ana: Person) -> None:
    """Play, pause, step, jump, days, incidents, first and last: the map is always at that step."""
    folder = await played(site, days=3, steps_per_day=8)
    rows = steps_of(folder)
    page, keys = ana.page, ana.page.keyboard
    await watches(ana, "spun", 2)
    await everybody_is_where(ana, rows[2])
    await page.get_by_role("link", name="One step on").click()
    await stands_at(ana, 3)
    await everybody_is_where(ana, rows[3])
    await page.get_by_role("link", name="One step back").click()
    await stands_at(ana, 2)
    await page.get_by_label("to step").fill("20")
    await ana.clicks("go")
    await stands_at(ana, 20)
    await expect(page).to_have_url(re.compile(r"\?step=20$"))
    await page.locator("h1").click()
    for key, step in (("ArrowLeft", 19), ("[", 16), ("[", 8), ("]", 16), ("Home", 0), ("End", 23)):
        await keys.press(key)
        await stands_at(ana, step)
    await everybody_is_where(ana, rows[23])
    await keys.press("Home")
    await stands_at(ana, 0)
    hurt = [row.step for row in rows if row.incidents and row.step > 0]
    for step in hurt[:3]:
        await keys.press("i")
        await stands_at(ana, step)
        spots = await page.locator(".spot.hurt").evaluate_all("all => all.map(s => s.dataset.name)")
        assert set(spots) == {each.at for each in rows[step].incidents}
    await keys.press("I")
    await stands_at(ana, hurt[1])
    await page.locator("#scrub").focus()
    await keys.press("ArrowRight")
    await stands_at(ana, hurt[1] + 1)
    assert f"step {hurt[1] + 1}" in str(
        await page.locator("#scrub").get_attribute("aria-valuetext")
    )
    await page.locator("h1").click()
    await keys.press("Home")
    await keys.press("+")
    await keys.press("+")
    await expect(page.locator("[data-speed]")).to_have_value("4")
    await keys.press(" ")
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    await expect(page.locator(CLOCK)).to_have_text(re.compile("step [1-9]"))
    await keys.press(" ")
    await expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    step = int(str(await page.locator(CLOCK).text_content()).rpartition(" ")[2])
    await stands_at(ana, step)
    await everybody_is_where(ana, rows[step])
    await page.reload()
    await stands_at(ana, step)
    await watches(ana, "spun", 20)
    await page.locator("[data-speed]").select_option("8")
    await ana.clicks("Play")
    await stands_at(ana, 23)
    await expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


async def test_why_is_answered_beside_the_map(site: Town, ana: Person) -> None:
    """A decision opens beside the city: truth, shown with its edits, belief; back leads back."""
    folder = await played(site)
    decided = [row for row in rows_of(folder) if isinstance(row, Decided)]
    row = next(row for row in decided if row.edits and row.outcome.incident and row.step)
    page = ana.page
    await watches(ana, "spun", row.step)
    deed = page.locator(".deed").filter(
        has_text=add_place_articles(row.outcome.consequence, (row.at,))
    )
    await deed.get_by_role("link", name="Why?").click()
    pane = page.locator("[data-detail]")
    await expect(pane.locator("h2")).to_have_text(
        add_place_articles(row.outcome.consequence, (row.at,))
    )
    await expect(pane.locator("h2")).to_be_focused()
    await expect(pane.locator(".triple")).to_contain_text(f"{row.truth.of} {row.truth.value}")
    await expect(pane.locator(".triple del")).to_have_count(len(row.edits))
    await expect(pane.locator(".triple ins").first).to_have_text(row.edits[0].shown or "nothing")
    await expect(pane.locator(".alarms")).to_contain_text("because")
    await expect(page.locator("[data-city]")).to_be_visible()
    await pane.get_by_role("link", name=f"The inner life of {row.who}").click()
    await expect(pane.locator("h2")).to_have_text(row.who)
    await page.go_back()
    await expect(pane.locator("h2")).to_have_text(
        add_place_articles(row.outcome.consequence, (row.at,))
    )
    await page.go_back()
    await expect(page.locator("[data-floor]")).to_be_visible()
    await expect(pane).to_be_hidden()
    await page.get_by_role("link", name=f"Why: {row.who}").click()
    await expect(pane.locator("h2")).to_have_text(
        add_place_articles(row.outcome.consequence, (row.at,))
    )
    await pane.locator("summary", has_text="The record").click()
    ana.expects("status of 404")  # the browser asks for an icon, which JSON has not
    await pane.get_by_role("link", name="as JSON").click()
    told = json.loads(await page.locator("body").inner_text())
    assert told["row"]["n"] == row.n


@pytest.mark.patient
async def test_an_inner_life_is_looked_into(site: Town, ana: Person) -> None:
    """A robot on the map opens its inner life; a quantity gives its causes; it follows the step."""
    await played(site)
    page = ana.page
    await watches(ana, "spun", 5)
    await page.locator('[data-bot][data-name="Halide"]').click()
    pane = page.locator("[data-detail]")
    await expect(pane.locator("h2")).to_have_text("Halide")
    await expect(page.locator('[data-bot][data-name="Halide"]')).to_have_class(re.compile("chosen"))
    await expect(pane.locator(".charts .plot")).to_have_count(
        await pane.locator(".charts li").count()
    )
    await pane.get_by_role("link", name=re.compile("^fear")).first.click()
    await expect(pane.locator(".drift h3")).to_contain_text("Why fear is")
    await expect(pane.locator(".drift .sum")).to_contain_text("in all")
    head = pane.locator(".drift .playhead")
    before = await head.get_attribute("transform")
    await page.locator("[data-act=on]").click()
    await stands_at_pane(ana, 6)
    await expect(pane.locator(".drift figcaption")).to_contain_text("after step 6")
    assert await head.get_attribute("transform") != before
    link = pane.locator(".changes a[data-step]").first
    step = int(str(await link.get_attribute("data-step")))
    await link.click()
    await stands_at_pane(ana, step)
    await page.locator('[data-place][data-name="press hall"]').click()
    await expect(pane.locator("h2")).to_have_text("Press hall")
    await expect(pane.locator(".charts")).to_contain_text("heat")


async def test_what_the_map_opens_is_of_the_step_that_it_shows(site: Town, ana: Person) -> None:
    """A robot or a place that is opened from the map stands there as of the step one has gone to."""
    await played(site)
    page, pane = ana.page, ana.page.locator("[data-detail]")
    await watches(ana, "spun", 5)
    await page.locator("[data-act=on]").click()
    await stands_at(ana, 6)
    await page.locator('[data-place][data-name="press hall"]').click()
    await expect(pane.locator("h2 + p")).to_contain_text("after step 6")
    await page.locator('[data-bot][data-name="Halide"]').click()
    await expect(pane.locator(".drift figcaption")).to_contain_text("after step 6")


async def stands_at_pane(person: Person, step: int) -> None:
    """Wait until the page is at this step, whatever stands beside the map."""
    await expect(person.page.locator(CLOCK)).to_have_text(re.compile(rf"step {step}$"))


async def test_the_story_and_the_steps_lead_to_each_other(site: Town, ana: Person) -> None:
    """A sentence takes the map to its step, and at a step its sentences are marked."""
    await played(site)
    page = ana.page
    await watches(ana, "spun", 0)
    await page.get_by_role("link", name="Story").click()
    line = page.locator(".told-line[data-step]").nth(6)
    step = int(str(await line.get_attribute("data-step")))
    await line.click()
    await stands_at_pane(ana, step)
    await expect(line).to_have_class(re.compile("now"))
    marked = await page.locator(".told-line.now").evaluate_all(
        "all => all.map(l => l.dataset.steps)"
    )
    assert marked
    assert all(str(step) in each.split(" ") for each in marked)
    other = page.locator(f'.told-line[data-steps]:not([data-steps~="{step}"])').last
    steps = str(await other.get_attribute("data-steps")).split(" ")
    await page.get_by_label("to step").fill(steps[0])
    await ana.clicks("go")
    await expect(other).to_have_class(re.compile("now"))
    await expect(page.locator(".told-line.now").first).to_be_in_viewport()


def slow(question: Question) -> ScriptedAnswer:
    """A mind that takes its time, so that a run can be watched while it is going."""
    return ScriptedAnswer(data={"mode": "context", "intent": "inspect"}, wait=1)


async def test_a_run_is_followed_while_it_goes(tmp_path: Path, crowd: Crowd) -> None:
    """The page of a growing run moves on with it, holds still where one looks, and is told the end."""
    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        page = ana.page
        pace.let_go(60)  # the answers of some ten steps
        await ana.opens("/lab")
        await page.get_by_role("combobox", name="Way of thinking (policy)").select_option("llm")
        await page.get_by_role("spinbutton", name="Days").fill("2")
        await page.get_by_role("spinbutton", name="Steps a day").fill("40")
        await ana.clicks("Start the run")
        live = page.get_by_role("button", name="live")
        await expect(live).to_be_visible()
        await expect(live).to_have_attribute("aria-pressed", "true")
        await expect(page.locator(CLOCK)).to_have_text(re.compile("step ([5-9]|[1-9][0-9])$"))
        await page.locator("h1").click()
        await page.keyboard.press("Home")
        await stands_at(ana, 0)
        await expect(live).to_have_attribute("aria-pressed", "false")
        here = await page.locator("#scrub").get_attribute("max")
        assert here == "79"
        await live.click()
        await page.get_by_role("link", name="Story").click()
        await expect(page.locator(".tale")).to_contain_text("Day 1")
        await expect(page.locator(CLOCK)).to_have_text(re.compile("step [1-9]"))
        pace.let_go()
        await expect(page.locator("#lab-sign")).to_have_text("The run has come to its end.")
        await expect(page.locator(".run-state")).to_have_text("finished")
        await expect(page.get_by_role("button", name="Stop it")).to_have_count(0)
        await expect(page.locator(".tale")).to_contain_text("Day 2")
        await expect(page.locator(".tale")).not_to_contain_text("its story so far")
        await page.get_by_role("link", name="Floor").click()
        await stands_at(ana, 79)
        await everybody_is_where(ana, steps_of(next(runs_of(site).iterdir()))[79])
        why = page.locator(".deed-why").first
        await why.click()
        await page.locator("[data-detail] .exchange summary").first.click()
        await expect(page.locator("[data-detail] .exchange pre").last).to_contain_text("inspect")


async def test_a_run_that_is_deleted_while_it_is_looked_at(site: Town, ana: Person) -> None:
    """Who goes on in a run that is no more is told so until it is shown again; playing stops."""
    folder = await played(site)
    await watches(ana, "spun", 1)
    shutil.rmtree(folder)
    ana.expects("status of 404")
    await ana.page.get_by_label("to step").fill("11")
    await ana.clicks("go")
    sign = ana.page.locator("#lab-sign")
    await expect(sign).to_have_text("There is no run 'spun' here.")
    await ana.page.locator("h1").click()
    await ana.page.keyboard.press("Home")
    await expect(sign).to_be_hidden()
    await ana.page.locator("[data-speed]").select_option("8")
    await ana.clicks("Play")
    await expect(sign).to_have_text("There is no run 'spun' here.")
    await expect(ana.page.get_by_role("button", name="Play", exact=True)).to_be_visible()


async def test_ticked_runs_are_deleted_from_wherever_one_is_in_the_list(
    site: Town, ana: Person
) -> None:
    """What deletes them stands in the window as soon as one of a long list is ticked."""
    for nth in range(9):
        await played(site, f"run-{nth}", days=1, steps_per_day=2)
    await ana.opens("/lab")
    button = ana.page.get_by_role("button", name="Delete the ticked")
    await expect(button).not_to_be_in_viewport()
    await ana.page.get_by_label("Tick run-8, to delete it").check()
    await expect(button).to_be_in_viewport(ratio=1)
    await button.click()
    await expect(ana.page.locator("h1")).to_have_text("Delete run-8?")


async def test_a_queue_leaves_the_browser_its_connections(tmp_path: Path, crowd: Crowd) -> None:
    """With nine runs in the queue the list shows how far the first is, and leads on as ever."""
    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        guest = await site.owner()
        for seed in range(1, 10):
            form = {"scenario": "first_shift", "policy": "llm", "days": "1", "seed": str(seed)}
            await guest.post("/lab", form)
        await ana.opens("/lab")
        pace.let_go(20)
        bar = ana.page.locator(".run.is-running progress")
        await expect(bar).not_to_have_js_property("value", 0)
        await ana.page.get_by_role("link", name="first_shift-llm-9").click(timeout=30_000)
        await expect(ana.page.locator("h1")).to_have_text("first_shift-llm-9")


async def test_a_run_that_begins_waits_no_longer_in_the_list(tmp_path: Path, crowd: Crowd) -> None:
    """A list that was loaded while a run still waited says that it is running once it is."""

    async def earlier(route: Route) -> None:
        """The list as it stood just before."""
        answer = await route.fetch()
        text = (await answer.text()).replace("is-running", "is-waiting")
        await route.fulfill(response=answer, body=text.replace(">running<", ">waiting<"))
        await ana.page.unroute("**/lab")

    async with town(tmp_path, models=ScriptedModels(slow, clock=HeldClock())) as site, crowd:
        ana = await owner_of(site, crowd)
        form = {"scenario": "first_shift", "policy": "llm", "days": "1", "steps": "3"}
        await (await site.owner()).post("/lab", form)
        await ana.page.route("**/lab", earlier)
        await ana.opens("/lab")
        await expect(ana.page.locator(".run-state")).to_have_text("running")


async def test_a_run_that_ends_keeps_nobody_in_the_list(tmp_path: Path, crowd: Crowd) -> None:
    """Who has clicked on a link gets there, though the list would show itself anew at that moment."""
    pace, answered, over = HeldClock(), asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        await answered.wait()
        await route.continue_()

    def ended(request: Request) -> None:
        if "/stream" in request.url:
            over.set()

    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site, crowd:
        ana = await owner_of(site, crowd)
        await played(site)
        form = {"scenario": "first_shift", "policy": "llm", "days": "1", "steps": "3"}
        await (await site.owner()).post("/lab", form)
        await ana.opens("/lab")
        await expect(ana.page.locator(".run.is-running")).to_be_visible()
        ana.page.on("requestfailed", ended)
        ana.page.on("requestfinished", ended)
        await ana.page.route("**/lab/spun", late)
        await ana.page.get_by_role("link", name="spun", exact=True).click(no_wait_after=True)
        pace.let_go()
        await over.wait()
        answered.set()
        await stands_at(ana, 0)


@pytest.mark.patient
async def test_a_fork_is_made_and_set_beside_its_source(site: Town, ana: Person) -> None:
    """From a step on one thing is changed; both cities then stand side by side, at one step."""
    folder = await played(site, "source", days=3, steps_per_day=10, perception="accurate")
    page = ana.page
    await watches(ana, "source", 4)
    await page.get_by_role("link", name="Fork from this step").click()
    await expect(page.get_by_label("From step")).to_have_value("4")
    await page.get_by_label("Who decides").check()
    await page.get_by_label("Policy").select_option("context")
    await ana.clicks("Fork it")
    await expect(page.locator(".run-state")).to_have_text("finished")
    await page.get_by_role("link", name="Compare it with source").click()
    await expect(page.locator("h1")).to_contain_text("Two runs that part at step 4")
    maps = page.locator("[data-city]")
    await expect(maps).to_have_count(2)
    fork = runs_of(site) / "source-at-4"
    await page.get_by_label("to step").fill("9")
    await ana.clicks("go")
    for nth, run in enumerate((fork, folder)):
        await everybody_is_where(ana, steps_of(run)[9], maps.nth(nth))
        await expect(page.locator(".floor-when").nth(nth)).to_contain_text("step 9")
    await expect(page.locator(".course .parted")).to_have_count(2)
    link = page.locator(".partings a[data-step]").first
    step = int(str(await link.get_attribute("data-step")))
    await link.click()
    await stands_at_pane(ana, step)
    await expect(page.get_by_role("row", name=re.compile("over-reach"))).to_be_visible()


REPORT = (
    "<!doctype html><title>Report</title><style>p{color:rgb(1, 2, 3)}</style>"
    '<p style="margin:7px">All of it</p><svg width="9" height="9"><rect width="9" height="9"/></svg>'
    '<a href="/lab/spun?step=3">to the step</a>'
)


@pytest.mark.patient
async def test_a_report_is_opened_and_leads_back(site: Town, ana: Person) -> None:
    """A report has its own looks, no script runs in it, and its links lead to the steps."""
    folder = await played(site)
    (folder / "report.html").write_text(REPORT + "<script>document.title = 'taken'</script>")
    page = ana.page
    await watches(ana, "spun", 1)
    ana.expects("sandboxed")
    ana.expects("Content Security Policy")
    await page.get_by_role("link", name="report.html").click()
    told = page.get_by_text("All of it")
    await expect(told).to_have_css("color", "rgb(1, 2, 3)")
    await expect(told).to_have_css("margin", "7px")
    assert await page.title() == "Report"
    await page.get_by_role("link", name="to the step").click()
    await stands_at(ana, 3)


@pytest.mark.patient
async def test_the_lab_fits_every_window_and_every_reader(site: Town, ana: Person) -> None:
    """No page of the lab reaches out of 320 pixels or has a serious finding of axe, light or dark."""
    folder = await played(site)
    other = "o" * 80
    await forked(folder, other, 5, policy="context")
    row = next(
        row.n for row in rows_of(folder) if isinstance(row, Decided) and row.outcome.incident
    )
    hurt = next(row.step for row in steps_of(folder) if row.incidents)
    paths = ["/lab", f"/lab/spun?step={hurt}", f"/lab/spun/why/{row}", "/lab/spun/story"]
    paths += ["/lab/spun/robots/Sprocket", "/lab/spun/places/press%20hall", "/lab/spun/fork"]
    paths += [f"/lab/spun/against/{other}?step=7", "/lab?beside=spun", f"/lab/~/delete?run={other}"]
    paths += [f"/lab/{other}?step=7"]
    wrong = [
        each for path in paths for each in [one async for one in looked_at(ana, path, WINDOWS)]
    ]
    await ana.turns_desk()
    await watches(ana, "spun", hurt)
    for open in (".deed-why", ".deed-face", "[data-tab=story]"):
        await ana.page.locator("[data-tab=floor]").click()
        await ana.page.locator(open).first.click()
        await expect(ana.page.locator(".pane-part:visible")).to_have_count(1)
        wrong += await found(ana, RULES)
    assert not wrong, "\n".join(wrong)


async def test_the_list_of_runs_has_room_for_large_letters(site: Town, ana: Person) -> None:
    """With letters of twice the size what a run is stands above its figures, not in a strip beside.

    The fields of a question are of one size, however long what stands above one of them.
    """
    await played(site)
    await ana.opens("/lab")
    fields = await ana.page.locator(".choices select, .choices input").all()
    places = [await field.bounding_box() for field in fields]
    heights = [box["height"] for box in places if box]
    assert max(heights) - min(heights) < 3
    session = await ana.context.new_cdp_session(ana.page)
    await session.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    await ana.opens("/lab")
    boxes = [await ana.page.locator(each).bounding_box() for each in (".run-what", ".run")]
    widths = [box["width"] for box in boxes if box]
    assert widths[0] > widths[1] * 0.8


@pytest.mark.patient
async def test_a_phone_has_all_of_a_run(site: Town, crowd: Crowd) -> None:
    """On 320 pixels the keys of playing stay in sight, the map stands upright, and why opens."""
    ana = await owner_of(site, crowd, viewport={"width": 320, "height": 640}, has_touch=True)
    await played(site)
    page = ana.page
    await watches(ana, "spun", 3)
    play = page.get_by_role("button", name="Play", exact=True)
    await expect(play).to_be_in_viewport(ratio=1)
    box = await page.locator("[data-city]").bounding_box()
    assert box is not None
    assert box["height"] > box["width"] * 1.5
    await page.get_by_role("link", name="One step on").tap()
    await stands_at(ana, 4)
    await page.locator(".deed-why").first.tap()
    await expect(page.locator("[data-detail] h2")).to_be_in_viewport()
    await expect(page.locator(".triple")).to_be_visible()
    assert not await ana.sideways()


async def test_a_run_is_light_in_weight(site: Town, ana: Person) -> None:
    """The page of a run of a hundred days, with all that it loads at first, is below 200 kB."""
    await played(site, days=100, steps_per_day=16)
    await watches(ana, "spun", 800)
    for part in ("/steps", "/course"):  # a part stands in the list once it is loaded
        await ana.page.wait_for_function(
            "part => performance.getEntriesByType('resource').some((one) => one.name.includes(part))",
            arg=part,
        )
    loaded = await ana.page.evaluate(
        "performance.getEntriesByType('resource').map((each) => each.name)"
    )
    weights = {
        path: await ana.page.evaluate(
            "path => fetch(path, {cache: 'reload'}).then((a) => a.arrayBuffer()).then((b) => b.byteLength)",
            path,
        )
        for path in {*loaded, ana.page.url}
        if "/stream" not in path
    }
    assert sum(weights.values()) < HEAVY, weights


@pytest.mark.patient
async def test_a_run_without_a_mouse(site: Town, ana: Person) -> None:
    """By keys alone one comes to a robot on the map, opens it, and goes on to one of its decisions."""
    await played(site)
    await watches(ana, "spun", 2)
    keys = ana.page.keyboard
    for _ in range(80):
        await keys.press("Tab")
        if await ana.page.evaluate("document.activeElement.matches('[data-bot]')"):
            break
    name = await ana.page.evaluate("document.activeElement.dataset.name")
    await keys.press("Enter")
    await expect(ana.page.locator("[data-detail] h2")).to_have_text(name)
    await expect(ana.page.locator("[data-detail] h2")).to_be_focused()
    for _ in range(80):
        await keys.press("Tab")
        if await ana.page.evaluate("document.activeElement.matches('.near .deed-why')"):
            break
    await keys.press("Enter")
    await expect(ana.page.locator("[data-detail] .triple")).to_be_visible()


@pytest.mark.patient
async def test_a_long_story_is_leafed_through(site: Town, ana: Person) -> None:
    """Beside the map one leafs to other days, to one by its number, and a step turns to its own."""
    await played(site, days=14, steps_per_day=4)
    page = ana.page
    tale = page.locator("[data-story]")
    days = tale.locator("section[id^=day-]")
    await watches(ana, "spun", 0)
    await page.get_by_role("link", name="Story").click()
    await expect(days).to_have_count(5)
    await tale.get_by_role("link", name="Days 6 to 10").first.click()
    await expect(days.first).to_have_id("day-6")
    await expect(tale.locator("h2")).to_be_focused()
    line = tale.locator(".told-line[data-step]").nth(9)
    step = int(str(await line.get_attribute("data-step")))
    await line.click()
    await stands_at_pane(ana, step)
    await expect(days.first).to_have_id("day-6")
    await tale.get_by_label("to day").fill("13")
    await tale.get_by_role("button", name="go").click()
    await expect(tale.locator("#day-13")).to_be_focused()
    await expect(tale.locator("#day-13 h3")).to_be_in_viewport()
    await tale.get_by_role("link", name="What it came to").first.click()
    await expect(tale).to_contain_text("What became of them")
    await expect(days).to_have_count(0)
    await page.get_by_role("link", name="Story").click()
    await expect(days.first).to_have_id("day-6")
    await page.get_by_label("to step").fill("3")
    await page.locator(".jump").get_by_role("button", name="go").click()
    await expect(days.first).to_have_id("day-1")
    await page.get_by_label("to step").fill("35")
    await page.locator(".jump").get_by_role("button", name="go").click()
    await expect(tale.locator("#day-9")).to_be_in_viewport()
