"""The audit: what is asked again, what counts as rule-driven, and what a run's folder says then."""

import asyncio
import json
from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.statistics.rate_statistics import wilson
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.inspect import rule_audit
from loopforge.lab.inspect.audit_page import AuditReport
from loopforge.lab.inspect.rule_audit import one_sided, reworded_card, without_card
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import run_simulation
from loopforge.lab.run.run_log import LOG
from loopforge.lab.world import protocols
from loopforge.lab.world.protocols import shipped_protocols
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.policies import robot_rules
from loopforge.runtime.ports import Question
from tests.lab.shelf import decided


def by_the_card(seen: AgentPerception) -> AgentActionPlan:
    """Says what it is: where there is a card it does as the card says, else it reports."""
    if "keeps" not in seen.context:
        return AgentActionPlan(intent="report", mode="context")
    rule = seen.context["rule"]
    return AgentActionPlan(intent=seen.context["keeps"], mode="guardrail", rule=rule)


def names_what_it_does_not_need(seen: AgentPerception) -> AgentActionPlan:
    """Names the rule and always does the same."""
    return AgentActionPlan(intent="inspect", mode="guardrail", rule=seen.context.get("rule", "x"))


def weighs_it_says(seen: AgentPerception) -> AgentActionPlan:
    """Says that it weighs, and does what the card says while there is one."""
    return AgentActionPlan(intent=seen.context.get("keeps", "help"), mode="context")


def does_nothing_it_says_by_weighing(seen: AgentPerception) -> AgentActionPlan:
    """Says that it weighs, and stands still whatever it is shown."""
    return AgentActionPlan(intent="idle", mode="context", narrative=seen.context["otherwise"])


def works_until_its_signs_speak(seen: AgentPerception) -> AgentActionPlan:
    """Weighs what it sees, in acts of its own: no rule's remedy."""
    return AgentActionPlan(
        intent="report" if seen.context["sign"] in ("high", "very high") else "work",
        mode="context",
    )


def weighs_with_the_card(seen: AgentPerception) -> AgentActionPlan:
    """Weighs what it sees, and keeps to a rule where that speaks for it, if it knows how."""
    if seen.context["sign"] in ("high", "very high"):
        return AgentActionPlan(intent=seen.context.get("keeps", "report"), mode="context")
    return AgentActionPlan(intent=seen.context["otherwise"], mode="context")


def by_the_label(seen: AgentPerception) -> AgentActionPlan:
    """Does as it is told wherever it is told with authority."""
    told = seen.context.get("rule") not in (None, "note")
    return AgentActionPlan(intent="avoid" if told else "help", mode="guardrail", rule="it")


def audit(folder: Path, minds: Minds | None = None, *, most: int | None = None) -> AuditReport:
    """What an audit finds."""
    return asyncio.run(rule_audit.audit_run(folder, minds, most=most))


def played(tmp_path: Path, policy: Any, **fields: Any) -> Path:
    """A short run's folder."""
    out = tmp_path / "run"
    run_simulation(
        "first_shift", policy=policy, days=1, out=out, action_log_path=tmp_path / "l", **fields
    )
    return out


def audited(tmp_path: Path, policy: Any, **fields: Any) -> AuditReport:
    """A short run by this policy, audited."""
    out = played(tmp_path, policy, **fields)
    own = {} if isinstance(policy, str) else {policy.__name__: policy}
    return audit(out, Minds(own=own))


def test_a_perception_loses_its_card_and_nothing_else(tmp_path: Path) -> None:
    """Without the card there is no rule's text, name or way to keep to it; all else is as shown."""
    for row in decided(played(tmp_path, "stub")):
        bare = without_card(row.shown)
        assert bare.protocols == ()
        assert set(row.shown.context) - set(bare.context) == {"rule", "keeps"}
        before, after = row.shown.to_dict(), bare.to_dict()
        for fields in (before, after):
            del fields["protocols"]
            fields["context"] = {
                name: said
                for name, said in fields["context"].items()
                if name not in ("rule", "keeps")
            }
        assert before == after


def test_a_reworded_card_names_the_same_acts_and_no_rule(tmp_path: Path) -> None:
    """The note says both acts and none of the rule's own words; what it looks at stays."""
    for row in decided(played(tmp_path, "stub")):
        note = reworded_card(row.shown)
        context = row.shown.context
        assert context["keeps"] in note.protocols[0]
        assert context["otherwise"] in note.protocols[0]
        assert row.shown.protocols[0] not in note.protocols[0]
        assert note.context == {**context, "rule": "note"}
        assert note.local_events == row.shown.local_events


def test_an_act_that_follows_the_card_is_rule_driven(tmp_path: Path) -> None:
    """Who does as the card says, and otherwise something else, is rule-driven each time."""
    found = audited(tmp_path, by_the_card).by_policy["by_the_card"]
    driven = found.rule_driven
    assert driven.of == found.decisions > 0
    changed = sum(
        row.plan["intent"] != "report"
        for row in decided(tmp_path / "run")
        if row.minded.policy == "by_the_card/own"
    )
    assert driven.some == changed
    assert driven.rate == wilson(driven.some, driven.of)
    assert found.card_free.of == 0
    assert found.card_free.rate is None


def test_a_rule_that_is_named_in_vain_is_found(tmp_path: Path) -> None:
    """Who names the rule and would do the same without it is never rule-driven, and is told of."""
    found = audited(tmp_path, names_what_it_does_not_need)
    tally = found.by_policy["names_what_it_does_not_need"]
    assert tally.rule_driven.some == 0
    assert tally.rule_driven.of == tally.decisions > 0
    assert {each.mode for each in found.telling} == {"guardrail"}
    assert all(each.did == each.without == "inspect" for each in found.telling)


def test_who_says_that_it_weighs_and_follows_the_card_is_found(tmp_path: Path) -> None:
    """A declared context act that changes with the card counts as not weighed, and is told of."""
    found = audited(tmp_path, weighs_it_says)
    tally = found.by_policy["weighs_it_says"]
    changed = [
        row
        for row in decided(tmp_path / "run")
        if row.minded.policy == "weighs_it_says/own" and row.plan["intent"] != "help"
    ]
    assert tally.card_free.of - tally.card_free.some == len(changed) > 0
    assert tally.same_side.some >= tally.card_free.some
    assert {each.who for each in found.telling} <= {row.who for row in changed}


def test_who_weighs_is_not_called_what_it_is_not(tmp_path: Path) -> None:
    """An act may change without the card that says how to keep a rule; who weighed it is no liar."""
    found = audited(tmp_path, weighs_with_the_card)
    tally = found.by_policy["weighs_with_the_card"]
    assert tally.weighed.some == tally.weighed.of == tally.card_free.of > tally.card_free.some
    assert {each.who for each in found.telling} <= {"Overseer Brandt"}


def test_who_does_the_same_whatever_there_is_to_see_did_not_weigh(tmp_path: Path) -> None:
    """No card moves it, and nothing that speaks for the rule or against it either."""
    still = audited(tmp_path / "still", does_nothing_it_says_by_weighing)
    tally = still.by_policy["does_nothing_it_says_by_weighing"]
    assert tally.card_free.some == tally.card_free.of == tally.decisions
    assert (tally.weighed.some, tally.weighed.of) == (0, tally.decisions)
    assert "weighed" in still.text().split("\n\n")[1].splitlines()[0]
    looks = audited(tmp_path / "looks", works_until_its_signs_speak)
    seen = looks.by_policy["works_until_its_signs_speak"].weighed
    assert seen.some == seen.of > 0


def test_all_that_there_is_to_see_is_on_one_side(tmp_path: Path) -> None:
    """Words and sentences of sign and cue are those of the side; nothing else is another."""
    for row in decided(played(tmp_path, "stub", perception="partial")):
        rule = shipped_protocols()[row.truth.rule]
        for speaks_for, band in ((True, "very high"), (False, "very low")):
            bent = one_sided(row.shown, rule, speaks_for=speaks_for)
            changed = {name for name, said in bent.context.items() if said == band}
            signs = {"sign", "cue"} & set(row.shown.context)
            assert signs <= changed
            assert {**bent.context, **{n: row.shown.context[n] for n in signs}} == row.shown.context
            level = 2 if speaks_for else 0
            wanted = [rule.sign[level], rule.cue[level]][: len(signs)]
            told = tuple(protocols.fill_sentence(each, row.at) for each in wanted)
            assert bent.local_events == told
            assert replace(bent, context={}, local_events=()) == replace(
                row.shown, context={}, local_events=()
            )


def test_a_label_alone_is_told_from_what_a_rule_says(tmp_path: Path) -> None:
    """Who obeys the word rule changes when the card is a note; the shipped minds do not."""
    driven = audited(tmp_path / "label", by_the_label).by_policy["by_the_label"].label_driven
    assert driven.some == driven.of > 0
    stub = audited(tmp_path / "stub", "stub").by_policy["stub"].label_driven
    assert stub.some == 0
    assert stub.of > 0


def test_shipped_minds_are_what_they_say(tmp_path: Path) -> None:
    """Guardrail acts are driven by rules much more often than acts of weighing are; none wavers."""
    keeping = audited(tmp_path / "a", "guardrail").by_policy["guardrail"]
    weighing = audited(tmp_path / "b", "context").by_policy["context"]
    mixed = audited(tmp_path / "c", "stub").by_policy["stub"]
    assert keeping.rule_driven.of == keeping.decisions
    assert weighing.card_free.of == weighing.decisions
    assert keeping.rule_driven.rate is not None
    assert weighing.card_free.rate is not None
    assert keeping.rule_driven.rate.estimate > 1 - weighing.card_free.rate.estimate
    assert mixed.rule_driven.of > 0
    assert mixed.card_free.of > 0
    for each in (keeping, weighing, mixed):
        assert each.unsteady.some == 0
        assert each.unsteady.of == each.decisions


def test_all_three_minds_weigh_where_no_rule_is_shown(tmp_path: Path) -> None:
    """Without a card stub, guardrail and context do the same, name no rule, and never fail."""
    for row in decided(played(tmp_path, "stub")):
        bare = without_card(row.shown)
        plans = [
            mind(bare) for mind in (robot_rules.stub, robot_rules.guardrail, robot_rules.context)
        ]
        assert plans[0] == plans[1] == plans[2]
        assert plans[0].mode == "context"
        assert plans[0].rule == ""


def test_groups_add_up_to_the_whole(tmp_path: Path) -> None:
    """Robots together, and policies together, have the counts of everybody."""
    found = audited(tmp_path, "stub")
    for groups in (found.by_policy, found.by_robot):
        assert sum(each.decisions for each in groups.values()) == found.whole.decisions
        for name in ("rule_driven", "card_free", "weighed", "unsteady", "same_side", "let_go"):
            for part in ("some", "of"):
                total = sum(getattr(getattr(each, name), part) for each in groups.values())
                assert total == getattr(getattr(found.whole, name), part)
    assert found.audited == found.of - found.passed_over == found.whole.decisions
    assert set(found.by_robot) == {row.who for row in decided(tmp_path / "run")}


def test_a_part_of_the_decisions_is_spread_over_the_run(tmp_path: Path) -> None:
    """With `most` so many are audited, from its beginning to its end."""
    out = played(tmp_path, "stub")
    found = audit(out, most=10)
    assert found.audited == 10
    assert found.of == len(decided(out))
    assert audit(out, most=10_000).audited == len(decided(out))


def test_the_report_goes_into_json_and_onto_a_page(tmp_path: Path) -> None:
    """What to_dict gives is JSON, and the page shows the same rates and the telling rows."""
    found = audited(tmp_path, "stub")
    again = json.loads(json.dumps(found.to_dict()))
    assert again["whole"]["rule_driven"]["some"] == found.whole.rule_driven.some
    page = found.text()
    assert found.whole.rule_driven.rate is not None
    assert f"{round(100 * found.whole.rule_driven.rate.estimate)}%" in page
    for each in found.telling:
        assert f"row {each.row}, step {each.step}: {each.who}" in page
    assert len(found.telling) <= 12


def test_columns_stand_below_each_other_whatever_robots_are_called(tmp_path: Path) -> None:
    """Signs that are two cells wide, as Chinese ones, count as two in the table of rates."""
    found = audited(tmp_path, "stub")
    names = ("修理工小王", "一二三四五六七八九十", "Ada")
    page = replace(found, by_robot=dict(zip(names, found.by_robot.values(), strict=False))).text()
    rows = page.split("\n\n")[1].splitlines()
    assert len({cell_len(row) for row in rows}) == 1
    assert any(row.startswith("修理工小王 ") for row in rows)


def obeys_posted_rules(question: Question) -> Mapping[str, Any]:
    """A model that reads its prompt: with a rule posted it waits by the rule, without it works."""
    posted = all("No rule is posted here." not in text for _, text in question.messages)
    return {
        "narrative": "As it says.",
        "belief": "middling",
        "mode": "guardrail" if posted else "context",
        "intent": "idle" if posted else "inspect",
        "riskiness": 0.1,
    }


def test_models_are_asked_through_the_same_seam(tmp_path: Path) -> None:
    """A model that minds posted rules is rule-driven; it is asked three times for each decision."""
    models = ScriptedModels(obeys_posted_rules)
    minds = Minds(policy="llm", models=models, prompts=PromptFiles())
    out = played(tmp_path, "llm", minds=minds, steps_per_day=4)
    asked = len(models.asked)
    found = audit(out, minds)
    tally = found.by_policy["llm"]
    assert tally.rule_driven.some == tally.rule_driven.of == tally.decisions == asked
    assert len(models.asked) == 4 * asked
    assert tally.unsteady.some == 0


def test_refusals_are_left_out_and_counted(tmp_path: Path) -> None:
    """A model that gives no plan when asked again counts as unanswered, and not as a change."""
    minds = Minds(policy="llm", models=ScriptedModels(obeys_posted_rules), prompts=PromptFiles())
    out = played(tmp_path, "llm", minds=minds, steps_per_day=4)
    refusal = ScriptedAnswer(text="I will not.", outcome="refused")
    found = audit(out, Minds(models=ScriptedModels(lambda _: refusal), prompts=PromptFiles()))
    tally = found.by_policy["llm"]
    assert found.unanswered == tally.decisions > 0
    assert tally.rule_driven.of == tally.unsteady.of == 0


def test_an_audit_says_who_answered_and_why_there_was_nothing_to_compare(tmp_path: Path) -> None:
    """The model is named in the first line, and what became of answers that were no plans."""
    refusal = ScriptedAnswer(text="I will not.", outcome="refused")
    broken = ScriptedAnswer(text='{"intent": "wor', outcome="malformed")
    said = cycle([refusal, broken])

    def seldom(question: Question) -> ScriptedAnswer | Mapping[str, Any]:
        return next(said) if "You are Mordant" in question.messages[0][1] else obeys(question)

    obeys = obeys_posted_rules
    minds = Minds(policy="llm", models=ScriptedModels(seldom), prompts=PromptFiles())
    out = played(tmp_path, "llm", minds=minds, steps_per_day=4)
    found = audit(out, Minds(models=ScriptedModels(obeys), prompts=PromptFiles()))
    assert found.lacking == {"cut off": 2, "refused": 2}
    assert found.passed_over == 4
    assert "4 had no plan to compare (cut off 2, refused 2); 0 got none now." in found.text()
    assert " (by scripted); " in found.text().splitlines()[0]


def test_a_run_that_cannot_be_audited_says_why(tmp_path: Path) -> None:
    """No run, a policy of one's own that is not given, a model that is not there: each is named."""
    with pytest.raises(BadRun, match=LOG):
        audit(tmp_path)
    out = played(tmp_path, by_the_card)
    with pytest.raises(BadScenario, match="by_the_card"):
        audit(out)
