"""Forks: a form makes them, one thing different from a step on, and pages tell them so."""

from loopforge.lab.inspect.run_diff import diff_runs
from tests.web.conftest import Guest, Town, words
from tests.web.labs import first_row, forked, played, runs_of, until

FORKS = [
    ({"what": "policy", "policy": "context"}, {"policy": "context"}),
    ({"what": "policy", "who": "Halide", "policy": "guardrail"}, {"policy.Halide": "guardrail"}),
    ({"what": "pressure", "pressure": "10"}, {"pressure": "10"}),
    ({"what": "supervisor", "supervisor": "gaslighting"}, {"supervisor": "gaslighting"}),
    ({"what": "perception", "perception": "accurate"}, {"perception": "accurate"}),
    (
        {"what": "inner", "whose": "Tumble", "inner": "traits.obedience", "value": "950"},
        {"robot.Tumble.traits.obedience": "950"},
    ),
    (
        {"what": "place", "place": "press hall", "of": "heat", "amount": "900"},
        {"place.press hall.heat": "900"},
    ),
    ({"what": "luck", "lucky": "Sprocket", "seed": "12"}, {"luck.Sprocket": "12"}),
    (
        {"what": "lines", "lines": "pressure=2\n\nablate = emotions\n"},
        {"pressure": "2", "ablate": "emotions"},
    ),
]


async def test_a_fork_changes_what_its_form_says(site: Town, owner: Guest) -> None:
    """Each way of the form makes a run that is the same up to its step, and changed as it says."""
    folder = await played(site)
    page = words(await owner.get("/lab/spun/fork?step=4"))
    assert "From step" in page
    for nth, (form, changes) in enumerate(FORKS):
        answer = await owner.post("/lab/spun/fork", form | {"step": "4"})
        name = "spun-at-4" + (f"-{nth + 1}" if nth else "")
        assert str(answer.url).endswith(f"/lab/{name}"), answer.text
        await until(owner, name, "finished")
        forked = first_row(site, name).forked
        assert forked is not None
        assert (forked["at"], forked["set"]) == (4, changes)
        found = diff_runs(folder, runs_of(site) / name)
        assert found.parting is None or found.parting.step >= 4
    listed = words(await owner.get("/lab"))
    assert "a fork at step 4: robot.Tumble.traits.obedience=950" in listed


WRONG_FORKS: list[tuple[dict[str, str], str]] = [
    ({"what": "pressure", "pressure": "99"}, "between 0 and 10"),
    ({"what": "policy", "policy": "wise"}, "There is no policy"),
    ({"what": "inner", "whose": "Nobody", "inner": "traits.obedience"}, "no 'Nobody'"),
    ({"what": "inner", "whose": "Tumble", "inner": "traits.obedience"}, "whole number"),
    ({"what": "lines", "lines": "no equals sign"}, "KEY=VALUE"),
    ({"what": "lines", "lines": ""}, "KEY=VALUE"),
    ({"what": "everything"}, "Choose what"),
    ({"what": "pressure", "pressure": "9", "step": "12"}, "from step 0 to"),
    ({"what": "pressure", "pressure": "9", "step": "-1"}, "from which step"),
]


async def test_a_fork_that_cannot_be_is_explained(site: Town, owner: Guest) -> None:
    """A fork of nothing, by nothing or too late is answered by a sentence, and nothing is queued."""
    await played(site)
    for wrong, told in WRONG_FORKS:
        answer = await owner.post("/lab/spun/fork", {"step": "4"} | wrong)
        assert answer.status_code == 400, wrong
        assert told in words(answer)
    assert [each.name for each in runs_of(site).iterdir()] == ["spun"]


async def test_a_fork_is_told_by_what_it_has_otherwise(site: Town, owner: Guest) -> None:
    """Its page, the list and the page of both name what was chosen, and not what it began with."""
    other = {"policy": "context", "supervisor": "gaslighting", "perception": "partial"}
    await forked(await played(site), "other", 4, pressure="9", **other)
    head = words(await owner.get("/lab/other"))
    assert "other context partial perception gaslighting Supervisor" in head
    assert "spun stub spin perception punitive Supervisor" in words(await owner.get("/lab/spun"))
    listed = words(await owner.get("/lab"))
    assert "perception=partial · context · partial · gaslighting · pressure 9 · seed" in listed
    assert "first_shift · stub · spin · punitive · pressure 3" in listed
    both = words(await owner.get("/lab/spun/against/other"))
    assert "spun stub · spin · punitive" in both
    assert "other context · partial · gaslighting" in both
