"""Tasks in rooms: given by a line or a command, watched, steered, stopped, and what comes of them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.app import open_aside
from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.service.memory_visibility import usable_spans
from loopforge.chat.turns import progress_lines
from loopforge.chat.turns.progress_lines import ProgressLines
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    Heard,
    LineEdited,
    PersonReacted,
    Reacted,
    Right,
    RightsSet,
    Said,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import Clock, Question, RoomLine, Tool, ToolCall
from loopforge.work.task_store import TaskStore
from loopforge.work.threads.thread_routing import ThreadRouting
from tests import postgres
from tests.rooms.conftest import write_mates
from tests.work.conftest import Script, Step, Workshop, in_order, says, uses, working
from tests.work.test_task_forgetting import holding
from tests.work.test_task_results import STEPS, TASK, project

__all__ = ["project"]

ROOM = "room:commons"
OTTO = """---
name: Otto
role: engineer
tools: [work_list, work_read, work_write, work_run]
---
You are Otto. You build things.
"""
FULL: tuple[Right, ...] = ("talk", "stop", "change", "tools")
SOON = {"LOOPFORGE_DEBOUNCE_SECONDS": "0", "LOOPFORGE_MEMORY_KEEP": "asked"}


class Commons:
    """A room with Maya, who talks, and Otto, who works; and Ana in it."""

    def __init__(self, shop: Workshop, ana: str) -> None:
        self.shop, self.app, self.ana = shop, shop.app, ana

    async def says(self, text: str, **more: Any) -> Event:
        """Ana says it; nobody has answered yet."""
        more = {"surface": "terminal", "owner": True, **more}
        line = Heard(person=self.ana, text=Words(text), **more)
        return await self.app.front.rooms.hear("commons", line)

    async def hears(self, text: str, **more: Any) -> Event:
        """Ana says it, and nothing is left to be done about it without a person."""
        line = await self.says(text, **more)
        await self.rest()
        return line

    async def gives(self, text: str, until: str, **more: Any) -> str:
        """Ana gives work; its id, once an event of this kind happened and all of it is told."""
        await self.says(text, **more)
        await self.app.front.rooms.settled("commons")
        (task,) = await self.tasks()
        await self.shop.until(task, until)
        assert self.app.work.posts is not None
        await self.app.work.posts.settled()
        return task

    async def does(self, command: str, argument: str = "", person: str = "", **more: Any) -> str:
        """Ana, or somebody else, uses a command."""
        fields = {"person": person or self.ana, "owner": not person, **more}
        asked = CommandRequest(room="commons", argument=argument, **fields)
        told = await self.app.front.commands.carry_out(command, asked)
        await self.rest()
        return told

    def holding(self, word: bytes) -> list[object]:
        """The files of the home, and tables elsewhere, that hold a word."""
        url = self.app.settings.database_url
        tables = postgres.holding(url, [word]) if url.startswith("postgres") else []
        return [*holding(self.app.settings.home, word), *tables]

    async def tasks(self) -> list[str]:
        """The ids of the room's tasks."""
        return [state.id for state in await self.shop.tasks.store.of_thread(ROOM)]

    async def rest(self) -> None:
        """Wait until nothing is left to be done here without a person, and all of it is told."""
        while True:
            before = await self.app.ledger.heads()
            await self.app.front.rooms.settled("commons")
            for id in await self.tasks():
                await self.shop.rest(id)
            assert self.app.work.posts is not None
            await self.app.work.posts.settled()
            if await self.app.ledger.heads() == before:
                return

    async def said(self) -> list[str]:
        """What mates said, each line as it stands now."""
        lines = dict[str, str]()
        for event in await self.app.ledger.read(ROOM):
            match event.body:
                case Said(mate=mate, text=text):
                    lines[event.id] = f"{mate}: {text}"
                case LineEdited(line=line, text=text):
                    lines[line] = f"{lines[line].partition(':')[0]}: {text}"
                case _:
                    pass
        return [*lines.values()]

    async def bodies(self, kind: type[Any]) -> list[Any]:
        """All that happened in the room of one kind."""
        return [e.body for e in await self.app.ledger.read(ROOM) if isinstance(e.body, kind)]

    async def line_of(self, words: str) -> str:
        """The id of the line of a mate that held these words when it was said."""
        for event in await self.app.ledger.read(ROOM, kinds=["room.said"]):
            if isinstance(event.body, Said) and words in str(event.body.text):
                return event.id
        raise AssertionError(words)


@asynccontextmanager
async def commons(
    home: Path, script: Script, environ: Mapping[str, str] = {}, pace: Clock | None = None
) -> AsyncIterator[Commons]:
    """A home that runs until the block ends."""
    if not (home / "mates").exists():
        write_mates(home, ("maya",), otto=OTTO)
    async with working(home, script, {**SOON, **environ}, pace) as shop:
        scene = await shop.app.front.rooms.enter("commons", "Ana", "terminal")
        yield Commons(shop, scene.you)


async def test_a_line_of_clear_work_becomes_a_task_of_its_room(place: Path) -> None:
    """The mate says that it starts and why; one message tells how it goes; then its result."""
    script = in_order(
        uses("work_write", path="hello.py", text="print(6 * 7)\n"),
        uses("work_run", command="python3 hello.py"),
        says("done", "It prints 42: <<hello.py>>", evidence="It printed 42."),
    )
    async with commons(place, script) as room:
        await room.hears("Otto, write a Python script hello.py that prints 42, and run it")
        (task,) = await room.tasks()
        state = await room.shop.state(task)
        assert (state.stage, state.thread, state.task.mate) == ("finished", ROOM, "otto")
        assert str(state.task.text) == "write a Python script hello.py that prints 42, and run it"
        first, last = await room.said()
        assert first.startswith("otto: Starting work. Taken as coding, MEDIUM, by sequential")
        assert '"Python"' in first
        assert "[turn 3 of 20, confidence" in first
        assert "0 read, 1 written" in first
        assert last == "otto: It prints 42: hello.py"
        (*_, result) = await room.bodies(Said)
        (file,) = result.files
        assert str(file.name) == "hello.py"
        assert await room.app.artifacts.get(str(file.hash)) == b"print(6 * 7)\n"
        assert not await room.bodies(Told)
        assert "6 * 7" in await room.app.front.why(await room.line_of("It prints"))
        assert (await room.app.ledger.verify()).sound


async def test_talk_and_mates_of_talk_are_as_ever(place: Path) -> None:
    """A mate without tools of work answers what is work; one with them answers what is talk."""
    async with commons(place, in_order()) as room:
        await room.hears("Maya, write a Python script hello.py that prints 42")
        await room.hears("Otto, how are you?")
        assert await room.tasks() == []
        assert [one.mate for one in await room.bodies(Said)] == ["maya", "otto"]


async def test_a_line_steers_a_task_and_answers_its_question(place: Path) -> None:
    """Each is seen by the mate, shown so by a sign, and answered by no turn of the room."""
    shown: list[str] = []
    waiting = "while [ ! -e go ]; do sleep 0.1; done"
    left = [
        uses("work_run", command=waiting),
        says("question", "Which port?"),
        says("done", "On 80."),
    ]

    def script(asked: Question) -> Step:
        if asked.schema is None or "state" not in asked.schema.get("properties", {}):
            return "So."
        shown.append(str(asked.messages))
        return left.pop(0)

    async with commons(place, script) as room:
        await room.says("otto, write a Python server in serve.py")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        await room.shop.until(task, "effect.running")
        steering = await room.says("use tabs")
        await room.app.front.rooms.settled("commons")
        room.shop.file(task, "go").touch()
        await room.rest()
        assert [text.count("use tabs") for text in shown] == [0, 1]
        assert (await room.said())[-1].startswith("otto: Which port?\n\nI wait for an answer")
        answer = await room.hears("80")
        assert (await room.said())[-1] == "otto: On 80."
        assert "80" in shown[2]
        signs = [(one.mate, one.to, one.emoji) for one in await room.bodies(Reacted)]
        assert signs == [("otto", steering.id, "👀"), ("otto", answer.id, "👀")]
        assert len(await room.tasks()) == 1
        assert len(await room.bodies(Said)) == 3
        await room.hears("thanks, otto!")
        assert "otto" in [one.mate for one in (await room.bodies(Said))[3:]]  # as ever
        assert (await room.shop.state(task)).stage == "finished"


async def test_who_names_another_mate_or_may_nothing_steers_nothing(place: Path) -> None:
    """Their lines are for the room: the other mate answers."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears("otto, write a Python server in serve.py")
        await room.hears("Maya, what do you think?")
        (task,) = await room.tasks()
        assert (await room.shop.state(task)).stage == "waiting"
        assert [one.mate for one in await room.bodies(Said)] == ["otto", "otto", "maya"]
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        await room.app.front.rooms.add("commons", "", RightsSet(who=bo, rights=("talk",)))
        heard = Heard(person=bo, text=Words("otto, 90"), surface="terminal")
        await room.app.front.rooms.hear("commons", heard)
        await room.rest()
        assert (await room.shop.state(task)).stage == "waiting"
        given = Heard(person=bo, text=Words("write a Python script b.py, otto"), surface="web")
        await room.app.front.rooms.add("commons", "", RightsSet(who=bo, rights=FULL, tools=("*",)))
        await room.app.front.rooms.hear("commons", given)  # of a browser that is not the owner's
        await room.rest()
        assert await room.tasks() == [task]
        for name in ("work", "resume", "approve", "reject", "undo"):
            with pytest.raises(InputError):
                await room.does(name, "write a.py" if name == "work" else "", person=bo)


async def test_a_task_uses_what_all_who_spoke_in_it_may_have_used(place: Path) -> None:
    """Whoever may give work has no other tool of the mate's by that, nor by steering another's."""
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))
    asks = says("question", "Now?")
    steps = (
        uses("send"),
        says("done", "So."),
        uses("send"),
        asks,
        uses("send"),
        says("done", "So."),
    )
    sent: list[ToolCall] = []

    async def send(call: ToolCall) -> str:
        sent.append(call)
        return "sent"

    async with commons(place, in_order(*steps)) as room:
        room.app.tools.add(Tool(name="send", summary="Sends."), send)
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        grant = RightsSet(who=bo, rights=FULL, tools=("work_run",))
        await room.app.front.rooms.add("commons", "", grant)

        async def bo_says(text: str) -> None:
            heard = Heard(person=bo, text=Words(text), surface="terminal")
            await room.app.front.rooms.hear("commons", heard)
            await room.rest()

        await bo_says("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        (use,) = (await room.shop.state(task)).uses
        assert (use.outcome, sent) == ("refused", [])
        await room.hears("otto, write a Python server in again.py")
        _, second = await room.tasks()
        assert ((await room.shop.state(second)).stage, len(sent)) == ("waiting", 1)
        await bo_says("otto, yes, send it")
        state = await room.shop.state(second)
        assert (state.stage, len(sent)) == ("finished", 1)
        assert [one.outcome for one in state.uses] == ["returned", "refused"]


async def test_a_yes_in_a_task_is_for_whoever_may_have_that_tool_used(place: Path) -> None:
    """Who may change the room and give work says neither yes nor no to another tool."""
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))
    sent: list[ToolCall] = []

    async def send(call: ToolCall) -> str:
        sent.append(call)
        return "sent"

    async with commons(place, in_order(uses("send"), says("done", "So."))) as room:
        room.app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        grant = RightsSet(who=bo, rights=FULL, tools=("work_run",))
        await room.app.front.rooms.add("commons", "", grant)
        task = await room.gives("otto, write a Python server in serve.py", "turn.ended")
        question = await room.line_of("I want to use send")
        for command in ("approve", "deny"):
            with pytest.raises(NotLetIn, match="may not have send used"):
                await room.does(command, person=bo, reply_to=question, surface="terminal")
        assert (len((await room.shop.state(task)).allowing), sent) == (1, [])
        await room.does("approve", reply_to=question)
        assert len(sent) == 1


async def test_stop_in_the_room_halts_its_task(place: Path) -> None:
    """Said in words: what runs ends, a summary of the record follows; /resume goes on from there."""
    script = in_order(
        uses("work_write", path="a.txt", text="kept"),
        uses("work_run", command="sleep 300 & sleep 300"),
        says("done", "Enough."),
    )
    async with commons(place, script) as room:
        told = await room.app.front.commands.act(
            "commons", room.ana, "work", "otto: fix app.py in Python", owner=True
        )
        assert told == "Otto takes it up."
        (task,) = await room.tasks()
        await room.shop.until(task, "effect.running", 2)
        with pytest.raises(InputError, match="one thing at a time"):
            await room.app.front.commands.act(
                "commons", room.ana, "work", "fix b.py in Python", owner=True
            )
        await room.hears("stop")
        assert [one.why for one in await room.bodies(ConversationBegan)] == ["first"]
        state = await room.shop.state(task)
        assert state.stage == "stopped"
        assert [use.outcome for use in state.uses] == ["returned", "cancelled"]
        started, summary = await room.said()
        assert "[turn 1 of 20" in started
        assert "Files changed: a.txt" in summary
        assert "Cut off by the stop: work_run" in summary
        assert await room.does("resume") == "It goes on."
        assert (await room.said())[-2:] == ["otto: It goes on.", "otto: Enough."]
        assert await room.does("approve") == "Approved."
        with pytest.raises(InputError, match="Nothing waits for that here"):
            await room.does("approve")


async def test_a_correction_has_it_otherwise(place: Path) -> None:
    """Said as "no, just answer", it is the same task, done in one answer."""
    script = in_order(says("question", "Which port?"))
    async with commons(place, script) as room:
        await room.hears("otto, write a Python server in serve.py")
        await room.hears("no, just answer")
        (task,) = await room.tasks()
        state = await room.shop.state(task)
        assert state.classified is not None
        assert (state.stage, state.classified.flow) == ("finished", "simple")
        lines = await room.said()
        assert lines[0].startswith("otto: Starting work. Taken as coding, MEDIUM, by simple")
        assert lines[2].startswith("otto: Taken otherwise from now on")
        assert lines[3] == "otto: So it was."


async def test_files_come_in_and_signs_count(place: Path) -> None:
    """What was given with a line lies in the workspace; thumbs rate, and a sign on a line stops."""
    script = in_order(
        uses("work_run", command="cat in/numbers.csv"), says("question", "Add them up?")
    )
    async with commons(place, script) as room:
        limits = FileLimits(1_000_000, 1_000_000)
        file = await ingest_file(room.app.artifacts, "numbers.csv", b"1,2,39\n", limits)
        await room.hears("otto, write a Python script that reads this", files=(file,))
        (task,) = await room.tasks()
        state = await room.shop.state(task)
        assert "1,2,39" in state.uses[0].value
        line, before = await room.line_of("Starting work"), state.confidence
        for emoji, after in (("👍", before + 15), ("👎", before - 5)):
            body = PersonReacted(person=room.ana, to=line, emoji=emoji)
            await room.app.front.rooms.add("commons", room.ana, body)
            await room.rest()
            assert (await room.shop.state(task)).confidence == after
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        for person, stage in ((bo, "waiting"), (room.ana, "stopped")):
            body = PersonReacted(person=person, to=line, emoji="🛑")
            await room.app.front.rooms.add("commons", person, body)
            await room.rest()
            assert (await room.shop.state(task)).stage == stage


async def test_a_thumb_on_what_was_forgotten_means_nothing(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A sign on a line of a task that is forgotten by now rates nothing, and is no fault."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        line = await room.line_of("Which port?")
        stream = (await room.shop.state(task)).stream
        given = (await room.app.ledger.read(stream, kinds=["task.opened"]))[0]
        await room.app.ledger.erase(ErasureRequest(events=(given.id,)))
        assert (await room.shop.state(task)).forgotten
        body = PersonReacted(person=room.ana, to=line, emoji="👎")
        await room.app.front.rooms.add("commons", room.ana, body)
        await room.rest()
        assert [one.message for one in caplog.records if one.levelname == "ERROR"] == []


async def test_a_new_start_says_nothing_twice(place: Path) -> None:
    """What was told stays told; what happened while nothing ran is told then."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears("otto, write a Python server in serve.py")
        before = await room.said()
        (task,) = await room.tasks()
    async with open_aside(room.app.settings) as aside:
        await aside.work.tasks.say(task, room.ana, "80")
    async with commons(place, in_order(says("done", "On 80."))) as room:
        await room.rest()
        after = await room.said()
        assert after[1:] == [before[1], "otto: On 80."]
        assert len(after) == 3


async def test_a_stop_of_which_its_task_did_not_hear_halts_it_at_the_next_start(
    place: Path,
) -> None:
    """The room was stopped as its home ended; what was let go on since then is let go on."""
    endless = in_order(uses("work_run", command="sleep 60"))
    async with commons(place, endless) as room:
        await room.says("Otto, write a Python script and run it")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        await room.shop.until(task, "task.opened")
    async with open_aside(room.app.settings) as aside:
        await aside.front.commands.act("commons", room.ana, "stop", "")
    async with commons(place, in_order()) as room:  # nobody is asked
        await room.rest()
        assert (await room.shop.state(task)).stage == "stopped"
        assert "a person said stop" in (await room.said())[-1]
    async with open_aside(room.app.settings) as aside:
        await aside.work.tasks.resume(task, room.ana)
    async with commons(place, in_order(says("done", "Written."))) as room:
        await room.rest()
        assert (await room.said())[-1] == "otto: Written."
    async with open_aside(room.app.settings) as aside:
        await aside.front.commands.act("commons", room.ana, "stop", "")
        await aside.work.tasks.say(task, room.ana, "Once more")
    async with commons(place, in_order(says("done", "Again."))) as room:
        await room.rest()
        assert (await room.said())[-1] == "otto: Again."


async def test_what_was_told_long_ago_stays_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much was said in the room since, and in another process: only what is new is said."""
    monkeypatch.setattr(progress_lines, "LATEST", 2)
    async with commons(place, in_order(says("done", "On 80."))) as room:
        await room.hears("otto, write a Python server in serve.py")
        for _ in range(3):
            await room.hears("Maya, how are you?")
        before = await room.said()
    async with commons(place, in_order()) as room:
        (task,) = await room.tasks()
        await room.shop.tasks.approve(task, room.ana)
        await room.rest()
        assert await room.said() == [*before, "otto: Ana approved it."]


async def test_whoever_asks_first_for_a_thread_s_tasks_is_told_all_of_them(place: Path) -> None:
    """Several who ask at once after a start are told the same."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears("otto, write a Python server in serve.py")
        store = TaskStore(room.app.ledger, room.app.work.ports.signals)
        told = await asyncio.gather(*(store.of_thread(ROOM) for _ in range(3)))
        assert [[state.id for state in each] for each in told] == [await room.tasks()] * 3


async def test_commands_written_as_lines_do_the_same(place: Path) -> None:
    """Where a surface knows no commands: a sign says that it is done, a line why it is not."""
    async with commons(place, in_order(says("done", "Done."), says("done", "Again."))) as room:
        await room.hears("/resume")
        assert await room.said() == [
            "otto: Nothing is worked on here. /work and what is to be done begins it."
        ]
        given = await room.hears("/work otto: write a Python script a.py")
        (task,) = await room.tasks()
        assert str((await room.shop.state(task)).task.text) == "write a Python script a.py"
        assert [one.to for one in await room.bodies(Reacted)] == [given.id]
        bo = (await room.app.front.rooms.enter("commons", "Bo", "web")).you
        with pytest.raises(NotLetIn, match="Guests cannot give work"):
            await room.does("work", "otto: another script", person=bo)
        await room.hears("/approve")
        assert (await room.shop.state(task)).stage == "approved"
        assert [line.partition(".")[0] for line in (await room.said())[1:]] == [
            "otto: Starting work",
            "otto: Done",
            "otto: Ana approved it",
        ]


async def test_a_task_given_by_a_command_in_a_line_is_given_once(place: Path) -> None:
    """A room that was ended in between asks about the line again; nobody is told of other work."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        given = await room.hears(words := "/work otto: write a Python server in serve.py")
        before, app = await room.said(), room.app
        files = KeptRoomFiles(app.ledger, app.artifacts, usable_spans)
        voice = ProgressLines(
            app.ledger, app.rooms.house, app.rooms.surfaces, app.deliveries, app.stamp
        )
        route = ThreadRouting(app.ledger, room.shop.tasks, app.rooms.mates, files, voice)
        line = RoomLine(stream=ROOM, line=given.id, person=room.ana, text=words, here=("otto",))
        assert await route.line(replace(line, tools=frozenset({"*"}), owner=True))
        await room.rest()
        assert (await room.said(), await room.tasks()) == (before, [given.id])


async def test_a_repository_gets_what_was_shown_by_the_owners_yes(
    place: Path, project: Path
) -> None:
    """The change is shown in the room; /approve merges just that, and /undo takes it back."""
    home = place / "home"
    home.mkdir()
    async with commons(home, in_order(*STEPS)) as room:
        known = await room.shop.tasks.places.repositories.registered.register(project)
        with pytest.raises(InputError, match="the owner of this home"):
            await room.does("work", f"otto: repo:{known.name} {TASK}", owner=False, surface="x")
        assert await room.does("work", f"otto: repo:{known.name} {TASK}") == "Otto takes it up."
        shown = (await room.said())[-1]
        assert "+    return 2" in shown
        (task,) = await room.tasks()
        offered = (await room.shop.state(task)).offered
        assert offered is not None
        assert f"/approve merges exactly {offered.commit[:12]}" in shown
        with pytest.raises(InputError, match="the owner of this home"):
            await room.does("approve", owner=False, surface="x")
        assert "return 3" in (project / "app.py").read_text()
        assert (await room.does("approve")).startswith("Merged as ")
        assert "return 2" in (project / "app.py").read_text()
        assert "taken back" in await room.does("undo")
        assert "return 3" in (project / "app.py").read_text()


async def test_work_by_a_command_takes_along_ones_own_files_alone(place: Path) -> None:
    """Those of others may have been sent before whoever gives it came."""
    script = in_order(uses("work_run", command="ls in; cat in/*"), says("done", "So."))
    async with commons(place, script) as room:
        limits = FileLimits(1_000_000, 1_000_000)
        ben = (await room.app.front.rooms.enter("commons", "Ben", "terminal")).you
        for person, name in ((room.ana, "numbers.csv"), (ben, "diary.txt")):
            file = await ingest_file(room.app.artifacts, name, name.encode(), limits)
            line = Heard(person=person, text=Words("look"), surface="terminal", files=(file,))
            await room.app.front.rooms.hear("commons", line)
        await room.rest()
        await room.does("work", "otto: write a Python script that reads this")
        (task,) = await room.tasks()
        (told, *_) = [use.value for use in (await room.shop.state(task)).uses]
        assert "numbers.csv" in told
        assert "diary" not in told
        with pytest.raises(Unknown):
            await room.does("work", "otto: repo:nowhere fix the parser in Python")
        (kept,) = (place / "workspaces").iterdir()
        assert kept == room.shop.file(task, ""), "what was refused leaves no files"


async def test_a_deleted_room_takes_its_tasks_along(place: Path) -> None:
    """What is at work is stopped; no word, no file and no checkpoint is left, of others all is."""
    stalled = uses("work_run", command="cat in/*; echo lantern > own.txt; sleep 300")
    script = in_order(uses("work_write", path="secret.txt", text="lantern\n"), stalled)
    async with commons(place, script) as room:
        await room.says("Otto, write a Python script that finds the lantern, and run it")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        await room.shop.until(task, "effect.running", 2)
        kept = await room.shop.tasks.open("Hello!", room.ana)
        await room.shop.rest(kept)
        await room.app.closing.close_room("commons", room.ana)
        await room.app.work.forgetting.sweep()
        state = await room.shop.state(task)
        assert state.stage == "stopped"
        assert state.task.text.text is None
        assert not room.shop.file(task, "").exists()
        assert (await room.shop.state(kept)).task.text.text == "Hello!"
        assert (await room.app.ledger.verify()).sound
    assert holding(place, b"lantern") == []
