"""How a mate does: what it cost, and its drills in the Factory, on its page."""

from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.run.robot_minds import Minds, Persona
from loopforge.lab.run.run_lifecycle import RunChoice, simulate
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.web.room.mate_statistics import drills_of
from tests.lab.shelf import prompts
from tests.web.conftest import Guest, Town, words
from tests.web.labs import cut, played, runs_of


async def test_a_mates_page_tells_how_it_does(site: Town, owner: Guest) -> None:
    """The owner reads what it cost and can drill it; others read neither where there is no drill."""
    page = words(await owner.get("/mates/maya"))
    assert "In the last 30 days it asked a language model 0 times" in page
    assert "Drill it in the Factory" in page
    form = (await owner.get("/mates/maya")).text
    assert 'name="policy" value="mate:maya"' in form
    other = await site.guest("bea", by=owner)
    assert "How it does" not in words(await other.get("/mates/maya"))


async def test_a_drill_that_was_not_answered_is_no_finding(site: Town, owner: Guest) -> None:
    """Robots that got no answer stood still: what that kept to and broke is nothing of the mate's."""
    models = ScriptedModels(lambda _: ScriptedAnswer(text="{", outcome="refused"))
    maya = {"maya": Persona("Is quick.")}
    minds = Minds(policy="mate:maya", models=models, prompts=prompts(), personas=maya)
    city = RunChoice(days=1, steps_per_day=3).apply(open_scenario("first_shift"))
    await simulate(city, minds, out=runs_of(site) / "silent")
    page = words(await owner.get("/mates/maya"))
    assert "silent : no finding, for 15 of 15 decisions were not answered" in page
    assert "kept to a wrong rule in" not in page


async def test_drills_are_the_runs_of_its_mind(site: Town, owner: Guest) -> None:
    """Newest runs whose robots think by that policy, also one that was cut off; a broken one not."""
    await played(site, "first")
    cut(await played(site, "second"), 20)
    await played(site, "other", policy="context")
    found = {drill.name: drill for drill in drills_of(RunArchive(runs_of(site)), "stub")}
    assert found.keys() == {"first", "second"}
    assert (found["first"].ended, found["second"].ended) == (True, False)
    assert found["first"].path == "/lab/first"
    assert found["first"].finding
    assert 0 <= (found["first"].over_compliance or 0) <= 1
    assert (await owner.get(found["first"].path)).status_code == 200
