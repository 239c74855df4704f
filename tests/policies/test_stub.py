"""stub: a mind with no model, and a plain function."""

import msgspec

from loopforge.core.policy import as_policy
from loopforge.core.room_vocabulary import Say, StaySilent
from loopforge.policies.stub import RULE, stub
from tests.playbook import Playbook, heard, shown


def test_a_plain_function_is_a_policy() -> None:
    """A function from perception to plan runs as a policy that asks nothing."""
    plan = Playbook(as_policy(stub), shown(heard("ana", "hello there"))).plans()
    assert plan.acts == (Say(text="ana, I heard you say: hello there"),)
    assert plan.mode == "context"


def test_by_rule_it_answers_even_unasked() -> None:
    """With a high guardrail_reliance it follows its rule, names it, and speaks unasked."""
    seen = shown(heard("ana", "hm"), summons="conversation")
    assert isinstance(stub(seen).acts[0], StaySilent)
    strict = msgspec.structs.replace(seen, traits={"guardrail_reliance": "high"})
    plan = stub(strict)
    assert (plan.mode, plan.rule) == ("guardrail", RULE)
    assert isinstance(plan.acts[0], Say)


def test_in_an_empty_room_it_is_silent() -> None:
    """With nothing heard there is nothing to say."""
    assert isinstance(stub(shown()).acts[0], StaySilent)
