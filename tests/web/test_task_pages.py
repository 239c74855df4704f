"""Tasks in the browser, without one: who sees them, what forms do, and what is refused in words."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.web.work import task_stream
from loopforge.web.work.task_access import TaskAccess, access_to
from loopforge.work.task_state import PREFIX, TaskState
from tests.held_clock import HeldClock
from tests.rooms.conftest import write_mates
from tests.rooms.oven import installed
from tests.web.conftest import Guest, Town, town, words
from tests.work.conftest import Workshop, in_order, says, uses
from tests.work.test_attempt_learning import looks_back, sentence
from tests.work.test_task_results import STEPS, TASK, git, project

__all__ = ["project"]
pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]
HELLO = (
    uses("work_write", "I write it.", path="hello.py", text="print(42)\n"),
    says("question", "Which number?"),
    says("done", "It prints 42: <<hello.py>>."),
)
BAKER = "---\nname: Otto\ntools: [oven]\n---\nYou are Otto.\n"
GIVEN = "Write a Python script hello.py that prints a number"


@pytest.fixture
async def works(place: Path) -> AsyncIterator[Town]:
    """A home whose mates write hello.py, and mend a repository after that."""
    home = place / "home"
    home.mkdir()
    async with town(home, in_order(*HELLO, *STEPS)) as made:
        yield made


async def rested(site: Town, id: str) -> TaskState:
    """The task, when nothing is left to be done without a person."""
    shop = Workshop(site.app, ScriptedModels())
    await shop.rest(id)
    return await shop.state(id)


async def given(site: Town, owner: Guest, text: str = GIVEN, **more: str) -> str:
    """A task that was given by the form; its id, when it rests."""
    answer = await owner.post("/work", {"task": text, **more})
    assert answer.status_code == 200, answer.text
    id = str(answer.url).rpartition("/")[2]
    await rested(site, id)
    return id


def shown(state: TaskState, **more: str) -> dict[str, str]:
    """What a form carries that stood under this state."""
    commit = state.offered.commit if state.offered else ""
    return {"stage": state.stage, "turn": str(state.turns), "commit": commit, **more}


async def test_a_task_is_given_answered_and_taken(works: Town) -> None:
    """The list says how to begin; the page has its turns; an answer, a yes and a file go through."""
    owner = await works.owner()
    empty = words(await owner.get("/work"))
    assert "No task yet" in empty
    assert "Say below what is to be done" in empty
    assert "Does confidence" not in empty
    wrong = await owner.post("/work", {"task": GIVEN, "budget": "much"})
    assert (wrong.status_code, GIVEN in words(wrong)) == (400, True)
    assert "A budget is a number of US dollars" in words(wrong)
    assert (await owner.post("/work", {"task": " "})).status_code == 400
    assert "No repository" in words(await owner.post("/work", {"task": "x", "repo": "none"}))
    id = await given(works, owner, budget="0.50")
    at = f"/work/{id}"
    page = words(await owner.get(at))
    for told in ("waits for an answer", "Which number?", "Turn 1", "I write it.", "at most $0.5"):
        assert told in page
    assert "+print(42)" in page
    assert "Approve" not in page
    assert "The task goes on with that." in words(await owner.post(at, {"act": "say", "text": "7"}))
    state = await rested(works, id)
    assert state.stage == "finished"
    page = words(await owner.get(at))
    assert "It prints 42: hello.py." in page
    assert re.search(r"At work [1-9]\d* seconds?, [1-9][\d,]* tokens Model", page)
    assert "$0, at most $0.5" in page  # a model that costs nothing is none without a price
    assert "no price" not in page
    assert "olu: 7" in page
    file = await owner.get(f"{at}/files/hello.py")
    assert file.content == b"print(42)\n"
    assert file.headers["content-disposition"].startswith("attachment")
    assert (await owner.get(f"{at}/files/../../data/loopforge.db")).status_code in (400, 404)
    assert (await owner.get(f"{at}/files/none.py")).status_code == 404
    late = await owner.post(at, shown(state, act="approve") | {"turn": "1"})
    assert (late.status_code, "It has gone on since" in words(late)) == (400, True)
    assert "Approved." in words(await owner.post(at, shown(state, act="approve")))
    for act in ("say", "resume", "reject"):
        refused = await owner.post(at, shown(state, act=act, text="more"))
        assert refused.status_code == 400, act
    listed = words(await owner.get("/work"))
    assert "approved · python-coder" in listed
    assert "Brier score" in listed
    assert "With which models should a task begin?" in listed
    assert "coding too little is known tier 2: 1 of 1 ($0.0000 in all) $0.0000" in listed
    assert GIVEN in words(await owner.get("/work?which=over"))
    assert "None of them stands so." in words(await owner.get("/work?which=stopped"))


async def test_stop_resume_thumbs_and_what_comes_too_late(works: Town) -> None:
    """Each says what it did; what is no more to be done is refused in a sentence."""
    owner = await works.owner()
    id = await given(works, owner)
    at = f"/work/{id}"
    assert "Its confidence is" in words(await owner.post(at, {"act": "up"}))
    assert "Stopped. “Go on” goes on" in words(await owner.post(at, {"act": "stop"}))
    await rested(works, id)
    page = await owner.get(at)
    assert "What was done and what was not" in words(page)
    assert ">Go on</button>" in page.text
    assert "It is stopped already." in words(await owner.post(at, {"act": "stop"}))
    assert "It goes on." in words(await owner.post(at, {"act": "resume", "budget": "0.25"}))
    assert (await rested(works, id)).stage == "finished"
    assert "Nothing of this task waits" in words(await owner.post(at, {"act": "allow"}))
    gone = await owner.post(at, {"act": "allow", "use": "0" * 32})
    assert "Nothing of this task waits" in words(gone)
    assert (await owner.post(at, {"act": "dance"})).status_code == 400
    unsigned = await owner.http.post(at, data={"act": "stop"})
    assert unsigned.status_code == 403


async def test_a_look_back_is_stopped_from_its_page(place: Path) -> None:
    """While a finished or rejected task looks back its page says so and offers to stop that alone."""
    home, work = place / "home", in_order(says("done", "Done."))
    home.mkdir()
    back = ScriptedAnswer(data={"insight": sentence("So.", 1)}, wait=300)
    models = ScriptedModels(
        lambda asked: back if looks_back(asked) else work(asked), clock=HeldClock()
    )
    async with town(home, models=models) as site:
        owner, shop = await site.owner(), Workshop(site.app, models)
        answer = await owner.post("/work", {"task": "Fix app.py in Python"})
        id = str(answer.url).rpartition("/")[2]
        for turn, stage in ((2, "finished"), (3, "rejected")):
            await shop.until(id, "turn.asked", turn)
            page = await owner.get(f"/work/{id}")
            assert "it looks back on what it did" in words(page), stage
            assert "Stop looking back" in words(page), stage
            told = words(await owner.post(f"/work/{id}", {"act": "stop"}))
            assert f"It is {stage} already. Looking back on it was broken off." in told
            page = await rested_page(site, owner, id)
            assert "looking back</button>" not in page.text
            assert "it looks back" not in words(page)
            if stage == "finished":
                await owner.post(f"/work/{id}", shown(await shop.state(id), act="reject"))


async def rested_page(site: Town, owner: Guest, id: str) -> httpx.Response:
    """A task's page when nothing is left to be done without a person."""
    await rested(site, id)
    return await owner.get(f"/work/{id}")


async def test_a_commit_is_merged_as_it_was_shown(works: Town, project: Path) -> None:
    """The form carries the commit; another is refused; a yes merges it, undo takes it back."""
    owner = await works.owner()
    await given(works, owner)
    await works.app.work.tasks.places.repositories.registered.register(project)
    assert "project (main)" in words(await owner.get("/work"))
    await works.app.work.watch.begin("project", owner.person, "every day at 9:00", 0.5)
    assert "09:00 , $0.5 a task" in words(await owner.get("/work"))
    await works.app.work.watch.end("project", owner.person)
    assert "Watched" not in words(await owner.get("/work"))
    first = (await works.app.work.store.streams())[0]
    await works.app.work.tasks.say(first.removeprefix(PREFIX), owner.person, "seven")
    await rested(works, first.removeprefix(PREFIX))
    id = await given(works, owner, TASK, repo="project")
    at, state = f"/work/{id}", await works.app.work.store.state(PREFIX + id)
    assert state.offered is not None
    page = await owner.get(at)
    assert f"Approve {state.offered.commit[:12]}" in words(page)
    assert "+ return 2" in words(page)
    other = await owner.post(at, shown(state, act="approve") | {"commit": "0" * 40})
    assert (other.status_code, "It has gone on since" in words(other)) == (400, True)
    assert "return 3" in (project / "app.py").read_text()
    ben = await works.guest("ben", by=owner)
    assert (await ben.post(at, shown(state, act="approve"))).status_code == 404
    assert "Merged as" in words(await owner.post(at, shown(state, act="approve")))
    assert "return 2" in (project / "app.py").read_text()
    back = await owner.post(at, shown(state, act="undo"))
    assert "taken back" in words(back)
    assert len(git(project, "log", "--oneline").splitlines()) == 3


async def test_what_to_look_at_twice_stands_above_the_diff(
    works: Town, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that the diff is longer than what is shown of it."""
    monkeypatch.setattr("loopforge.work.git.merge_proposals.MOST_SHOWN", 100)
    owner = await works.owner()
    first = await given(works, owner)
    await works.app.work.tasks.places.repositories.registered.register(project)
    await works.app.work.tasks.say(first, owner.person, "seven")
    await rested(works, first)
    id = await given(works, owner, TASK, repo="project")
    page = words(await owner.get(f"/work/{id}"))
    assert "Look twice: Only the first 100 characters of the diff are shown" in page


async def test_whose_a_task_is_sees_it(works: Town) -> None:
    """A task of no room: who gave it and the owner; of a room: who was in it; others find nothing."""
    owner = await works.owner()
    room = await works.room(owner, "Kitchen", "maya")
    ben, eve = await works.guest("ben", room, by=owner), await works.guest("eve", by=owner)
    assert "Here stand the tasks that you gave" in words(await ben.get("/work"))
    refused = await ben.post("/work", {"task": GIVEN})
    assert (refused.status_code, "Only the owner of this home" in words(refused)) == (400, True)
    tasks = works.app.work.tasks
    mine = await given(works, owner)
    theirs = await tasks.open(GIVEN, owner.person, thread=f"room:{room}", surface="web")
    await rested(works, theirs)
    for guest, task, status in (
        (ben, mine, 404),
        (eve, mine, 404),
        (ben, theirs, 200),
        (eve, theirs, 404),
        (owner, theirs, 200),
    ):
        for more in ("", "/files/hello.py", f"/why/{task}"):
            answer = await guest.get(f"/work/{task}{more}")
            assert answer.status_code == status or (more and status == 200), (guest.name, more)
    assert "Kitchen" in words(await ben.get("/work"))
    late = await works.guest("zoe", room, by=owner)
    assert (await late.get(f"/work/{theirs}")).status_code == 404
    assert GIVEN not in words(await late.get("/work"))
    await ben.post(f"/rooms/{room}/leave")
    assert (await ben.get(f"/work/{theirs}")).status_code == 404


async def test_what_somebody_may_in_the_room_they_may_do_to_its_task(works: Town) -> None:
    """Forms that are not theirs do not stand there, and are refused in a sentence all the same."""
    owner = await works.owner()
    room = await works.room(owner, "Kitchen", "maya")
    ben = await works.guest("ben", room, by=owner)
    tasks = works.app.work.tasks
    id = await tasks.open(GIVEN, owner.person, thread=f"room:{room}", surface="web")
    at, state = f"/work/{id}", await rested(works, id)
    shown_to_ben = (await ben.get(at)).text
    assert ">Stop</button>" in shown_to_ben
    for form in ("Your answer", ">Reject<", ">Thumb up<"):
        assert form not in shown_to_ben
    assert ">Reject<" in (await owner.get(at)).text
    assert "Thumbs count of whoever gave" in words(await ben.post(at, {"act": "up"}))
    settings = f"/rooms/{room}/settings"
    await owner.post(settings, {"act": "rights", "who": ben.person, "right": ["talk"]})
    assert ">Stop</button>" not in (await ben.get(at)).text
    for act, why in (
        ("stop", "You may not stop mates in the room"),
        ("say", "You may not have tools used in the room"),
        ("resume", "who may change its room"),
        ("reject", "who may change its room"),
    ):
        refused = await ben.post(at, shown(state, act=act, text="42"))
        assert (refused.status_code, why in words(refused)) == (400, True), act
    assert (await rested(works, id)).stage == "waiting"


async def test_why_of_a_turn_tells_of_the_task_alone(works: Town) -> None:
    """What it was shown, asked and used; nothing is said of a room; other turns are not found."""
    owner = await works.owner()
    id = await given(works, owner)
    turn = (await works.app.work.store.state(PREFIX + id)).progress[0].turn
    page = words(await owner.get(f"/work/{id}/why/{turn}"))
    assert "Why? Turn 1" in page
    assert "The tool work_write" in page
    assert "looked at the task" in page
    assert "the room" not in page
    told = json.loads((await owner.get(f"/work/{id}/why/{turn}?format=json")).text)
    assert told["turn"] == turn
    room = await works.room(owner, "Kitchen", "maya")
    await owner.says(room, "@maya hello")
    await works.rest(room)
    said = next(one for one in await works.events(room) if one.kind == "room.said")
    assert (await owner.get(f"/work/{id}/why/{said.id}")).status_code == 404


async def test_a_line_of_a_task_leads_to_its_page_and_record(works: Town) -> None:
    """Why? of a line of a turn is that turn's record, of any other what happened and by whom."""
    owner = await works.owner()
    room = await works.room(owner, "Kitchen", "maya")
    tasks, posts = works.app.work.tasks, works.app.work.posts
    id = await tasks.open(GIVEN, owner.person, mate="maya", thread=f"room:{room}", surface="web")
    await rested(works, id)
    assert posts is not None
    await posts.settled()
    started, question = [one for one in await works.events(room) if one.kind == "room.said"]
    lines = (await owner.get(f"/rooms/{room}")).text
    assert f'href="/rooms/{room}/source/{started.id}">Task</a>' in lines
    leads = await owner.get(f"/rooms/{room}/source/{started.id}")
    assert leads.url.path == f"/work/{id}"
    for line, told in ((started, "Taken as coding"), (question, "Which number?")):
        leads = await owner.get(f"/rooms/{room}/why/{line.id}")
        assert leads.url.path == f"/work/{id}/why/{line.cause}"
        assert told in words(leads)
    assert (await owner.get(f"/work/{id}/why/{started.id}")).status_code == 404


async def test_nothing_of_a_forgotten_task_is_shown(works: Town) -> None:
    """Its page and the list tell that it was, without a word of it; its files are not given out."""
    owner = await works.owner()
    id = await given(works, owner)
    turn = (await works.app.work.store.state(PREFIX + id)).progress[0].turn
    await works.app.ledger.erase(ErasureRequest(stream=PREFIX + id))
    await works.app.work.forgetting.sweep()
    for path in ("/work", f"/work/{id}", f"/work/{id}/why/{turn}"):
        page = words(await owner.get(path))
        assert "forgotten" in page, path
        for said in (GIVEN, "I write it.", "print(42)", "Which number?"):
            assert said not in page, path
    assert (await owner.get(f"/work/{id}/files/hello.py")).status_code == 404


async def test_the_stream_tells_how_far_it_is(works: Town) -> None:
    """It says that something happened, not what; without the right there is none."""
    owner = await works.owner()
    id = await given(works, owner)
    seq = (await works.app.work.store.state(PREFIX + id)).seq
    ben = await works.guest("ben", by=owner)
    assert (await ben.get(f"/work/{id}/stream")).status_code == 404
    async with owner.http.stream("GET", f"/work/{id}/stream?after={seq}") as stream:
        rows = stream.aiter_lines()
        async for row in rows:
            if row.startswith("event: hello"):
                break
        await owner.post(f"/work/{id}", {"act": "up"})
        async for row in rows:
            if row.startswith("data: ") and "boot" not in row:
                assert json.loads(row.removeprefix("data: ")) == {"seq": seq + 1}
                break


async def test_an_open_page_holds_up_no_end(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The stream of a task that rests ends as the home does, and is not cut off by force."""
    home = place / "home"
    home.mkdir()
    async with AsyncExitStack() as open:
        async with town(home, in_order(*HELLO)) as site:
            owner = await site.owner()
            id = await given(site, owner)
            http = await open.enter_async_context(httpx.AsyncClient(cookies=owner.http.cookies))
            at = f"{site.address}/work/{id}/stream?after=0"
            stream = await open.enter_async_context(http.stream("GET", at))
            rows = stream.aiter_lines()
            while not (await anext(rows)).startswith("event: changed"):
                pass
        assert [row async for row in rows if row.startswith("event: ")] == []
    assert "cancelled" not in caplog.text


async def test_a_page_of_a_task_costs_little(works: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its right was looked up each second: of five guests' open pages the home did nothing else."""
    looks = 0

    async def counted(*asked: Any) -> TaskAccess | None:
        nonlocal looks
        looks += 1
        return await access_to(*asked)

    monkeypatch.setattr(task_stream, "access_to", counted)
    owner = await works.owner()
    id = await given(works, owner)
    seq = (await works.app.work.store.state(PREFIX + id)).seq
    async with owner.http.stream("GET", f"/work/{id}/stream?after={seq}") as stream:
        rows = stream.aiter_lines()  # let go of, it would close the stream
        while not (await anext(rows)).startswith("event: hello"):
            pass
        for _ in range(2):  # what happens to it asks for no look more
            await works.app.work.tasks.rate(id, owner.person, up=True)
            while not (await anext(rows)).startswith("event: changed"):
                pass
        now = asyncio.get_running_loop().time
        until = now() + 3  # it is looked up again after five
        while now() < until:
            await asyncio.sleep(0.1)
    assert looks == 1


async def test_a_tool_that_asks_is_allowed_as_it_was_shown(place: Path, tmp_path: Path) -> None:
    """Its arguments stand there; a yes to another use is none; a no is told to the mate."""
    home = place / "home"
    home.mkdir()
    write_mates(home, otto=BAKER)
    first = uses("oven", degrees=180, note="bread\u200b")
    script = in_order(first, uses("oven", degrees=400), says("done", "Baked."))
    with installed(asks=True, owner=True) as oven:
        async with town(home, script) as site:
            owner = await site.owner()
            room = await site.room(owner, "Bakery", "otto")
            ben = await site.guest("ben", room, by=owner)
            text = "Write a Python script that bakes, and run it"
            id = await site.app.work.tasks.open(
                text, owner.person, mate="otto", thread=f"room:{room}", surface="web"
            )
            at, state = f"/work/{id}", await asked(site, id)
            shown = await owner.get(at)
            assert "It asks before it uses oven" in words(shown)
            assert r"{&#34;degrees&#34;:180,&#34;note&#34;:&#34;bread\u200b&#34;}" in shown.text
            assert "waits for a yes" in words(await owner.get("/work?which=waiting"))
            told = words(await ben.get(at))
            assert "The owner of this home says yes or no to that." in told
            use = next(iter(state.allowing))
            refused = await ben.post(at, {"act": "allow", "use": use})
            assert "no guest of this home may" in words(refused)
            no = {"act": "deny", "use": use, "reason": "too warm"}
            assert "oven does not run" in words(await owner.post(at, no))
            second = next(iter((await asked(site, id)).allowing))
            late = await owner.post(at, {"act": "allow", "use": use})
            assert (late.status_code, "somebody said no to it" in words(late)) == (400, True)
            assert oven.baked == []
            assert "oven runs" in words(await owner.post(at, {"act": "allow", "use": second}))
            await owner.post(at, {"act": "stop"})
            await rested(site, id)
            page = words(await owner.get(at))
            assert "A person said no to it: too warm" in page


async def asked(site: Town, id: str) -> TaskState:
    """The task, when it waits for a yes."""
    ear = site.app.work.store.listen(PREFIX + id)
    while not (state := await site.app.work.store.state(PREFIX + id)).allowing:
        await ear.__anext__()
    ear.close()
    await site.app.lanes.settled(PREFIX + id)
    return state
