"""A small model and tools: what a line wants is known by examples, its arguments are filled in."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import loopforge.policies
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import Line, ToolOffer
from loopforge.core.policy import Answer, Ask, Call, Result
from loopforge.core.room_vocabulary import Say
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.policies.small_tools import LONGEST, RULE, tool_examples
from loopforge.policies.talk import talk
from tests.playbook import PROMPTS, Playbook, heard, mine, shown

EXAMPLES = Path(loopforge.policies.__file__).parent / "prompts" / "tool-small.md"
TOOLS = (
    ToolOffer(
        name="calculator",
        summary="Calculates.",
        schema={"properties": {"expression": {"type": "string"}}},
    ),
    ToolOffer(name="remind", summary="Reminds.", schema={"properties": {"said": {}}}),
    ToolOffer(name="list_files", summary="Lists files.", schema={"properties": {}}),
)


def turn(*lines: Line, tools: tuple[ToolOffer, ...] = TOOLS, **more: str) -> Playbook:
    """A turn of Maya, whose model is a small one."""
    seen = replace(shown(*lines, model="small", **more), tools=tools)
    return Playbook(talk(PROMPTS), seen)


def filled(arguments: dict[str, Any]) -> Answer:
    """What the model fills in."""
    return Answer("answered", data=arguments)


def words(plan: AgentActionPlan | None) -> str:
    """What the plan says."""
    assert plan is not None
    return "".join(act.text for act in plan.acts if isinstance(act, Say))


def calls(book: Playbook) -> tuple[str, str]:
    """The tool that it wants used now, and what this is given."""
    assert isinstance(book.request, Call)
    return book.request.tool, " ".join(book.request.arguments.values())


def test_a_line_like_an_example_has_its_tool_used() -> None:
    """It fills in what the tool wants by the examples of that tool; what came back is said as is."""
    book = turn(heard("ana", "@maya What is 17 + 4?")).asks("tool")
    assert isinstance(book.request, Ask)
    assert book.request.exact
    assert "@maya What is 2 + 3?" in [message.text for message in book.request.messages]
    assert calls(book.told(filled({"expression": "17 + 4"}))) == ("calculator", "17 + 4")
    plan = book.told(Result("returned", "17 + 4 = 21")).plans()
    assert (words(plan), plan.rule) == ("17 + 4 = 21", RULE)


def test_a_tool_that_wants_nothing_is_used_at_once() -> None:
    """No model is asked for arguments that there are none of; a long result is said in part."""
    book = turn(heard("ana", "Which files are here?"))
    assert calls(book) == ("list_files", "")
    book.told(Result("returned", "notes.txt " * 200))
    assert len(words(book.plan)) <= LONGEST + 2
    assert words(book.plan).endswith(" …")


def test_a_line_itself_is_copied_by_no_model() -> None:
    """Where an example says so, the argument is the line, without whom it calls."""
    book = turn(heard("ana", "Maya, remind me at 7 to sing"))
    assert calls(book) == ("remind", "remind me at 7 to sing")


@pytest.mark.parametrize("expression", ["17 + 5", "2 + 3", "0.5 * 17"])
def test_made_up_arguments_are_not_used(expression: str) -> None:
    """A number that nobody gave, or a value of an example, is no argument: it talks instead."""
    book = turn(heard("ana", "What is 17 + 4?")).asks("tool")
    book.told(filled({"expression": expression})).asks("talk")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"address": "https://example.com/b"}, "Read https://example.com/c, please"),
        ({"file": "letter.txt"}, "Skim notes.txt"),
    ],
)
def test_an_address_or_a_file_has_to_be_in_the_line(made: dict[str, str], said: str) -> None:
    """It reads nothing that the line does not name."""
    name = next(iter(made))
    tool = ToolOffer(
        name="read", summary="Reads.", schema={"properties": {name: {"type": "string"}}}
    )
    prompt = f'> {said.replace("c,", "d,").replace("notes", "a")}\nread {{"{name}": "x"}}'
    seen = replace(shown(heard("ana", said), model="small"), tools=(tool,))
    book = Playbook(talk({**PROMPTS, "tool-small": prompt}), seen).asks("tool")
    book.told(filled(made)).asks("talk")


@pytest.mark.parametrize("answer", [Answer("failed"), Answer("malformed")])
def test_no_arguments_no_tool(answer: Answer) -> None:
    """Where it fills in nothing, it talks."""
    turn(heard("ana", "What is 17 + 4?")).told(answer).asks("talk")


@pytest.mark.parametrize(
    "said", ["how was your day", "It's been raining all day here.", "Good day!", "have a nice day"]
)
def test_who_speaks_of_a_day_does_not_ask_for_the_date(said: str) -> None:
    """By the shipped examples; who does ask for it is told without a tool."""
    fields = ("zone", "until", "add")
    clock = ToolOffer(
        name="clock", summary="Tells.", schema={"properties": {one: {} for one in fields}}
    )
    prompts = {**PROMPTS, "tool-small": EXAMPLES.read_text("utf-8")}
    seen = replace(shown(heard("ana", said), model="small"), tools=(clock,))
    Playbook(talk(prompts), seen).asks("talk")


def test_small_talk_wants_no_tool() -> None:
    """What is like no example is answered in words; so is everything where no tool is offered."""
    turn(heard("ana", "I am so tired today.")).asks("talk")
    turn(heard("ana", "What is 17 + 4?"), tools=()).asks("talk")
    turn(heard("ana", "Which files are here?"), tools=TOOLS[:1]).asks("talk")


def test_what_waits_for_a_yes_is_said_when_it_came() -> None:
    """It says nothing while people are asked; the turn after that says what the tool gave."""
    asked = heard("ana", "Which files are here?")
    book = turn(asked).told(Result("deferred", "People were asked first."))
    assert words(book.plan) == ""
    came = Line(kind="result", who=public_words("list_files"), text=Words("notes.txt"))
    assert words(turn(asked, came).plan) == "notes.txt"
    turn(asked, came, mine("notes.txt"), heard("ana", "Thank you")).asks("talk")


@pytest.mark.parametrize(
    ("row", "attached"),
    [
        ("[file 3fa9c1d2: slugs.png, image/png, 9 bytes, 64 x 48 pixels]", ("3fa9c1d2",)),
        ("[file 3fa9c1d2: plot.txt, text/plain, 9,000 bytes]", ()),
    ],
)
def test_files_of_a_tool_are_attached(row: str, attached: tuple[str, ...]) -> None:
    """A picture goes with the words that the tool gave; the whole of a long text does not."""
    asked = heard("ana", "Which files are here?")
    came = Line(kind="result", who=public_words("plot"), text=Words(f"A plot.\n{row}"))
    plan = turn(asked, came).plan
    assert plan is not None
    (say,) = plan.acts
    assert isinstance(say, Say)
    assert say.attach == attached
    assert say.text.startswith("A plot.")


def test_the_examples_that_come_along_are_read() -> None:
    """Each names a tool and its arguments; none is lost, and one that is no JSON is left out."""
    text = EXAMPLES.read_text("utf-8")
    assert len(tool_examples(text)) == text.count("\n> ")
    assert {one.tool for one in tool_examples(PROMPTS["tool-small"])} == {
        "calculator",
        "list_files",
        "remind",
    }
