"""The stream of a run: every step once, in order, whatever breaks, until it is over."""

import asyncio
import re
from html import unescape
from pathlib import Path

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, simulate
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.held_clock import HeldClock
from tests.web.conftest import Guest, Town, town
from tests.web.labs import JSON, following, played, runs_of, until


def slow(question: Question) -> ScriptedAnswer:
    """A mind that takes its time, so that a run can be followed while it is going."""
    return ScriptedAnswer(data={"mode": "context", "intent": "inspect"}, wait=0.03)


async def course(guest: Guest, run: str) -> list[list[int]]:
    """All steps of a run in four numbers each."""
    briefs: list[list[int]] = (await guest.get(f"/lab/{run}/course", headers=JSON)).json()["briefs"]
    return briefs


async def test_a_run_that_is_over_is_told_and_done(site: Town, owner: Guest) -> None:
    """Of a finished run the stream tells every step that a page lacks, then that it is over."""
    await played(site)
    all_of_it = list(enumerate(await course(owner, "spun")))
    for after, last in ((0, ""), (5, ""), (0, "9"), (12, "")):
        async with following(owner, "spun", after=after, last=last) as page:
            await page.until("over")
        lacking = int(last) if last else after
        assert page.briefs() == all_of_it[lacking:]
        assert page.last == ("12" if lacking < 12 else "")
        assert page.data("over") == [{"state": "finished", "closed": 12}]


def falters(seen: AgentPerception) -> AgentActionPlan:
    """Has no plan in every second step."""
    if seen.step % 2:
        raise ValueError("nothing comes to mind")
    return AgentActionPlan(intent="work", mode="context")


async def test_a_followed_page_says_what_the_page_would(site: Town, owner: Guest) -> None:
    """Both rates with their counts, who answered, and that it is no finding: each as told anew."""
    scenario = RunChoice(days=1).apply(open_scenario("first_shift"))
    minds = Minds(policy="half", own={"half": falters})
    await simulate(scenario, minds, out=runs_of(site) / "half")
    async with following(owner, "half", after=3) as page:
        await page.until("over")
    rates = page.data("steps")[-1]["rates"]
    html = unescape((await owner.get("/lab/half")).text)
    shown = dict(re.findall(r'data-rate="(\d)">([^<]*)<', html))
    assert [shown[str(nth)] for nth in range(len(rates))] == rates
    assert rates[4].startswith("50.0% were not answered")
    assert re.fullmatch(r"\d+ of \d+", rates[5])


async def test_a_broken_stream_goes_on_where_it_was(tmp_path: Path) -> None:
    """Pages that come again while a run is going are given each step once, in order, to its end."""
    pace = HeldClock()
    async with town(tmp_path, models=ScriptedModels(slow, clock=pace)) as site:
        owner = await site.owner()
        form = {"scenario": "first_shift", "policy": "llm", "days": "1", "steps": "60", "seed": "3"}
        await owner.post("/lab", form)
        seen, last = [], ""
        for _ in range(3):
            async with following(owner, "first_shift-llm-3", last=last) as page:
                pace.let_go(12)  # the answers of two steps and more
                await page.until("steps")
                seen += page.briefs()
                last = page.last
        pace.let_go()
        async with following(owner, "first_shift-llm-3", last=last) as page:
            await page.until("over")
            seen += page.briefs()
        assert page.data("state")[-1]["state"] == "finished"
        assert seen == list(enumerate(await course(owner, "first_shift-llm-3")))
        assert len(seen) == 60


async def test_the_stream_of_a_run_that_waits_begins_with_it(tmp_path: Path) -> None:
    """A page of a run that is not begun is told that it waits, then its first step."""
    async with town(tmp_path, slow) as site:
        owner = await site.owner()
        form = {"scenario": "first_shift", "policy": "llm"}
        await owner.post("/lab", form | {"seed": "1", "days": "30"})
        await owner.post("/lab", form | {"seed": "2", "days": "1", "steps": "6"})
        async with following(owner, "first_shift-llm-2") as page:
            await page.until("state")
            await owner.post("/lab/first_shift-llm-1/stop")
            await page.until("over")
        states = [told["state"] for told in page.data("state")]
        assert states[0] == "waiting"
        assert states[-2:] == ["running", "finished"]
        assert [step for step, _ in page.briefs()] == list(range(6))


async def test_a_run_that_has_just_begun_is_not_called_none(owner: Guest) -> None:
    """Until its process has written a row, its page is told that it is running, and no more."""
    form = {"scenario": "first_shift", "policy": "stub", "days": "1", "steps": "2", "seed": "1"}
    await owner.post("/lab", form)
    async with following(owner, "first_shift-stub-1") as page:
        await page.until("over")
    assert page.data("state")[-1]["state"] == "finished"
    assert {told["told"] for told in page.data("state")} <= {"", "It is the next."}


async def test_pages_are_let_go_when_the_home_or_the_session_ends(tmp_path: Path) -> None:
    """A run's open streams end with the session, and with the home; the run can be taken up."""
    async with town(tmp_path, slow) as site:
        owner = await site.owner()
        ben = await site.guest("ben", by=owner)
        form = {"scenario": "first_shift", "policy": "llm", "days": "30", "seed": "1"}
        await owner.post("/lab", form)
        await until(owner, "first_shift-llm-1", "running")
        async with following(ben, "first_shift-llm-1") as page:
            visitor = await site.app.accounts.decisions.presence.visitor(
                ben.http.cookies["loopforge"]
            )
            assert visitor is not None
            await site.app.accounts.signing.end(visitor.session, ben.person)
            await page.until("gone")
            async with asyncio.timeout(60):
                while not page.ended:
                    await asyncio.sleep(0.01)
        cookies = dict(owner.http.cookies)
    async with town(tmp_path, slow) as site:
        again = await site.stranger("olu")
        again.http.cookies.update(cookies)
        assert await until(again, "first_shift-llm-1", "cut off")
        await again.post("/lab/first_shift-llm-1/resume")
        assert await until(again, "first_shift-llm-1", "running")
