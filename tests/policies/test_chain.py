"""chain: plan, critique, final."""

import pytest

from loopforge.core.policy import Answer, AnswerOutcome
from loopforge.core.room_vocabulary import Note, Say, StaySilent
from loopforge.policies.chain import chain
from tests.playbook import PROMPTS, Playbook, heard, shown

MIND = chain(PROMPTS)


def test_it_plans_criticises_and_then_speaks() -> None:
    """Only the last of its three questions is aloud; the plan stays as a note to itself."""
    plan = (
        Playbook(MIND, shown(heard("ana", "@maya advise me"), model="full"))
        .asks("plan", aloud=False)
        .answered("Tell her to wait.")
        .asks("critique", aloud=False)
        .answered("Too short.")
        .asks("final", aloud=True)
        .answered("Wait until the frost is gone.")
        .asks("account", aloud=False)
        .answered(mode="context", rule="", narrative="Frost kills.")
        .plans()
    )
    assert plan.acts == (
        Say(text="Wait until the frost is gone."),
        Note(text="I meant to: Tell her to wait."),
    )


def test_news_steer_it() -> None:
    """A line that comes in while it plans stands in the next prompt."""
    book = Playbook(MIND, shown(heard("ana", "@maya advise me"), model="full")).asks("plan")
    book.told(Answer("answered", "A plan.", news=(heard("ana", "about slugs, I mean"),)))
    assert "ana: about slugs, I mean" in book.asks("critique").prompt


@pytest.mark.parametrize("outcome", ["timed_out", "failed", "malformed", "refused"])
def test_a_plan_that_broke_off_is_a_thought(outcome: AnswerOutcome) -> None:
    """What had come of its plan or its critique is never said; of its words, it is."""
    book = Playbook(MIND, shown(heard("ana", "@maya?"), model="full"))
    plan = book.asks("plan").told(Answer(outcome, "Tell her that")).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]
    assert plan.meta == {"trouble": outcome}
    book = Playbook(MIND, shown(heard("ana", "@maya?"), model="full")).answered("A plan.")
    plan = book.asks("critique").told(Answer(outcome, "Too lo")).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]
    book = Playbook(MIND, shown(heard("ana", "@maya?"), model="full")).answered("A plan.")
    plan = book.answered("Short.").asks("final").told(Answer("timed_out", "Wait unt")).plans()
    assert plan.acts == (Say(text="Wait unt …"),)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_small_model_that_stands_in_is_asked_in_its_own_form(step: int) -> None:
    """Whichever question the large one leaves open, the small one says plainly what it has to say."""
    book = Playbook(MIND, shown(heard("ana", "@maya advise me"), model="full"))
    for _ in range(step):
        book.answered("Something.")
    book.told(Answer("failed", small=True)).asks("talk", aloud=True)
    assert book.prompt.splitlines()[-1] == "[user] ana: @maya advise me"
    assert "<base-small>" in book.prompt
    plan = book.answered("Wait.").answered(narrative="I answered.").plans()
    assert plan.acts == (Say(text="Wait."),)


def test_a_use_of_a_tool_is_not_said() -> None:
    """It was offered none: what stands before it is said, or nothing."""
    use = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    for written, said in ((f"Wait.\n{use}", (Say(text="Wait."),)), (use, ())):
        book = Playbook(MIND, shown(heard("ana", "@maya?"), model="full")).answered("A plan.")
        book = book.answered("Short.").asks("final").answered(written)
        plan = book.answered(narrative="I did.").plans() if said else book.plans()
        assert tuple(act for act in plan.acts if isinstance(act, Say)) == said
