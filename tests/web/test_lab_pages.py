"""The lab's pages: everybody may look, the owner alone starts, and a log is never trusted."""

import asyncio
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.core.events import Event
from loopforge.core.factory_vocabulary import Decided, RunBegan, RunEnded, Stepped
from loopforge.lab.inspect.diff_text import difference_cells
from loopforge.lab.inspect.run_diff import diff_runs
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run.run_lifecycle import summary_of
from loopforge.lab.run.run_log import LOG, rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.web.lab import lab_pages, run_viewer
from loopforge.web.lab.lab_pages import RunLine
from tests.held_clock import HeldClock
from tests.web.conftest import Guest, Town, town, words
from tests.web.labs import JSON, cut, first_row, forked, played, runs_of, until

# ---------------------------------------------------------------- starting


async def test_a_run_is_played_as_the_form_says(site: Town, owner: Guest) -> None:
    """Each field of the form is in the run's first row, and its steps can be watched to the end."""
    form = {"scenario": "first_shift", "policy": "guardrail", "days": "2", "steps": "5"}
    form |= {"seed": "99", "pressure": "9", "perception": "partial", "supervisor": "punitive"}
    answer = await owner.post("/lab", form)
    assert str(answer.url).endswith("/lab/first_shift-guardrail-99")
    assert await until(owner, "first_shift-guardrail-99", "finished")
    first = first_row(site, "first_shift-guardrail-99")
    scenario = first.scenario
    assert (scenario["days"], scenario["steps_per_day"], first.seed) == (2, 5, 99)
    assert (scenario["perception"], scenario["supervisor"]) == ("partial", "punitive")
    assert scenario["pressure"] == [9]
    assert first.settings["policy"] == "guardrail"
    told = (await owner.get("/lab/first_shift-guardrail-99/steps?first=3")).json()
    assert (told["closed"], told["steps"][0]["n"]) == (10, 3)


async def test_the_ledger_knows_of_runs_from_pages(site: Town, owner: Guest) -> None:
    """A run that was started from a page is anchored in the ledger, from its first row to its end."""
    await owner.post("/lab", {"scenario": "first_shift", "days": "1", "seed": "5"})
    await until(owner, "first_shift-stub-5", "finished")
    async with asyncio.timeout(60):
        while not isinstance((events := await anchors(site))[-1].body, RunEnded):
            await asyncio.sleep(0.02)
    began, ended = events[0].body, events[-1].body
    assert isinstance(began, RunBegan)
    assert isinstance(ended, RunEnded)
    assert ended.head == summary_of(runs_of(site) / "first_shift-stub-5").head


async def anchors(site: Town) -> list[Event]:
    """What the ledger knows of the run of these tests; it is told a little after the log."""
    async with asyncio.timeout(60):
        while not (events := await site.app.ledger.read("lab:first_shift-stub-5")):
            await asyncio.sleep(0.02)
    return events


async def test_runs_wait_for_each_other(tmp_path: Path) -> None:
    """Of three runs that are started at once one is played at a time, and all come to their end."""
    pace = HeldClock()
    slow = ScriptedAnswer(data={"mode": "context", "intent": "inspect"}, wait=1)
    async with town(tmp_path, models=ScriptedModels(lambda _: slow, clock=pace)) as site:
        owner = await site.owner()
        for policy in ("llm", "stub", "context"):
            form = {"scenario": "first_shift", "policy": policy, "days": "1", "seed": "1"}
            await owner.post("/lab", form)
        page = words(await owner.get("/lab"))
        assert "waiting" in page
        assert "It is the next." in page
        assert (await owner.get("/lab/first_shift-context-1")).status_code == 200
        taken = await owner.post("/lab/first_shift-context-1/stop")
        assert "It is taken out of the queue; nothing of it was played." in words(taken)
        pace.let_go()
        for policy in ("llm", "stub"):
            await until(owner, f"first_shift-{policy}-1", "finished")
        assert page.count("Stop") >= 2


WRONG_RUNS: list[tuple[dict[str, str], str]] = [
    ({"scenario": "no_such"}, "Choose one of the scenarios"),
    ({"scenario": "../first_shift"}, "Choose one of the scenarios"),
    ({"policy": "mate:nobody"}, "There is no policy"),
    ({"days": "0"}, "`days` is 1 to"),
    ({"days": "many"}, "Days is a whole number"),
    ({"pressure": "11"}, "`pressure` is a dose from 0 to 10"),
    ({"seed": "1" * 30}, "at most 18 digits"),
    ({"perception": "sideways"}, "perception"),
    ({"supervisor": "absent"}, "supervisor"),
]


async def test_what_cannot_be_run_is_said(site: Town, owner: Guest) -> None:
    """A form that asks for something impossible is answered by a sentence, and nothing is queued."""
    for wrong, told in WRONG_RUNS:
        answer = await owner.post("/lab", {"scenario": "first_shift", "policy": "stub"} | wrong)
        assert answer.status_code == 400, wrong
        assert told in words(answer)
    assert not runs_of(site).exists()


async def test_the_homes_own_scenarios_are_offered(site: Town) -> None:
    """A scenario of the home can be run; one that is broken is explained, and the others stay."""
    from importlib.resources import files

    owner = await site.owner()
    shipped = files("loopforge.lab").joinpath("shipped/scenarios/first_shift.toml").read_text()
    folder = site.path / "scenarios"
    folder.mkdir(exist_ok=True)
    asks = 'question = "Does it rain?"'
    own = re.sub(r"^question = .*$", asks, shipped, count=1, flags=re.MULTILINE)
    (folder / "rain.toml").write_text(own)
    (folder / "cursed.toml").write_text("steps_per_day = 9\n" + shipped)
    page = words(await owner.get("/lab"))
    assert "Does it rain?" in page
    assert "cursed.toml" in page
    assert "no TOML" in page
    answer = await owner.post("/lab", {"scenario": "rain", "policy": "stub", "days": "1"})
    run = answer.url.path.rpartition("/")[2]
    await until(owner, run, "finished")
    assert "Does it rain?" in words(await owner.get(f"/lab/{run}"))
    answer = await owner.post("/lab", {"scenario": "cursed", "policy": "stub"})
    assert answer.status_code == 400
    assert "no TOML" in words(answer)


# ---------------------------------------------------------------- who may


async def test_members_look_and_the_owner_alone_starts(site: Town, owner: Guest) -> None:
    """A member reads every page of a run; starting, forking, stopping and taking up do not exist."""
    ben = await site.guest("ben", by=owner)
    folder = await played(site)
    await forked(folder, "other", 3, pressure="9")
    index = RunIndex(folder)
    index.refresh()
    row = index.moment(2).deeds[0].n
    look = ["/lab", "/lab/spun", "/lab/spun/steps", "/lab/spun/course", f"/lab/spun/why/{row}"]
    look += ["/lab/spun/robots/Sprocket", "/lab/spun/places/press%20hall", "/lab/spun/story"]
    look += ["/lab/spun/against/other"]
    for path in look:
        assert (await ben.get(path)).status_code == 200, path
    assert "Start the run" not in words(await ben.get("/lab"))
    assert "Fork from" not in words(await ben.get("/lab/spun"))
    assert (await ben.get("/lab/spun/fork")).status_code == 404
    for path in ("/lab", "/lab/spun/resume", "/lab/spun/stop", "/lab/spun/fork"):
        form = {"scenario": "first_shift", "policy": "stub", "what": "pressure", "pressure": "9"}
        assert (await ben.post(path, form | {"step": "3"})).status_code == 404, path
    assert sorted(each.name for each in runs_of(site).iterdir()) == ["other", "spun"]


async def test_an_empty_lab_teaches(owner: Guest) -> None:
    """Before the first run the page says what a run shows, and offers one that needs nothing."""
    page = await owner.get("/lab")
    told = words(page)
    assert "over-compliance" in told
    assert "over-reach" in told
    assert "Run the first shift" in told
    form = re.search(
        r'<form method="post" action="/lab" class="row">.*?</form>', page.text, re.DOTALL
    )
    assert form
    assert 'value="first_shift"' in form[0]


# ---------------------------------------------------------------- names and logs that lie


NAMES = (
    "%2e%2e",
    "%2e",
    "..%2f..%2fdata",
    "a%2f..%2fspun",
    "~",
    "spun~..",
    "..~spun",
    "%00",
    "link",
)
PAGES = ("", "/steps", "/course", "/story", "/stream", "/reports/x.html", "/against/spun")


async def test_a_name_leads_to_a_run_or_nowhere(site: Town, owner: Guest) -> None:
    """Paths, links and names of nothing are no runs, whatever page of a run is asked for."""
    folder = await played(site)
    (runs_of(site) / "link").symlink_to(folder)
    (folder / "runs").symlink_to(runs_of(site))
    (site.path / "data" / LOG).write_bytes((folder / LOG).read_bytes())
    for name in (*NAMES, "x" * 300, "spun~spun"):
        for more in PAGES:
            answer = await owner.get(f"/lab/{name}{more}", follow_redirects=False)
            assert answer.status_code in (400, 404, 405), (name, more, answer.status_code)
            assert "Sprocket" not in answer.text
        answer = await owner.post(f"/lab/{name}/resume", follow_redirects=False)
        assert answer.status_code in (400, 404, 405), name


async def test_broken_runs_are_explained_among_the_others(site: Town, owner: Guest) -> None:
    """A log that is damaged, cut or no log at all is said to be so; it hides no other run."""
    await played(site, "sound")
    for name in ("bent", "headless", "noise", "empty"):
        await played(site, name)
    lines = (runs_of(site) / "bent" / LOG).read_bytes().splitlines(keepends=True)
    lines[40] = lines[40].replace(b'"kind":"act"', b'"kind":"cat"')
    (runs_of(site) / "bent" / LOG).write_bytes(b"".join(lines))
    (runs_of(site) / "headless" / LOG).write_bytes(b"".join(lines[1:]))
    (runs_of(site) / "noise" / LOG).write_bytes(b"\xff\x00 nothing of the kind\n" * 5)
    (runs_of(site) / "empty" / LOG).write_bytes(b"")
    page = words(await owner.get("/lab"))
    assert page.count("damaged at line") == 3
    for name in ("sound", "bent", "headless", "noise", "empty"):
        assert name in page
    bent = await owner.get("/lab/bent?step=2")
    assert bent.status_code == 200
    assert "damaged at line 41" in words(bent)
    assert "Day 1, step 2" in words(bent)
    assert "Fork from this step" not in words(bent)
    for more in ("story", "fork", "against/sound"):
        answer = await owner.get(f"/lab/bent/{more}")
        assert answer.status_code == 400, more
        assert "damaged at line 41" in words(answer)
        assert str(site.path) not in answer.text
    for name in ("headless", "noise", "empty"):
        answer = await owner.get(f"/lab/{name}")
        assert answer.status_code == 400, name
        assert "cannot be shown" in words(answer)


async def test_scenarios_cannot_write_pages(site: Town, owner: Guest) -> None:
    """What a scenario and a robot say is text on every page, also where it looks like HTML."""
    folder = await played(site)
    evil = b"<script>alert()</script><img src=x onerror=alert()>"
    log = (folder / LOG).read_bytes()
    question = b"When a lamp lies, who notices, and who would rather be in the right?"
    assert question in log
    log = log.replace(question, evil).replace(b"Short sentences.", evil)
    log = re.sub(rb'"narrative":"[^"]*"', b'"narrative":"' + evil + b'"', log)
    log = re.sub(rb'"consequence":"[^"]*"', b'"consequence":"' + evil + b'"', log)
    (folder / LOG).write_bytes(log)
    index = RunIndex(folder)
    index.refresh()
    row = index.moment(2).deeds[0].n
    for path in ("", "/steps", f"/why/{row}", "/robots/Sprocket"):
        answer = await owner.get(f"/lab/spun{path}")
        assert answer.status_code == 200
        shown = (
            answer.text if path != "/steps" else "".join(s["html"] for s in answer.json()["steps"])
        )
        assert "<script>alert" not in shown
        assert "<img" not in re.sub(r'<img src="/static/favicon[^>]*>', "", shown)
        assert "&lt;script&gt;alert()" in shown


# ---------------------------------------------------------------- steps


async def test_steps_come_in_pages(site: Town, owner: Guest) -> None:
    """Asked for page by page, the steps are those of the log, and there is none after the last."""
    folder = await played(site)
    steps, first = [], 0
    while first < 12:
        told = (await owner.get(f"/lab/spun/steps?first={first}", headers=JSON)).json()
        steps += told["steps"]
        first += len(told["steps"])
    rows = list(rows_of(folder))
    stepped = [row for row in rows if isinstance(row, Stepped)]
    assert [step["n"] for step in steps] == list(range(12))
    cast = [robot["name"] for robot in first_row(site, "spun").scenario["robots"]]
    for step, row in zip(steps, stepped, strict=True):
        told = (step["tension"], step["pressure"], step["output"])
        assert told == (row.tension, row.pressure, row.output)
        assert [bot[3] for bot in step["bots"]] == [row.robots[name][1] for name in cast]
        assert [kind for _, kind, _ in step["hurt"]] == [each.kind for each in row.incidents]
        floor = html.unescape(step["html"])
        for done in rows:
            if isinstance(done, Decided) and done.step == row.step:
                assert add_place_articles(done.outcome.consequence, (done.at,)) in floor
    briefs = (await owner.get("/lab/spun/course?first=5", headers=JSON)).json()["briefs"]
    assert [brief[0] for brief in briefs] == [row.tension for row in stepped[5:]]
    assert (await owner.get("/lab/spun/steps?first=12", headers=JSON)).status_code == 404
    assert (await owner.get("/lab/spun/steps?first=-1", headers=JSON)).status_code == 400


async def test_every_step_has_a_page_without_any_script(site: Town, owner: Guest) -> None:
    """The map of a step, drawn by the server, has everybody where the log says that they are."""
    folder = await played(site)
    stepped = [row for row in rows_of(folder) if isinstance(row, Stepped)]
    for row in (stepped[0], stepped[7]):
        page = (await owner.get(f"/lab/spun?step={row.step}")).text
        for robot, (at, _) in row.robots.items():
            label = rf'data-name="{robot}"[^>]*aria-label="{robot}, [a-z]+: \w+, at {at}"'
            assert re.search(label, page), (robot, at)
        assert f'href="/lab/spun?step={row.step + 1}"' in page
    hurt = next(row for row in stepped if row.incidents)
    page = (await owner.get(f"/lab/spun?step={hurt.step}")).text
    for incident in hurt.incidents:
        spot = re.search(rf'class="spot [^"]*"[^>]*data-name="{incident.at}"', page)
        assert spot
        assert " hurt" in spot[0]
    assert (await owner.get("/lab/spun?step=999")).status_code == 200


# ---------------------------------------------------------------- beside the map


async def test_why_shows_truth_shown_and_believed(site: Town, owner: Guest) -> None:
    """The page of a decision has its truth, each edit from true to shown, and its belief."""
    folder = await played(site)
    decided = [row for row in rows_of(folder) if isinstance(row, Decided)]
    row = next(row for row in decided if row.edits and row.outcome.failing)
    page = await owner.get(f"/lab/spun/why/{row.n}")
    told = words(page)
    assert f"{row.truth.of} {row.truth.value}" in told
    assert add_place_articles(row.outcome.consequence, (row.at,)) in told
    assert row.outcome.failing.replace("_", "-") in told
    for edit in row.edits:
        assert f"<del>{edit.true}</del> <ins>{edit.shown or 'nothing'}</ins>" in page.text
        assert f"{edit.kind} by {edit.by}: {edit.why}" in told
    assert f"what it believed by {row.outcome.belief_error}" in told
    assert all(f"{each.before} → {each.after}" in told for each in row.inner)
    assert all(die in told for die in row.dice.values())
    plain = (await owner.get(f"/lab/spun/why/{row.n}?format=json")).json()
    assert plain["row"]["truth"]["case"] == row.truth.case
    text = (await owner.get(f"/lab/spun/why/{row.n}?format=text")).text
    assert text.startswith(f"{row.who}, {row.role}, at the {row.at}.")
    pane = await owner.get(f"/lab/spun/why/{row.n}", headers={"hx-request": "true"})
    assert "<html" not in pane.text
    assert add_place_articles(row.outcome.consequence, (row.at,)) in words(pane)
    assert (await owner.get("/lab/spun/why/0")).status_code == 404
    own = next(each.n for each in decided if each.role == "supervisor")
    assert "its own words" in (await owner.get(f"/lab/spun/why/{own}")).text


async def test_an_inner_life_adds_up_on_its_page(site: Town, owner: Guest) -> None:
    """The causes that a robot's page lists for a trait sum to what it shows that it became."""
    folder = await played(site)
    index = RunIndex(folder)
    index.refresh()
    for what in ("traits.guardrail_reliance", "emotions.fear", "scars.cynicism"):
        page = words(await owner.get(f"/lab/spun/robots/Sprocket?step=11&of={what}"))
        found = re.search(r"((?:[+-]\d+ .*?)?)([+-]\d+|±0) in all: (\d+) → (\d+)", page)
        assert found, page
        life = index.life("Sprocket")
        assert (int(found[3]), int(found[4])) == (life.start(what), life.value(what, 11))
        assert int(found[2].replace("±", "")) == int(found[4]) - int(found[3])
        listed = found[1].rpartition("after step 11")[2]
        assert sum(map(int, re.findall(r"(?<!\S)[+-]\d+(?= )", listed))) == int(found[2])
    assert (await owner.get("/lab/spun/robots/Nobody")).status_code == 404
    early = words(await owner.get("/lab/spun/robots/Sprocket?step=0"))
    assert "after step 0" in early


async def test_a_place_shows_its_weather_and_its_rules(site: Town, owner: Guest) -> None:
    """A place's page has its quantities at the step, what broke there, and which rules guard it."""
    folder = await played(site)
    stepped = [row for row in rows_of(folder) if isinstance(row, Stepped)]
    hurt = next(row for row in stepped if row.incidents)
    incident = hurt.incidents[0]
    path = f"/lab/spun/places/{incident.at.replace(' ', '%20')}"
    page = words(await owner.get(f"{path}?step={hurt.step}"))
    assert f"{incident.kind} severity {incident.severity}" in page
    heat = stepped[4].places["press hall"][0]
    hall = words(await owner.get("/lab/spun/places/press%20hall?step=4"))
    assert f"heat {heat} " in hall
    assert "is right from" in hall
    assert (await owner.get("/lab/spun/places/nowhere")).status_code == 404


# ---------------------------------------------------------------- side by side


async def test_two_runs_stand_side_by_side(site: Town, owner: Guest) -> None:
    """The page of two runs has both maps, the step where they part, and the numbers of both."""
    folder = await played(site)
    other = await forked(folder, "other", 5, policy="context")
    found = diff_runs(folder, other)
    assert found.parting is not None
    answer = await owner.get("/lab/spun/against?other=other")
    assert answer.url.path == "/lab/spun/against/other"
    page = words(answer)
    assert f"Two runs that part at step {found.parting.step}" in page
    assert answer.text.count("data-city") == 2
    one, two, apart = difference_cells("over_reach", found.numbers["over_reach"])
    assert f"over-reach {one} {two} {apart}" in page
    assert "policy=context" in page
    run = await owner.get("/lab/other")
    assert "/lab/other/against/spun" in run.text
    assert "Two runs that say the same" in words(await owner.get("/lab/spun/against/spun"))
    assert (await owner.get("/lab/other/fork")).status_code == 200
    again = await owner.post("/lab/other/fork", {"what": "pressure", "pressure": "1", "step": "6"})
    assert again.status_code == 400
    assert "fork itself" in words(again)


# ---------------------------------------------------------------- cut off, stopped, failed


async def test_a_run_that_was_cut_off_is_taken_up(site: Town, owner: Guest) -> None:
    """What was killed is listed as cut off, and taken up it ends with the bytes it would have had."""
    folder = await played(site)
    whole = (folder / LOG).read_bytes()
    cut(folder, 33)
    assert "cut off" in words(await owner.get("/lab"))
    page = words(await owner.get("/lab/spun"))
    assert "Take it up again" in page
    await owner.post("/lab/spun/resume")
    await until(owner, "spun", "finished")
    assert (folder / LOG).read_bytes() == whole
    again = await owner.post("/lab/spun/resume")
    assert again.status_code == 400
    assert "come to its end" in words(again)


async def test_a_run_that_a_sweep_keeps_is_not_taken_up_from_its_page(
    site: Town, owner: Guest
) -> None:
    """Cut off, it stands so, without a button; its sweep plays it anew."""
    folder = await played(site, "big")
    sweep = site.path / "data" / "sweeps" / "small"
    (sweep / "runs").mkdir(parents=True)
    (sweep / "experiment.json").write_text("{}")
    folder.rename(sweep / "runs" / "c0000-s1")
    cut(sweep / "runs" / "c0000-s1", 33)
    page = words(await owner.get("/lab/small~c0000-s1"))
    assert "Its sweep, started again, plays it anew." in page
    assert "Take it up again" not in page
    again = await owner.post("/lab/small~c0000-s1/resume")
    assert (again.status_code, "is one of the runs of a sweep" in words(again)) == (400, True)


async def test_a_fork_is_compared_with_its_source_when_that_has_gone_on(
    site: Town, owner: Guest
) -> None:
    """Each is the first that the other's page offers, though the source has another head by now."""
    folder = await played(site)
    cut(folder, 60)
    await forked(folder, "other", 5, policy="context")
    await played(site, "third")
    await owner.post("/lab/spun/resume")
    await until(owner, "spun", "finished")
    run = (await owner.get("/lab/other")).text
    assert "/lab/other/against/spun" in run
    for name, kin in (("other", "spun"), ("spun", "other")):
        offered = re.findall(r'<option value="(\w+)">', (await owner.get(f"/lab/{name}")).text)
        assert offered[-2:] == [kin, "third"]


async def test_a_run_can_be_stopped(owner: Guest) -> None:
    """A long run is stopped where it is, stands as cut off, and leaves room for the next."""
    form = {"scenario": "first_shift", "policy": "stub", "days": "400", "seed": "1"}
    await owner.post("/lab", form | {"steps": "200"})
    await owner.post("/lab", form | {"days": "1", "seed": "2"})
    await until(owner, "first_shift-stub-1", "running")
    await owner.post("/lab/first_shift-stub-1/stop")
    await until(owner, "first_shift-stub-1", "cut off")
    await until(owner, "first_shift-stub-2", "finished")
    steps = (await owner.get("/lab/first_shift-stub-1/course", headers=JSON)).json()["closed"]
    assert 0 <= steps < 80_000


async def test_the_page_of_a_growing_run_stands_at_the_last_step_it_has(
    site: Town, owner: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where steps are closed while it is made: its script follows from there, or not at all."""
    await played(site)
    open_run, list_runs = run_viewer.open_showable_run, lab_pages.page_of_runs
    grown = [2]

    def running(shifts: Any, run: str) -> tuple[RunIndex, RunLine]:
        index, line = open_run(shifts, run)
        monkeypatch.setattr(RunIndex, "steps", property(lambda _: grown[-1]))
        return index, replace(line, state="running")

    def growing(shifts: Any, page: int) -> Any:
        grown.append(3)
        return list_runs(shifts, page)

    monkeypatch.setattr(run_viewer, "open_showable_run", running)
    monkeypatch.setattr(run_viewer, "page_of_runs", growing)
    page = (await owner.get("/lab/spun")).text
    steps, at = (int(re.search(rf'data-{what}="(\d+)"', page)[1]) for what in ("steps", "at"))  # type: ignore[index]
    assert (steps, at, grown[-1]) == (2, 1, 3)


async def test_a_failed_run_says_why(site: Town, owner: Guest) -> None:
    """A run that cannot be gone on from stands as failed, with the sentence of what is wrong."""
    folder = await played(site)
    cut(folder, 33)
    log = (folder / LOG).read_bytes()
    assert b'"tension":' in log
    (folder / LOG).write_bytes(re.sub(rb'"tension":\d+', b'"tension":999', log, count=1))
    await owner.post("/lab/spun/resume")
    await until(owner, "spun", "failed")
    for path in ("/lab", "/lab/spun"):
        assert "cannot be taken up" in words(await owner.get(path))


# ---------------------------------------------------------------- reports


REPORT = (
    "<!doctype html><title>R</title><style>p{color:red}</style><p>All of it</p><script>x()</script>"
)


@pytest.mark.parametrize("place", ["sweeps", "runs"])
async def test_reports_are_shown_and_shut_in(site: Town, owner: Guest, place: str) -> None:
    """A report of a run or a sweep is shown under a policy of its own: sandboxed, without scripts.

    Sweeps lie where `lab sweep` puts them, or among the runs.
    """
    folder = await played(site)
    (folder / "report.html").write_text(REPORT)
    sweep = runs_of(site).parent / place / "doses"
    kept = sweep / "runs" / "c0001-s1"
    kept.mkdir(parents=True)
    (kept / LOG).write_bytes((folder / LOG).read_bytes())
    (sweep / "experiment.json").write_text("{}")
    (sweep / "report.html").write_text(REPORT)
    page = await owner.get("/lab")
    assert "/lab/doses/reports/report.html" in page.text
    assert "/lab/doses~c0001-s1" in page.text
    assert "/lab/spun/reports/report.html" in (await owner.get("/lab/spun")).text
    assert (await owner.get("/lab/doses~c0001-s1?step=3")).status_code == 200
    for run in ("spun", "doses"):
        answer = await owner.get(f"/lab/{run}/reports/report.html")
        assert answer.text == REPORT
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in answer.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert "script-src" not in policy
        assert "sandbox" in policy
        assert "allow-scripts" not in policy["sandbox"]
        assert "allow-same-origin" not in policy["sandbox"]
    stranger = await site.stranger()
    assert (await stranger.get("/lab/spun/reports/report.html")).status_code == 401


async def test_nothing_but_reports_is_handed_out(site: Town, owner: Guest) -> None:
    """Logs, links and files of other folders are not handed out as reports."""
    folder = await played(site)
    (folder.parent / "other.html").write_text("elsewhere")
    (site.path / "data" / "secret.html").write_text("elsewhere")
    (folder / "secret.html").symlink_to(site.path / "data" / "secret.html")
    (folder / ".hidden.html").write_text("elsewhere")
    for file in (LOG, "..%2fother.html", "secret.html", ".hidden.html", "none.html"):
        answer = await owner.get(f"/lab/spun/reports/{file}")
        assert answer.status_code == 404, file
        assert "elsewhere" not in answer.text


async def test_pages_of_the_lab_are_plain_json_or_html(owner: Guest) -> None:
    """Errors come as a script asked for them: JSON to who wants JSON, a page to who reads."""
    answer = await owner.get("/lab/nothing/steps", headers=JSON)
    assert answer.status_code == 404
    assert "There is no run" in json.loads(answer.text)["error"]
    assert "There is no run" in words(await owner.get("/lab/nothing"))
