"""What a mate in a task is shown of its own last turn, besides what its tools gave."""

from pathlib import Path

from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.work.conftest import Step, in_order, says, uses, working


async def prompts_of(place: Path, *steps: Step) -> tuple[list[str], list[str], str]:
    """The prompts of a task with such answers, what its turns came to, and its summary."""
    prompts, answers = list[str](), in_order(*steps)

    def script(asked: Question) -> Step:
        if asked.schema and "state" in asked.schema.get("properties", {}):
            prompts.append("\n".join(str(words) for _, words in asked.messages))
        return answers(asked)

    async with working(place, script) as shop:
        state = await shop.state(await shop.give("Write a Python script hello.py that prints 42"))
        return prompts, [str(one.action) for one in state.progress], str(state.summary)


async def test_it_is_shown_what_it_said_itself(place: Path) -> None:
    """Before what the tools of that turn gave, and also where it used none."""
    found, _, _ = await prompts_of(
        place,
        {**uses("work_list", thought="I look around first.")},
        says("going", thought="There is nothing yet, so I write it."),
        says("done", "It is there."),
    )
    assert "I look around first." not in found[0]
    assert found[1].index("I look around first.") < found[1].index("[work_list]")
    assert "There is nothing yet, so I write it." in found[2]


async def test_it_is_told_that_an_answer_could_not_be_used(place: Path) -> None:
    """One that broke off is no riddle to it: it is told to write in parts."""
    found, did, _ = await prompts_of(
        place, ScriptedAnswer(outcome="malformed"), says("done", "So.")
    )
    assert "Your last answer could not be used" in found[1]
    assert "in parts" in found[1]
    assert did[0] == "Its answer made no sense."


async def test_it_is_told_which_uses_of_tools_were_not_tried(place: Path) -> None:
    """Arguments that are no JSON object are named to it, and on the record of the turn."""
    broken = {"tool": "work_write", "arguments": '{"path": "hello.py", "text": '}
    found, did, _ = await prompts_of(
        place, {**uses("work_list"), "calls": [broken]}, says("done", "So.")
    )
    why = "work_write was not used: its arguments were no JSON object."
    assert why in found[1]
    assert did[0] == f"I go on. {why}"


async def test_a_summary_speaks_of_commands_that_were_run(place: Path) -> None:
    """Where only files were written, none was."""
    _, _, summary = await prompts_of(place, uses("work_write", path="a.py", text="1\n"))
    assert "No command was run." in summary
