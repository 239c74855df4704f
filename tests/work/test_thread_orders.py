"""A yes or a no in a room is for what was shown there; buttons stand under what can be decided."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.turns.progress_lines import ProgressLines
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import RightsSet, Said
from loopforge.core.work.work_vocabulary import TaskSteered
from loopforge.errors import Changed, InputError, NotLetIn
from loopforge.io.discord.text.markdown import as_discord_markdown
from loopforge.runtime.ports import Question, RoomOrder, Tool, ToolCall
from loopforge.web.rendering.markdown_html import render_markdown
from loopforge.work.task_state import TaskState
from loopforge.work.task_transcript import lines_of
from loopforge.work.threads.thread_orders import MOVED, UNSEEN, ThreadOrders
from loopforge.work.threads.thread_posts import in_fence
from tests.rooms.conftest import write_mates
from tests.work.conftest import Step, in_order, says, uses
from tests.work.test_task_results import STEPS, TASK, project
from tests.work.test_thread_tasks import FULL, OTTO, ROOM, Commons, commons

__all__ = ["project"]
FIX = (STEPS[1], STEPS[3])
NOTE = (uses("work_write", path="repo/note.txt", text="So.\n"), says("done", "And so."))


def voice_of(room: Commons) -> ProgressLines:
    """What speaks in rooms for tasks."""
    app = room.app
    return ProgressLines(app.ledger, app.rooms.house, app.rooms.surfaces, app.deliveries, app.stamp)


def orders_of(room: Commons) -> ThreadOrders:
    """What decides on tasks of this room."""
    app = room.app
    return ThreadOrders(app.ledger, room.shop.tasks, app.rooms.mates, voice_of(room))


async def offers(room: Commons) -> list[str]:
    """The ids of the lines that offer a commit."""
    said = await room.app.ledger.read(ROOM, kinds=["room.said"])
    return [
        event.id
        for event in said
        if isinstance(event.body, Said) and "merges exactly" in str(event.body.text)
    ]


async def buttons(room: Commons, line: str) -> list[str]:
    """What stands on the buttons under a line as it is now."""
    event = await room.app.front.line("commons", line)
    return [one.label for one in await room.app.front.commands.routed.buttons(event)]


async def test_the_repository_may_stand_before_the_mate(place: Path, project: Path) -> None:
    """Whoever is named after it is meant: somebody else took it up, with the name in the task."""
    home = place / "home"
    home.mkdir()
    async with commons(home, in_order(*FIX)) as room:
        registered = room.shop.tasks.places.repositories.registered
        repo = (await registered.register(project)).name
        assert await room.does("work", f"repo:{repo} maya: {TASK}") == "Maya takes it up."
        (task,) = await room.tasks()
        given = (await room.shop.state(task)).task
        assert (given.mate, str(given.text), given.repo) == ("maya", TASK, repo)


async def test_a_yes_is_for_what_was_shown(place: Path, project: Path) -> None:
    """Not for what is offered since, nor for what had not arrived; the newest is taken, once."""
    home = place / "home"
    home.mkdir()
    async with commons(home, in_order(*FIX, *NOTE)) as room:
        registered = room.shop.tasks.places.repositories.registered
        repo = (await registered.register(project)).name
        await room.does("work", f"otto: repo:{repo} {TASK}")
        (first,) = await offers(room)
        assert await buttons(room, first) == ["Approve", "Reject"]
        steering = await room.hears("and a note", reply_to=first)
        _, second = await offers(room)
        assert await buttons(room, first) == []
        assert await buttons(room, second) == ["Approve", "Reject"]
        assert "waits for no answer any more" in str((await room.said())[-3])
        orders = orders_of(room)
        owner = RoomOrder(stream=ROOM, person=room.ana, owner=True, name="reject", argument="")
        for name, more, why in (
            ("approve", {"reply_to": first}, MOVED),
            ("reject", {"reply_to": first}, MOVED),
            ("approve", {"line": steering.id, "surface": "web"}, MOVED),
            ("approve", {"surface": "discord:1"}, UNSEEN),
            ("reject", {"surface": "discord:1"}, UNSEEN),
        ):
            with pytest.raises(Changed) as refused:
                await orders.order(replace(owner, name=name, **more))
            assert str(refused.value) == why
        with pytest.raises(NotLetIn):
            await orders.order(replace(owner, owner=False))
        press = room.app.front.commands.press
        asked = CommandRequest(room="commons", person=room.ana, surface="discord", owner=True)
        with pytest.raises(Changed, match="moved on"):
            await press("approve", replace(asked, reply_to=first))
        assert "return 3" in (project / "app.py").read_text()
        told = await press("approve", replace(asked, reply_to=second))
        assert told.startswith("Merged as ")
        assert (project / "note.txt").read_text() == "So.\n"
        again = await press("approve", replace(asked, reply_to=second))
        assert again == "It is approved already; nothing was done again."


class Before(ThreadOrders):
    """Reads which offers there are, and decides only once there is one."""

    def __init__(self, room: Commons, come: Callable[[], Awaitable[object]]) -> None:
        app, tasks = room.app, room.shop.tasks
        super().__init__(app.ledger, tasks, app.rooms.mates, voice_of(room))
        self._come = come

    async def _offered(self, order: RoomOrder, state: TaskState, told: Event | None) -> str:
        shown = await super()._offered(order, state, told)
        await self._come()
        return shown


@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_what_is_offered_only_as_a_yes_is_decided_on_is_not_taken(
    place: Path, project: Path, answer: str
) -> None:
    """Nobody had seen it; a no does not take it away, either."""
    home = place / "home"
    home.mkdir()
    slow = uses("work_run", command="while [ ! -e stop ]; do sleep 0.1; done; rm stop")
    async with commons(home, in_order(slow, *FIX)) as room:
        registered = room.shop.tasks.places.repositories.registered
        repo = (await registered.register(project)).name
        await room.app.front.commands.act(
            "commons", room.ana, "work", f"otto: repo:{repo} {TASK}", owner=True
        )
        (task,) = await room.tasks()
        await room.shop.until(task, "effect.running")

        async def come() -> None:
            room.shop.file(task, "repo/stop").touch()
            await room.shop.rest(task)

        order = RoomOrder(stream=ROOM, person=room.ana, owner=True, name=answer, argument="")
        with pytest.raises(Changed, match="Something else is offered by now"):
            await Before(room, come).order(order)
        assert "return 3" in (project / "app.py").read_text()


async def test_what_asks_for_a_yes_is_shown_whole(place: Path) -> None:
    """In the room and where it is watched, to its last word, and with what cannot be seen in it."""
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))
    text = f"see https://example.org/\u200bx {'and so on ' * 400}; then rm -rf lantern"
    async with commons(place, in_order(uses("send", to=text), says("done", "Here."))) as room:

        async def send(_: ToolCall) -> str:
            return "sent"

        room.app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
        task = await room.gives("otto, write a Python server in serve.py", "turn.ended")
        (effect,) = (await room.shop.state(task)).allowing
        told = "\n".join(lines_of(await room.app.ledger.event(effect)))
        posted = next(line for line in await room.said() if "I want to use send" in line)
        for text in (posted, told):
            assert r"https://example.org/\u200bx" in text
            assert "then rm -rf lantern" in text
        await room.shop.tasks.allow(task, "ana", owner=True, yes=False)
        await room.rest()


async def test_the_room_is_told_who_decides_and_what_on(place: Path) -> None:
    """Who gave it by a command, and what; who said yes or no, and why; who took it. So is the mate."""
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))

    async def send(_: ToolCall) -> str:
        return "sent"

    script = in_order(uses("send", to="all"), uses("send", to="Bo"), says("done", "Here."))
    async with commons(place, script) as room:
        room.app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
        act = partial(room.app.front.commands.act, "commons", room.ana, owner=True)
        await act("work", "otto: fix app.py\nin Python")
        (task,) = await room.tasks()
        assert room.app.work.posts is not None
        for turn, (answer, reason) in enumerate((("deny", "not to all"), ("approve", "")), 1):
            await room.shop.until(task, "turn.ended", turn)
            await room.app.work.posts.settled()
            await act(answer, reason)
        await room.rest()
        await act("reject", "it is too long")
        await room.rest()
        started, first, second, _, rejected = [line[6:] for line in await room.said()]
        assert started.startswith("Ana wants: fix app.py in Python\n\nStarting work. ")
        assert first.endswith("\nAna said no: not to all")
        assert second.endswith("\nAna said yes.")
        assert rejected == "Ana rejected it: it is too long"
        assert next(use.value for use in (await room.shop.state(task)).uses) == (
            "A person said no to it: not to all"
        )
        await room.app.work.forgetting.forget(task, room.ana)
        await room.rest()
        kept = "\n".join(await room.said())
        assert not [one for one in ("app.py", "not to all", "too long") if one in kept]


async def test_a_bare_yes_takes_no_result_while_a_question_of_a_mate_waits(place: Path) -> None:
    """It may be meant for the question; answered, the next is for the task."""
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))
    work, talk = (
        in_order(says("done", "So.")),
        [{"say": "", "calls": [{"tool": "send", "arguments": "{}"}]}],
    )

    def script(asked: Question) -> Step:
        if asked.schema and "mode" in asked.schema.get("properties", {}) and talk:
            return talk.pop()
        return work(asked)

    async def send(call: ToolCall) -> str:
        return f"sent for {call.mate}"

    async with commons(place, script) as room:
        await room.app.front.rooms.add("commons", "", RightsSet(who=room.ana, rights=FULL))
        await room.hears("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        room.app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
        await room.hears("Otto, how are you?")
        with pytest.raises(InputError, match="Question 1 waits here, and so does the task"):
            await room.does("approve")
        assert (await room.shop.state(task)).stage == "finished"
        await room.does("deny", "1")
        assert await room.does("approve") == "Approved."


async def test_an_answer_that_is_typed_too_late_is_told_so(place: Path) -> None:
    """It steers nothing: the mate, which waits for no yes, would be told "/approve" of a person."""
    slow = uses("work_run", command="while [ ! -e stop ]; do sleep 0.1; done")
    async with commons(place, in_order(slow, says("done", "Here."))) as room:
        task = await room.gives("otto, write a Python server in serve.py", "effect.running")
        for typed in ("/approve", "/deny"):
            await room.says(typed)
            await room.app.front.rooms.settled("commons")
        assert [line.partition(": ")[2] for line in (await room.said())[-2:]] == [
            "There is nothing to approve: the task is working.",
            "Nothing of this task waits for a yes.",
        ]
        assert await room.shop.bodies(task, TaskSteered) == []
        room.shop.file(task, "stop").touch()
        await room.rest()


@pytest.mark.parametrize(
    "text", [" a\n ```\n[page](https://x.org) ||b||", '{"a":"``` ````"}', "plain"]
)
def test_no_fence_in_a_change_ends_the_block_in_which_it_is_shown(text: str) -> None:
    """Else the rest of it would be read as the mate's words: links, spoilers, a sentence."""
    told = f"So:\n{in_fence(text, 'diff')}\nSay yes."
    page = render_markdown(told)
    assert (page.count("<pre"), page.count("<a ")) == (1, 0)
    assert page.index("</pre>") < page.index("Say yes.")
    assert as_discord_markdown(told).count("```") == 2
    assert as_discord_markdown(told).endswith("\n```\nSay yes.")


async def test_a_button_stops_what_is_at_work(place: Path) -> None:
    """It stands under the message of progress while there is something to stop, and not after."""
    async with commons(place, in_order(uses("work_run", command="sleep 300"))) as room:
        task = await room.gives("otto, write a Python script that sleeps", "effect.running")
        line = await room.line_of("Starting work")
        assert await buttons(room, line) == ["Stop"]
        press = room.app.front.commands.press
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        await room.app.front.rooms.add("commons", "", RightsSet(who=bo, rights=("talk",)))
        asked = CommandRequest(room="commons", person=bo, reply_to=line, surface="discord")
        with pytest.raises(NotLetIn, match="may not stop mates"):
            await press("stop", asked)
        await press("stop", replace(asked, person=room.ana, owner=True))
        await room.rest()
        assert (await room.shop.state(task)).stage == "stopped"
        assert await buttons(room, line) == []
        assert "halts it" not in (await room.said())[0]
        assert "/why/" in await room.does("why")


async def test_why_of_a_line_of_no_turn_says_what_it_tells_of(place: Path) -> None:
    """As a room says how to ask for it: what happened, when, by whom, and where more is told."""
    async with commons(place, in_order(says("question", "Which port?"))) as room:
        await room.hears("otto, write a Python server in serve.py")
        await room.hears("stop")
        (task,) = await room.tasks()
        for words, kind in (("Starting work", "classified"), ("Stopped after", "summarized")):
            told = await room.app.front.why(await room.line_of(words))
            assert told.startswith(f"That is of no turn: task.{kind}, ")
            assert f", by runtime. See /work/{task}/why/" in told
        assert "Which port?" in await room.app.front.why(await room.line_of("Which port?"))
