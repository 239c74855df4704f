"""How mates grew, in the browser: told to whoever may know it, changed by the owner alone."""

import re
from pathlib import Path

import httpx

from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.web.conftest import Guest, Town, words


def maya(site: Town) -> Path:
    """A mate's file on disk."""
    return site.path / "mates" / "maya.md"


def prints(answer: httpx.Response) -> str:
    """What a page of a merge was made of."""
    found = re.search(r'name="prints" value="([^"]*)"', answer.text)
    assert found
    return found[1]


async def line_of(site: Town, room: str, by: Guest, text: str) -> str:
    """Somebody says a line; its id."""
    await site.heard(room, by, text)
    events = await site.events(room)
    return next(e.id for e in events if isinstance(e.body, Heard) and str(e.body.text) == text)


async def test_a_reason_is_told_to_those_who_were_there(site: Town, owner: Guest) -> None:
    """Who sees the line behind a proposal reads it and why; others read that there is one."""
    bea = await site.guest("bea", by=owner)
    room = await site.room(bea, "Quiet", "maya")
    line = await line_of(site, room, bea, "please wait for my sister Tilda")
    await site.app.growth.traits.propose("maya", "calm", "high", "Tilda is slow.", [line])
    seen = words(await bea.get("/mates/maya/growth"))
    assert "Tilda is slow." in seen
    assert "please wait for my sister Tilda" in seen
    assert "The owner of this home decides." in seen
    hidden = words(await owner.get("/mates/maya/growth"))
    assert "Tilda" not in hidden
    assert "Its reason was told in a room that you are not in." in hidden
    await site.app.growth.traits.propose("maya", "zeal", "low", "Nobody said so.")
    assert "Nobody said so." in words(await owner.get("/mates/maya/growth"))
    assert "Nobody said so." not in words(await bea.get("/mates/maya/growth"))


async def test_the_owner_decides_and_takes_back(site: Town, owner: Guest) -> None:
    """A yes changes the file and stands in the story; undo takes it back; each is numbered."""
    before = maya(site).read_text()
    await owner.get("/mates/maya")
    await site.app.chronicle.look()
    id = await site.app.growth.traits.propose("maya", "calm", "very high", "I am quick.")
    path = "/mates/maya/growth"
    assert (await owner.post(f"{path}/trait", {"proposal": id, "answer": "hm"})).status_code == 400
    done = await owner.post(f"{path}/trait", {"proposal": id, "answer": "yes"})
    assert "It is so from now on." in words(done)
    assert site.app.roster.get("maya").traits["calm"] == "very high"
    told = words(await owner.get(path))
    assert "olu said yes to that. " in told
    assert "Its calm is very high since" in told
    assert "a trait was approved, by olu" in words(await owner.get("/mates/maya/history"))
    back = await owner.post(f"{path}/undo", {"number": "2"})
    assert "Taken back, as a new change" in words(back)
    assert "olu took back change 2." in words(back)
    assert maya(site).read_text() == before
    for beyond in ("99", "9" * 5000):
        again = await owner.post(f"{path}/undo", {"number": beyond})
        assert again.status_code in (400, 404)
    first = await owner.post(f"{path}/undo", {"number": "1"})
    assert first.status_code == 400
    assert "archive it instead" in words(first)


async def test_others_change_nothing(site: Town, owner: Guest) -> None:
    """For anybody but the owner, undo, fork, merge and decisions are not there."""
    bea = await site.guest("bea", by=owner)
    await site.app.chronicle.look()
    id = await site.app.growth.traits.propose("maya", "calm", "high", "so")
    path, before = "/mates/maya/growth", maya(site).read_text()
    for where, data in (
        ("undo", {"number": "1"}),
        ("trait", {"proposal": id, "answer": "yes"}),
        ("fork", {"name": "Maya Two"}),
        ("merge", {"other": "merlin", "prints": ""}),
    ):
        assert (await bea.post(f"{path}/{where}", data)).status_code == 404
    assert (await bea.get(f"{path}/merge?other=merlin")).status_code == 404
    page = await bea.get(path)
    assert "Take change" not in page.text
    assert "fork-name" not in page.text
    assert maya(site).read_text() == before
    assert len(await site.app.growth.traits.open()) == 1


async def test_two_of_one_and_one_of_two(site: Town, owner: Guest) -> None:
    """A fork runs beside its source; merging shows what is taken and asks about conflicts."""
    path = "/mates/maya/growth"
    made = await owner.post(f"{path}/fork", {"name": "Maya Two"})
    assert made.url.path == "/mates/maya-two"
    assert "made it, as a fork of @maya" in words(await owner.get("/mates/maya-two/growth"))
    taken = await owner.post(f"{path}/fork", {"name": "Maya"})
    assert taken.status_code == 400
    assert "There is a mate called Maya already" in words(taken)
    none = await owner.get(f"{path}/merge?other=maya-two")
    assert "nothing that @maya has not" in words(none)
    for name in ("maya", "maya-two"):
        file = maya(site).with_name(f"{name}.md")
        text = file.read_text().replace("\n---\n", f"\nvoice: like {name}\n---\n", 1)
        await site.app.chronicle.write(name, text)
    plan = await owner.get(f"{path}/merge?other=maya-two")
    assert "As @maya-two has it: like maya-two" in words(plan)
    form = {"other": "maya-two", "prints": prints(plan)}
    undecided = await owner.post(f"{path}/merge", form)
    assert undecided.status_code == 400
    assert "To be decided first" in words(undecided)
    stale = await owner.post(f"{path}/merge", {**form, "prints": "x y", "take-voice": "b"})
    assert stale.status_code == 400
    assert "changed meanwhile" in words(stale)
    done = await owner.post(f"{path}/merge", {**form, "take-voice": "b"})
    assert "Merged. Undo takes it back." in words(done)
    assert site.app.roster.get("maya").voice == "like maya-two"
    assert "1 became as @maya-two was" in words(done)
    for other, said in (("maya", "with itself"), ("nobody", "There is no mate")):
        refused = await owner.get(f"{path}/merge?other={other}")
        assert refused.status_code == 400
        assert said in words(refused)


async def test_what_was_told_elsewhere_is_not_shown_in_a_merge(site: Town, owner: Guest) -> None:
    """The owner decides between two memories of a room that they are not in, unread; bea reads hers."""
    bea = await site.guest("bea", by=owner)
    room = await site.room(bea, "Quiet", "maya")
    line = await line_of(site, room, bea, "I moved")
    event = await site.app.ledger.event(line)
    await owner.post("/mates/maya/growth/fork", {"name": "Eve"})
    for mate, town in (("maya", "Riga"), ("eve", "Oslo")):
        item = MemoryKept(
            layer="fact",
            text=Words(f"Bea lives in {town}"),
            made_by="idle",
            evidence=(EvidenceLine(event.stream, event.seq, line),),
            subject=Words("home"),
            about=(bea.person,),
        )
        await site.app.memory.store.keep(mate, [item], actor="runtime")
    plan = await owner.get("/mates/maya/growth/merge?other=eve")
    told = words(plan)
    assert "told where you were not" in told
    assert "Riga" not in plan.text
    assert "Oslo" not in plan.text
    name = re.search(r'name="take-(memory[^"]+)"', plan.text)
    assert name
    form = {"other": "eve", "prints": prints(plan), f"take-{name[1]}": "b"}
    assert "Merged." in words(await owner.post("/mates/maya/growth/merge", form))
    held = [
        str(one.text) for one in await site.app.memory.store.items("maya") if one.state == "held"
    ]
    assert held == ["Bea lives in Oslo"]


async def test_a_core_memory_is_told_with_its_lines_to_who_was_there(
    site: Town, owner: Guest
) -> None:
    """Bea reads what Maya keeps of their talk and the line behind it; the owner that it keeps some."""
    bea = await site.guest("bea", by=owner)
    room = await site.room(bea, "Quiet", "maya")
    line = await line_of(site, room, bea, "my cat Zarquon is ill")
    event = await site.app.ledger.event(line)
    item = MemoryKept(
        layer="core",
        text=Words("I was gentle about Zarquon."),
        made_by="idle",
        evidence=(EvidenceLine(event.stream, event.seq, line),),
    )
    await site.app.memory.store.keep("maya", [item], actor="runtime")
    seen = words(await bea.get("/mates/maya/growth"))
    assert "It keeps since: “I was gentle about Zarquon.”" in seen
    assert "my cat Zarquon is ill" in seen
    hidden = await owner.get("/mates/maya/growth")
    assert "Zarquon" not in hidden.text
    assert "said where you were not" in words(hidden)
    await site.app.ledger.erase(ErasureRequest(events=(line,), exactly=True))
    assert "Zarquon" not in (await bea.get("/mates/maya/growth")).text
