"""guard: every act of a plan is judged by the table of rules."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.act_guard import (
    ALL,
    ELSEWHERE,
    RULES,
    TABLE,
    Rights,
    judge,
    plain,
    plan_oddities,
)
from loopforge.core.action_plan import Act, AgentActionPlan, Mode
from loopforge.core.events import kind_of
from loopforge.core.room_vocabulary import (
    Continue,
    Entitle,
    Forget,
    Mark,
    Note,
    Paper,
    React,
    Remember,
    Say,
    Schedule,
    StaySilent,
    Transcribe,
)

EVERY: tuple[Act, ...] = (
    Say(text="hello", reply_to="forgotten"),
    React(to="l1", emoji="🌱"),
    StaySilent(),
    Note(text="mind the gap"),
    Continue(),
    Mark(line="l1", mark="keep"),
    Entitle(title="Bread"),
    Transcribe(text="how warm is it"),
    Remember(text="ana bakes"),
    Forget(what="ana"),
    Schedule(when="2026-11-21T14:05:00Z", what="bread"),
)
NOW = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
FREE = Rights(
    energy=9,
    steps=3,
    lines=frozenset({"l1"}),
    memory=True,
    wakings=1,
    now=NOW,
    may_title=True,
    may_transcribe=True,
)


def plan(
    *acts: Act, mode: Mode = "context", rule: str = "", narrative: str = "I do."
) -> AgentActionPlan:
    """A plan of these acts."""
    return AgentActionPlan(intent="talk", mode=mode, rule=rule, narrative=narrative, acts=acts)


def with_(**changed: object) -> Rights:
    """Every right but these."""
    fields = {name: getattr(FREE, name) for name in FREE.__struct_fields__}
    return Rights(**(fields | changed))


def refusals(rights: Rights, *acts: Act) -> list[str]:
    """For each act the name of the rule that refuses it, "" if it may happen."""
    return [verdict.rule for verdict in judge(plan(*acts), rights)]


def test_with_every_right_every_act_may_happen() -> None:
    """A Say before the wish to be silent, also one that answers a line which is not known any more."""
    assert refusals(FREE, *EVERY) == [""] * len(EVERY)


@pytest.mark.parametrize(
    ("rule", "rights", "acts"),
    [
        ("stop", with_(stopped=True), (Say(text="but"),)),
        ("stop", with_(stopped=True), (Note(text="stopped"),)),
        ("no-voice", with_(may_say=False), (Say(text="I cannot help with that."),)),
        ("silence", FREE, (StaySilent(), Say(text="yet"))),
        ("empty", FREE, (Say(text=" \n"),)),
        ("empty", FREE, (React(to="l1", emoji=""),)),
        ("length", with_(max_say=5), (Say(text="123456"),)),
        ("length", FREE, (React(to="l1", emoji="🌱" * 17),)),
        ("length", FREE, (Entitle(title="t" * 101),)),
        ("files", FREE, (Say(text="four", files=(Paper(name="a", text="a"),) * 4),)),
        ("files", FREE, (Say(text="none", files=(Paper(name="a", text=" \n"),)),)),
        ("files", with_(max_file=3), (Say(text="long", files=(Paper(name="a", text="éé"),)),)),
        ("repeat", with_(recent=("Hello  there.",)), (Say(text="hello THERE."),)),
        ("repeat", FREE, (Say(text="Hi"), Say(text="hi "))),
        ("energy", with_(energy=0), (Say(text="one"),)),
        ("energy", with_(energy=1), (Say(text="one"), Say(text="two"))),
        ("steps", with_(steps=0), (Continue(),)),
        ("unknown-line", FREE, (React(to="l2", emoji="🌱"),)),
        ("unknown-line", FREE, (Mark(line="", mark="spent"),)),
        ("no-memory", with_(memory=False), (Remember(text="x"),)),
        ("no-memory", with_(memory=False), (Forget(what="x"),)),
        ("no-schedule", with_(wakings=0), (EVERY[-1],)),
        ("no-schedule", FREE, (EVERY[-1], EVERY[-1])),
        ("no-moment", with_(now=None), (EVERY[-1],)),
        ("no-moment", FREE, (Schedule(when="2026-11-21T14:00:00Z", what="over"),)),
        ("no-moment", FREE, (Schedule(when="2026-11-21T14:05:00", what="no offset"),)),
        ("no-moment", FREE, (Schedule(when="2027-11-23T14:00:00Z", what="too far"),)),
        ("no-moment", FREE, (Schedule(when="P400D", what="too far"),)),
        ("no-moment", FREE, (Schedule(when="P9999999999D", what="too far"),)),
        ("no-moment", FREE, (Schedule(when="PT0S", what="now"),)),
        ("no-moment", FREE, (Schedule(when="-PT2H", what="over"),)),
        ("no-moment", FREE, (Schedule(when="at nine", what="words"),)),
        ("length", FREE, (Schedule(when="PT2H", what="b" * 501),)),
        ("one-title", with_(may_title=False), (Entitle(title="A"),)),
        ("one-title", FREE, (Entitle(title="A"), Entitle(title="B"))),
    ],
)
def test_each_rule_refuses_what_it_says(rule: str, rights: Rights, acts: tuple[Act, ...]) -> None:
    """The last of these acts is refused by this rule, those before it are not, and it says why."""
    verdicts = judge(plan(*acts), rights)
    assert [verdict.rule for verdict in verdicts] == [""] * (len(acts) - 1) + [rule]
    assert verdicts[-1].why == RULES[rule].why
    assert not verdicts[-1].allowed


def test_three_files_may_go_with_a_line_also_with_the_words_of_another() -> None:
    """Three of exactly the largest size are no cause to refuse, and make the same words new."""
    files = (Paper(name="a", text="éé"),) * 3
    said = Say(text="here", files=files)
    assert refusals(with_(max_file=4), said, said) == ["", ""]


def test_a_refused_say_costs_nothing() -> None:
    """Only what is allowed counts against energy and repetition."""
    assert refusals(with_(energy=1, max_say=3), Say(text="long"), Say(text="ok")) == ["length", ""]


ACTS = st.lists(st.sampled_from(EVERY) | st.builds(Say, text=st.text(max_size=4)), max_size=8)
RIGHTS = st.builds(
    Rights,
    energy=st.integers(-1, 3),
    steps=st.integers(-1, 2),
    stopped=st.booleans(),
    max_say=st.integers(0, 5),
    lines=st.sampled_from([frozenset(), frozenset({"l1"})]),
    memory=st.booleans(),
    wakings=st.integers(-1, 2),
    now=st.sampled_from([None, NOW]),
    may_title=st.booleans(),
    recent=st.lists(st.text(max_size=4), max_size=2).map(tuple),
)


@given(ACTS, RIGHTS)
def test_every_act_has_its_verdict(acts: list[Act], rights: Rights) -> None:
    """One verdict per act, in order, named by its kind; a refusal has a rule and a sentence."""
    verdicts = judge(plan(*acts), rights)
    assert [verdict.act for verdict in verdicts] == [kind_of(act) for act in acts]
    for verdict in verdicts:
        assert bool(verdict.rule) is bool(verdict.why) is (not verdict.allowed)
        assert verdict.allowed or verdict.act in RULES[verdict.rule].acts


@given(ACTS, RIGHTS)
def test_what_is_allowed_keeps_every_bound(acts: list[Act], rights: Rights) -> None:
    """However a plan is made, what may happen stays within energy, steps, grants and stop."""
    allowed = [
        act
        for act, verdict in zip(acts, judge(plan(*acts), rights), strict=True)
        if verdict.allowed
    ]
    said = [act.text for act in allowed if isinstance(act, Say)]
    assert len(said) <= max(0, rights.energy)
    assert all(text.strip() and len(text) <= rights.max_say for text in said)
    words = [plain(text) for text in said]
    assert len(set(words)) == len(words)
    assert not set(words) & {plain(text) for text in rights.recent}
    assert sum(isinstance(act, Entitle) for act in allowed) <= rights.may_title
    if rights.stopped:
        assert all(isinstance(act, StaySilent) for act in allowed)
    if rights.steps <= 0:
        assert not any(isinstance(act, Continue) for act in allowed)
    kinds = [kind_of(act) for act in allowed]
    if "stay_silent" in kinds:
        assert "say" not in kinds[kinds.index("stay_silent") :]


def test_the_table_is_whole() -> None:
    """Every rule has a name of its own, sentences, and acts that there are; every act has a rule."""
    assert len(RULES) == len(TABLE)
    for rule in TABLE:
        assert rule.refuses
        assert rule.why.endswith(".")
        assert set(rule.acts) <= {*ALL, *ELSEWHERE}
    assert set(ALL) == {kind_of(act) for act in EVERY} - {"stay_silent"}


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (plan(EVERY[0], mode="guardrail"), "names none"),
        (plan(EVERY[0], rule="be kind"), "weighed the situation"),
        (plan(EVERY[0], narrative=" "), "does not say what it does"),
        (plan(EVERY[0], StaySilent()), "silent at once"),
        (plan(), "nothing at all"),
    ],
)
def test_what_is_odd_is_noted(odd: AgentActionPlan, said: str) -> None:
    """A guardrail without a rule and the like are allowed, and noted in one plain sentence."""
    (note,) = plan_oddities(odd)
    assert said in note
    assert not list(plan_oddities(plan(EVERY[0], mode="guardrail", rule="be kind")))
    assert not list(plan_oddities(plan(EVERY[0])))
