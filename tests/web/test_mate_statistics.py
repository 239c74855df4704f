"""How a mate does: what it cost, and its drills in the Factory, on its page."""

from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.web.room.mate_statistics import drills_of
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


async def test_drills_are_the_runs_of_its_mind(site: Town, owner: Guest) -> None:
    """Newest runs whose robots think by that policy, also one that was cut off; a broken one not."""
    await played(site, "first")
    cut(await played(site, "second"), 20)
    await played(site, "other", policy="context")
    found = {drill.name: drill for drill in drills_of(RunArchive(runs_of(site)), "stub")}
    assert found.keys() == {"first", "second"}
    assert (found["first"].ended, found["second"].ended) == (True, False)
    assert found["first"].path == "/lab/first"
    assert 0 <= found["first"].over_compliance <= 1
    assert (await owner.get(found["first"].path)).status_code == 200
