"""A task in the hands of a small model, as transcripts."""

import pytest
from msgspec.structs import replace

from loopforge.core.perception import AgentPerception, Line, ToolOffer
from loopforge.core.policy import Answer, Call, Result
from loopforge.core.work.work_vocabulary import AdmitStuck, AskPerson, FinishWork, GoOn
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.flows.sequential_flow import sequential
from loopforge.policies.flows.task_triage import triage
from tests.playbook import Playbook
from tests.policies.test_flows import RUN, given, seen_result

PROMPTS = PromptFiles()


DEFINED = "import math as m\ndef noon(hour):\n    print(hour, m.pi)\nnoon(12)"
"""A file that gives each name it uses."""


def small(text: str, *more: Line) -> AgentPerception:
    """A task that a small model is given, with the tools to write and run."""
    write = ToolOffer(name="work_write", summary="Writes.", schema={"type": "object"})
    return replace(given(text, *more, model="small"), tools=(RUN, write))


WROTE = seen_result("(for {})\nadd.py is written: 1 lines.", "work_write")


def test_a_small_model_writes_one_file_and_has_it_run() -> None:
    """The steps are given: it writes, that is run, and what was printed is the result."""
    task = "Create add.py which prints 17 plus 25, and run it"
    book = Playbook(sequential(PROMPTS), small(task)).asks("write", aloud=False)
    assert "print(5 + 9)" in book.prompt
    book.told(Answer("answered", "```python\nprint(17 + 25)\n```"))
    assert book.request == Call("work_write", {"path": "add.py", "text": "print(17 + 25)\n"})
    plan = book.told(Result("returned", "add.py is written.")).plans()
    assert plan.acts[1] == GoOn(did="I wrote add.py.")
    book = Playbook(sequential(PROMPTS), small(task, WROTE))
    assert book.request == Call("work_run", {"command": "python3 add.py"})
    assert book.told(Result("returned", "")).plans().acts == (GoOn(did="I ran add.py."),)
    ran = seen_result("(for {})\n[exit code 0, 0.1 s]\n42")
    (done,) = Playbook(sequential(PROMPTS), small(task, WROTE, ran)).plans().acts
    assert isinstance(done, FinishWork)
    assert done.result == "add.py is written and ran. It printed:\n42"
    cloned = small(task)
    cloned = replace(cloned, context={**cloned.context, "clone": "repo/"})
    book = Playbook(sequential(PROMPTS), cloned).asks("write")
    book.told(Answer("answered", "print(17 + 25)"))
    assert book.request == Call("work_write", {"path": "repo/add.py", "text": "print(17 + 25)\n"})


def test_a_small_model_that_writes_what_cannot_be_right_is_asked_with_other_examples() -> None:
    """A number that nobody asked for, or lacking, is asked for again; of three the best is taken."""
    task = "Write a Python script hello.py that prints 42, and run it"
    book = Playbook(sequential(PROMPTS), small(task)).asks("write")
    assert "print(7)" in book.prompt
    book.told(Answer("answered", "print(7)")).asks("write")
    book.told(Answer("answered", 'print("Hello World")')).asks("write")
    assert "print(7)" not in book.prompt
    book.told(Answer("answered", "print(42)"))
    assert book.request == Call("work_write", {"path": "hello.py", "text": "print(42)\n"})
    failed = seen_result("(for {})\n[exit code 1, 0.1 s]\nNameError")
    again = small(task, *(WROTE, failed) * 2)
    Playbook(sequential(PROMPTS), again).asks("write")
    (stuck,) = Playbook(sequential(PROMPTS), small(task, *(WROTE, failed) * 3)).plans().acts
    assert stuck == AdmitStuck(why="hello.py is written, and fails when it runs:\nNameError")


def test_a_small_model_is_not_asked_the_same_again() -> None:
    """Where one example is left, the same question would have the same answer: it is asked once."""
    prompts = {"work-small": "You write.\n\n> Write seven.py that prints 7\nprint(7)"}
    book = Playbook(sequential(prompts), small("Write a.py that prints 42")).asks("write")
    book.told(Answer("answered", "print(7)"))
    assert book.request == Call("work_write", {"path": "a.py", "text": "print(7)\n"})


@pytest.mark.parametrize(
    ("task", "doubtful", "sound"),
    [
        ("Write down.py that counts from 1 to 5", "print(down(5))", "print(*range(1, 6))"),
        ("Write cat.py that says meow", 'print("I am a cat")', 'print("meow")'),
        ("Write sum.py that prints 3 plus 4", "x = 3 + 4", "print(3 + 4)"),
        ("Write a.py that prints 3 twice", "print(3", "for _ in 1, 2:\n    print(3)"),
        ("Make hi.sh that says hi Tom", 'echo "hello Ana"', 'echo "hi Tom"'),
        ("Write noon.py with a function that prints 12", "def f(a): print(b, 12)", DEFINED),
    ],
)
def test_a_file_is_doubted_for_names_words_and_numbers(
    task: str, doubtful: str, sound: str
) -> None:
    """What nothing gives, nobody asked for or cannot be Python is doubted; what is sound, not."""
    book = Playbook(sequential(PROMPTS), small(task)).asks("write")
    book.told(Answer("answered", doubtful)).asks("write").told(Answer("answered", sound))
    request = book.request
    assert isinstance(request, Call)
    assert request.arguments["text"] == sound + "\n"


def test_more_than_one_file_is_put_back_to_the_person() -> None:
    """A small model says what it can do; a script without a name gets one."""
    for task in ("Refactor the parser", "Ask example.com, e.g. for its robots"):
        (act,) = Playbook(sequential(PROMPTS), small(task)).plans().acts
        assert isinstance(act, AskPerson)
    looking = given("Review app.py", model="small")
    (act,) = Playbook(sequential(PROMPTS), looking).plans().acts
    assert isinstance(act, AdmitStuck)
    book = Playbook(sequential(PROMPTS), small("write a bash script that says hi")).asks("write")
    book.told(Answer("answered", "echo hi"))
    assert book.request == Call("work_write", {"path": "main.sh", "text": "echo hi\n"})


def test_a_small_model_is_not_asked_what_kind_of_task_it_is() -> None:
    """What it says of that is made up: the task is simply worked on, and put back to the person."""
    plan = Playbook(triage(PROMPTS), small("Fix the failing test in the parser")).plans()
    assert (plan.acts, plan.rule) == ((), "a small model sorts no tasks")
