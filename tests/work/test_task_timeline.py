"""A task turn by turn, as pages show it: drawn from a record that real turns wrote."""

from pathlib import Path

from loopforge.core.work.task_confidence import START
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.work.task_timeline import TaskNote, TurnShown, diff_rows, timeline_of
from tests.work.conftest import in_order, says, uses, working


async def test_a_turn_tells_what_it_changed_and_what_it_saw(place: Path) -> None:
    """Its words, the diff it asked for, the exit code and output of a command, its confidence."""
    steps = (
        uses("work_write", "I write it.", path="a.py", text="print(1)\n"),
        uses("work_write", "Another number.", path="a.py", text="print(2)\n"),
        uses("work_run", "I run it.", command="python3 a.py; exit 3"),
        says("done", "See <<a.py>>."),
    )
    async with working(place, in_order(*steps)) as shop:
        id = await shop.give("Write a Python script a.py and run it")
        drawn = timeline_of(await shop.events(id), START)
        state = await shop.state(id)
    turns = [one for one in drawn if isinstance(one, TurnShown)]
    back = turns.pop()
    assert (back.nth, back.summons) == (0, "reflect")
    assert [one.nth for one in turns] == [1, 2, 3, 4]
    assert [one.narrative for one in turns][2:] == ["I run it.", "See a.py."]
    assert (turns[0].before, turns[0].mode, turns[0].model) == (START, "context", "scripted")
    assert [one.confidence for one in turns] == [one.confidence for one in state.progress]
    assert [one.before for one in turns[1:]] == [one.confidence for one in turns[:-1]]
    written = turns[1].steps[0]
    assert (written.tool, written.what, written.files) == ("work_write", "a.py", ("a.py",))
    assert [(row.kind, row.text) for row in written.diff[1:]] == [
        ("del", "-print(1)"),
        ("add", "+print(2)"),
    ]
    ran = turns[2].steps[0]
    assert (ran.outcome, ran.exit, ran.what) == ("returned", 3, "python3 a.py; exit 3")
    assert "2" in ran.output
    notes = [one for one in drawn if isinstance(one, TaskNote)]
    assert notes[0].kind == "classified"
    assert "copy 1" in next(one.text for one in notes if one.kind == "workspace_saved")


async def test_what_costs_nothing_is_not_without_a_price(place: Path) -> None:
    """Only what a model took whose price nobody knows is counted as without one."""
    unknown = ScriptedAnswer(data=says("done", "Written."), cost="")
    script = in_order(uses("work_write", path="a.py", text="print(1)\n"), unknown)
    async with working(place, script) as shop:
        id = await shop.give("Write a Python script a.py")
        drawn = timeline_of(await shop.events(id), START)
        state = await shop.state(id)
    free, other = (one for one in drawn if isinstance(one, TurnShown) and one.nth)
    assert not free.unpriced
    assert not free.cost + other.cost
    assert 0 < other.unpriced == state.unpriced < state.tokens


async def test_what_was_taken_back_is_marked(place: Path) -> None:
    """Turns after the copy that was gone back to stay to be read, as taken back."""
    steps = [uses("work_write", path="a.txt", text=f"{nth}") for nth in range(1, 8)]
    async with working(place, in_order(*steps, says("done", "Written."))) as shop:
        id = await shop.give("Write numbers into a.txt with Python")
        await shop.tasks.say(id, "ana", "once more")
        await shop.rest(id)
        await shop.tasks.undo(id, "ana")
        drawn = timeline_of(await shop.events(id), START)
        turns = (await shop.state(id)).turns
    gone = [one.nth for one in drawn if isinstance(one, TurnShown) and one.undone]
    assert gone == list(range(turns + 1, 10))
    said = next(one for one in drawn if isinstance(one, TaskNote) and one.said)
    assert (said.text, said.person) == ("once more", "ana")
    rest = [one.kind for one in drawn if isinstance(one, TaskNote)]
    assert set(rest[rest.index("undone") + 1 :]) <= {"scored"}  # which it may be already


def test_rows_of_a_diff_are_told_apart() -> None:
    """Heads, rows that go, rows that come, and what stays."""
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n-b\n+c"
    assert [row.kind for row in diff_rows(text)] == ["at"] * 4 + ["same", "del", "add"]
