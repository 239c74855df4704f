"""Flows of tasks as transcripts: this was shown, it asked, it was told, it planned."""

import pytest
from msgspec.structs import replace

from loopforge.core.perception import AgentPerception, Line, ToolOffer
from loopforge.core.policy import All, Answer, Ask, Call, Result
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.work.work_vocabulary import (
    AdmitStuck,
    AskPerson,
    Classify,
    FinishWork,
    GoOn,
    LookBack,
    SaidOfAttempt,
    SetPlan,
)
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.flows.branch_flow import branching
from loopforge.policies.flows.reflexion_flow import reflecting_on
from loopforge.policies.flows.sequential_flow import sequential
from loopforge.policies.flows.shell_flow import commanding
from loopforge.policies.flows.simple_flow import answering
from loopforge.policies.flows.task_triage import triage
from tests.playbook import Playbook, heard, shown

PROMPTS = PromptFiles()
RUN = ToolOffer(name="work_run", summary="Runs.", schema={"type": "object"})


def given(text: str = "Make it so", *more: Line, **context: str) -> AgentPerception:
    """A mate is shown a task, and what came of it so far."""
    known = {"title": "Python coder", "turn": "1", "turns": "20", "left": "", "planned": "none"}
    seen = shown(heard("Person", text), *more, **{**known, **context})
    return replace(seen, tools=(RUN,))


def seen_result(text: str, who: str = "work_run") -> Line:
    """What a tool gave in a turn before."""
    return Line(kind="result", who=public_words(who), text=Words(text))


def test_it_plans_and_acts_by_tools() -> None:
    """It is asked with a form; the tools it names are used, and it goes on in another turn."""
    book = Playbook(sequential(PROMPTS), given()).asks("work", aloud=False)
    assert "Turn 1 of 20" in book.prompt
    assert list(book.form)[:3] == ["thought", "plan", "calls"]
    call = {"tool": "work_run", "arguments": '{"command": "ls"}'}
    book.answered(thought="I look.", plan=["look", "mend"], calls=[call], confidence=40)
    assert book.request == Call("work_run", {"command": "ls"})
    plan = book.told(Result("returned", "[exit code 0]\na.py")).plans()
    assert plan.acts == (
        SetPlan(steps=("look", "mend")),
        GoOn(did="I look.", estimate=40),
    )


def test_prose_beside_uses_of_tools_is_what_it_says() -> None:
    """Models that use tools in their provider's form write beside them, in no form."""
    book = Playbook(sequential(PROMPTS), given()).asks("work")
    wanted = {"calls": [{"tool": "work_run", "arguments": '{"command": "ls"}'}]}
    book.told(Answer("answered", "I look at what is there.", data=wanted))
    plan = book.told(Result("returned", "[exit code 0]\na.py")).plans()
    assert plan.acts == (GoOn(did="I look at what is there."),)


@pytest.mark.parametrize(
    ("state", "say", "act"),
    [
        ("question", "Which file?", AskPerson(question="Which file?")),
        ("stuck", "I tried all", AdmitStuck(why="I tried all")),
        ("going", "", GoOn(did="hm", estimate=-1)),
        ("question", "", GoOn(did="hm", estimate=-1)),
        ("done", "It is", FinishWork(result="It is", evidence="seen")),
    ],
)
def test_where_it_stands(state: str, say: str, act: object) -> None:
    """What it says of where it stands is one act; a question without words is none."""
    book = Playbook(sequential(PROMPTS), given()).asks("work")
    book.answered(thought="hm", calls=[], state=state, say=say, evidence="seen", confidence=True)
    assert book.plans().acts == (act,)


@pytest.mark.parametrize(
    ("written", "estimate"),
    [
        (99, 99),
        (0.99, 99),
        ("85%", 85),
        (1, 1),
        (0, 0),
        (101, -1),
        ("high", -1),
        (float("nan"), -1),
    ],
)
def test_how_sure_it_is_is_read_as_models_write_it(written: object, estimate: float) -> None:
    """A share of one is as many of a hundred; what is no number is no estimate."""
    book = Playbook(sequential(PROMPTS), given()).asks("work")
    book.answered(thought="hm", calls=[], state="going", confidence=written)
    assert book.plans().acts == (GoOn(did="hm", estimate=estimate),)


def test_it_looks_back_on_an_attempt() -> None:
    """It is shown the attempt turn by turn, and fills in a form; sentences that are none go."""
    line = Line(kind="result", who=public_words("work_run"), text=Words("[exit code 1]"), number=2)
    seen = given("Fix it", line, attempt="1")
    book = Playbook(reflecting_on(PROMPTS), seen).asks("reflect", aloud=False)
    assert "[turn 2] work_run gave:\n[exit code 1]" in book.prompt
    assert list(book.form) == ["worked", "failed", "root_cause", "strategy_change", "insight"]
    said = {"text": " It   failed ", "turns": [2, 2, 0, True, "x"]}
    book.answered(worked=[], failed=[said, 7, {"text": ""}], insight={"text": "Look first."})
    (act,) = book.plans().acts
    assert act == LookBack(
        claims=(
            SaidOfAttempt(part="failed", text="It failed", turns=(2,)),
            SaidOfAttempt(part="insight", text="Look first."),
        )
    )


def test_a_peer_gives_a_second_opinion() -> None:
    """Of another tier and in another character; where it does not answer, that is said below the result."""
    peer = {"peer": "DBA", "peer_tier": "3", "peer_character": "You guard tables."}
    for answer, more in (
        (
            Answer("answered", "It leaks.", model="big"),
            "**A second opinion (DBA, big):** It leaks.",
        ),
        (Answer("failed"), "*No second opinion by DBA: no model answered.*"),
    ):
        book = Playbook(sequential(PROMPTS), given(**peer)).asks("work")
        book.answered(state="done", say="Line 3 is wrong.")
        assert isinstance(book.request, All)
        (asked,) = book.request.requests
        assert isinstance(asked, Ask)
        assert asked.tier == 3
        said = "".join(str(part) for message in asked.messages for part in message.parts)
        assert "You guard tables." in said
        assert "The result:\nLine 3 is wrong." in said
        (act,) = book.told((answer,)).plans().acts
        assert isinstance(act, FinishWork)
        assert act.result == f"Line 3 is wrong.\n\n{more}"


@pytest.mark.parametrize("outcome", ["failed", "timed_out", "malformed", "refused"])
def test_without_an_answer_nothing_is_done(outcome: str) -> None:
    """Every mind of a task then says so, and acts not; who looks back is asked once more."""
    for mind in (sequential, answering, branching, triage, reflecting_on):
        book = Playbook(mind(PROMPTS), given())
        answer = Answer(outcome, "rubbish")  # type: ignore[arg-type]
        book.told((answer, answer) if isinstance(book.request, All) else answer)
        if (mind, outcome) == (reflecting_on, "malformed"):
            book.asks("reflect").told(answer)
        assert book.plans().acts == ()
        assert book.plans().meta == {"trouble": outcome}


def test_one_answer_is_enough_for_a_question() -> None:
    """It is asked aloud, without a form and without tools."""
    book = Playbook(answering(PROMPTS), given("What is 2 + 2?")).asks("answer", aloud=True)
    assert book.form == {}
    assert book.answered("Four.").plans().acts == (FinishWork(result="Four."),)


def test_two_models_think_of_options_side_by_side() -> None:
    """Of two tiers at once, and a third question consolidates; one that fails is left out, and told."""
    seen = given("Pros and cons?", branches="4 3")
    book = Playbook(branching(PROMPTS), seen)
    assert isinstance(book.request, All)
    assert [one.tier for one in book.request.requests if isinstance(one, Ask)] == [4, 3]
    book.told((Answer("answered", "A or B", model="big"), Answer("failed")))
    book.asks("consolidate", aloud=True)
    assert "Proposal 1:\nA or B" in book.prompt
    assert "Proposal 2" not in book.prompt
    plan = book.answered("Take A unless.").plans()
    told = "Take A unless.\n\n*Another model was asked, too: no model answered.*"
    assert plan.acts == (FinishWork(result=told),)
    assert "big" in plan.narrative


def test_one_command_is_run_as_it_was_written() -> None:
    """No model is asked; one that goes on is looked at when it has ended, one that could not is asked about."""
    seen = given("run kubectl get pods", command="kubectl get pods")
    book = Playbook(commanding(PROMPTS), seen)
    assert book.request == Call("work_run", {"command": "kubectl get pods"})
    going = book.told(Result("deferred", "It goes on.")).plans()
    assert isinstance(going.acts[0], GoOn)
    done = Playbook(commanding(PROMPTS), given("run x", seen_result("[exit code 0]"))).plans()
    assert done.acts == (FinishWork(result="[exit code 0]"),)
    bad = Playbook(commanding(PROMPTS), seen).told(Result("refused", "No.")).plans()
    assert bad.acts == (FinishWork(result="No.", evidence="The command did not run."),)
    none = Playbook(commanding(PROMPTS), seen).told(Result("failed", "No bwrap.")).plans()
    why = (
        "The command did not run to its end. When that is mended, say `again`, and I try it again."
    )
    asked = f"No bwrap.\n{why}"
    assert none.acts == (AskPerson(question=asked),)
    failed = seen_result("No bwrap.", "work_run, failed")
    late = Playbook(commanding(PROMPTS), given("run x", failed)).plans()
    assert late.acts == (AskPerson(question=asked),)
    mended = given("run x", failed, heard("Person", "It is there now"), command="x")
    assert Playbook(commanding(PROMPTS), mended).request == Call("work_run", {"command": "x"})
    waits = given("run x", failed, heard("Person", "No idea what that is"), command="x")
    assert Playbook(commanding(PROMPTS), waits).plans().acts == (AskPerson(question=asked),)
    over = given("run x", seen_result("[exit code 0]"), heard("Person", "And? OK"), command="x")
    assert isinstance(Playbook(commanding(PROMPTS), over).plans().acts[0], FinishWork)
    lost = Playbook(commanding(PROMPTS), seen).told(Result("unknown", "It died.")).plans()
    nobody = "Nobody knows whether the command ran."
    assert lost.acts == (FinishWork(result="It died.", evidence=nobody),)


@pytest.mark.parametrize(
    ("outcome", "said", "command"),
    [("", "run ls -la", "ls -la"), ("", "again, please", "x"), (", cancelled", "", "x")],
)
def test_another_command_or_the_same_is_run_when_a_person_has_it_go_on(
    outcome: str, said: str, command: str
) -> None:
    """What a reply asks for is run, and so is what was cut off by a stop."""
    lines = [seen_result("[exit code 0]", f"work_run{outcome}"), heard("Person", said)]
    seen = given("run x", *lines[: 2 if said else 1], command="x")
    assert Playbook(commanding(PROMPTS), seen).request == Call("work_run", {"command": command})


def test_a_model_says_as_what_a_task_is_taken() -> None:
    """It is held to the form; what names something that there is not is no answer."""
    good = {"type": "data", "role": "dba", "complexity": "SIMPLE", "flow": "simple", "reason": "r"}
    book = Playbook(triage(PROMPTS), given()).asks("triage")
    assert book.form["role"]["enum"][0] == "command-executor"
    (act,) = book.answered(**good).plans().acts
    assert act == Classify(
        task_type="data", role="dba", complexity="SIMPLE", flow="simple", reason="r"
    )
    wrong = Playbook(triage(PROMPTS), given()).answered(**{**good, "role": "king"}).plans()
    assert wrong.acts == ()


def test_a_use_of_a_tool_is_no_result() -> None:
    """Asked for one answer it was offered none: what stands before it is the result, else nothing."""
    use = '<tool_call>{"name": "work_run", "arguments": {}}</tool_call>'
    book = Playbook(answering(PROMPTS), given()).asks("answer")
    plan = book.answered(f"Here it is.\n{use}").plans()
    assert plan.acts == (FinishWork(result="Here it is."),)
    alone = Playbook(answering(PROMPTS), given()).asks("answer")
    plan = alone.answered(use).plans()
    assert (plan.acts, plan.meta) == ((), {"trouble": "malformed"})
