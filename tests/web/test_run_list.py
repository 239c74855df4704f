"""The list of runs: any of many is found, named anew, set beside another, and deleted."""

import asyncio
import os
import shutil
from fcntl import LOCK_EX, flock
from pathlib import Path

from loopforge.core.factory_vocabulary import RunDeleted
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.run.run_log import LOG, head_of
from loopforge.lab.sweeps.sweep_results import lock_folder
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from tests.held_clock import HeldClock
from tests.web.conftest import Guest, Town, town, words
from tests.web.labs import forked, played, runs_of, until


async def test_any_of_many_runs_is_found(site: Town, owner: Guest) -> None:
    """By words of its name, also the oldest of more than five hundred; pages of what was found go on so."""
    whole = await played(site)
    for nth in range(510):
        copy = whole.with_name(f"copy-{nth}")
        copy.mkdir()
        (copy / "actions.jsonl").hardlink_to(whole / "actions.jsonl")
    oldest = whole.with_name("the-oldest-one")
    shutil.copytree(whole, oldest)
    os.utime(oldest / "actions.jsonl", (1, 1))
    page = words(await owner.get("/lab"))
    assert "Find runs by name" in page
    assert "the-oldest-one" not in page
    found = words(await owner.get("/lab?find=ONE+oldest"))
    assert "the-oldest-one" in found
    assert "copy-" not in found
    assert "No run has a name with nobody in it." in words(await owner.get("/lab?find=nobody"))
    some = (await owner.get("/lab?find=copy")).text
    assert "/lab?older=40&amp;find=copy" in some
    assert 'href="/lab?older=40"' in (await owner.get("/lab")).text
    beside = (await owner.get("/lab/spun/against")).text
    assert "/lab?older=40&amp;beside=spun" in beside
    beside = (await owner.get("/lab?beside=spun&find=oldest")).text
    assert 'href="/lab/spun/against/the-oldest-one"' in beside
    fork = await forked(oldest, "late", 3, pressure="9")
    os.utime(fork / "actions.jsonl", (2, 2))
    assert 'href="/lab/late/against/' in (await owner.get("/lab/late")).text


async def test_a_run_is_called_as_somebody_says(site: Town, owner: Guest) -> None:
    """The owner names it anew and takes that back; its address stays, and it is found by both."""
    await played(site)
    await owner.post("/lab/spun/title", {"title": " The  base line "})
    for path in ("/lab", "/lab/spun", "/lab?find=base+spun"):
        assert "The base line" in words(await owner.get(path))
    refused = await owner.post("/lab/spun/title", {"title": "x" * 81})
    assert (refused.status_code, "at most 80" in words(refused)) == (400, True)
    await owner.post("/lab/spun/title", {"title": ""})
    assert "The base line" not in words(await owner.get("/lab"))
    eve = await site.guest("eve", by=owner)
    for path in ("/lab/spun/title", "/lab/~/delete"):
        assert (await eve.post(path, {"run": "spun"})).status_code in (403, 404)
    assert "Rename" not in words(await eve.get("/lab/spun"))


async def test_a_run_is_deleted_and_what_cites_it_says_so(site: Town, owner: Guest) -> None:
    """Who deletes is told first what goes; its name is not given again, and the ledger knows of it."""
    whole = await played(site, "spun-5")
    (whole / "report.html").write_text("<p>told</p>")
    head = head_of(whole)
    await forked(whole, "fork", 3, pressure="9")
    await played(site, "other", seed=8)
    asked = words(await owner.get("/lab/~/delete?run=spun-5&run=other&run=none"))
    assert "Delete 2 runs?" in asked
    assert "actions.jsonl, report.html," in asked
    assert "There is no run 'none' here." in asked
    assert whole.joinpath("report.html").exists()
    with (whole / LOG).open("rb") as written:
        flock(written, LOCK_EX)
        for answer in (
            await owner.get("/lab/~/delete?run=spun-5"),
            await owner.post("/lab/~/delete", {"run": ["other", "spun-5"]}),
        ):
            assert "spun-5 is being played, or will be; stop it first." in words(answer)
    assert not (runs_of(site) / "other" / LOG).exists()
    assert "It is deleted." in words(await owner.post("/lab/~/delete", {"run": "spun-5"}))
    assert [each.name for each in whole.iterdir()] == ["label.json"]
    assert "spun-5" not in words(await owner.get("/lab"))
    for path in ("/lab/spun-5", "/lab/fork/against/spun-5", "/lab/spun-5/why/3"):
        answer = await owner.get(path)
        assert answer.status_code == 404
        assert "spun-5 was deleted on " in words(answer)
    for path in ("/lab/fork", "/lab/fork/fork"):
        assert "spun-5 was deleted on " in words(await owner.get(path))
    event = (await site.app.ledger.read("lab:spun-5"))[-1]
    assert (event.body, event.actor) == (RunDeleted(head), f"person:{owner.person}")
    assert RunArchive(runs_of(site)).free("spun 5") == "spun-5-2"


async def test_what_is_played_or_kept_by_a_sweep_is_not_deleted(tmp_path: Path) -> None:
    """It is to be stopped first, and a sweep says what its runs came to."""
    pace = HeldClock()
    slow = ScriptedAnswer(data={"mode": "context", "intent": "inspect"}, wait=1)
    async with town(tmp_path, models=ScriptedModels(lambda _: slow, clock=pace)) as site:
        owner = await site.owner()
        form = {"scenario": "first_shift", "policy": "llm", "days": "1", "steps": "1", "seed": "5"}
        await owner.post("/lab", form)
        await owner.post("/lab", form)
        async with asyncio.timeout(60):
            while not (runs_of(site) / "first_shift-llm-5" / LOG).exists():
                await asyncio.sleep(0.02)
        for name in ("first_shift-llm-5", "first_shift-llm-5-2"):
            asked = words(await owner.get(f"/lab/~/delete?run={name}"))
            assert f"{name} is being played, or will be; stop it first." in asked
            assert "Delete it" not in asked
        pace.let_go()
        await until(owner, "first_shift-llm-5-2", "finished")
        kept = site.path / "data" / "sweeps" / "many" / "runs"
        shutil.copytree(runs_of(site) / "first_shift-llm-5", kept / "one")
        for answer in (
            await owner.get("/lab/~/delete?run=many~one"),
            await owner.post("/lab/~/delete", {"run": "many~one"}),
        ):
            assert "many~one is one of the runs of a sweep" in words(answer)
        assert "Delete …" not in words(await owner.get("/lab/many~one"))
        assert (kept / "one" / LOG).exists()


async def test_a_sweep_is_renamed_and_deleted(site: Town, owner: Guest) -> None:
    """By the owner, in the list of sweeps: what goes is told first, with what its runs kept."""
    folder = site.path / "data" / "sweeps" / "many"
    shutil.copytree(await played(site), folder / "runs" / "one")
    (folder / "experiment.json").write_text("{}")
    await owner.post("/lab/many/title", {"title": "Many shifts"})
    page = await owner.get("/lab")
    assert 'aria-label="Tick Many shifts, to delete it"' in page.text
    assert "Many shifts · many" in words(page)
    eve = await site.guest("eve", by=owner)
    assert "Tick Many shifts" not in (await eve.get("/lab")).text
    with lock_folder(folder):
        assert "many is being played, or will be" in words(
            await owner.get("/lab/~/delete?run=many")
        )
    asked = words(await owner.get("/lab/~/delete?run=many&run=spun"))
    assert "Delete 2 of these?" in asked
    assert "Many shifts (many), sweep : experiment.json, runs," in asked
    assert "It is deleted." in words(await owner.post("/lab/~/delete", {"run": "many"}))
    assert [each.name for each in folder.iterdir()] == ["label.json"]
    assert "Many shifts" not in words(await owner.get("/lab"))
    event = (await site.app.ledger.read("lab:many"))[-1]
    assert (event.body, event.actor) == (RunDeleted(""), f"person:{owner.person}")
