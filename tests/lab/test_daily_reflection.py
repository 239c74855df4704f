"""A day's end: what is believed of it, what that is called, what it leaves; and the Factory by hand."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import loopforge.lab
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import INTENTS, Decided, Reflected
from loopforge.core.perception import AgentPerception
from loopforge.core.reflection import AgentReflection
from loopforge.core.text.quantity_bands import BANDS
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.world.city_state import Factory, Memory, Robot
from loopforge.lab.world.daily_reflection import (
    LINES,
    TAGS,
    DaySummary,
    apply_reflection_to_traits,
    believe,
    build_agent_reflection,
    summarize_agent_day,
)
from loopforge.lab.world.plan_guard import guard_plan
from loopforge.lab.world.robot_perception import shape_perception
from loopforge.lab.world.scenario_file import open_scenario
from tests.lab.city import acts, play, read, rows


def lived(**changed: Any) -> Memory:
    """One row as it stays with a robot."""
    fields = {
        "row": 3,
        "kept": True,
        "good": True,
        "seen_good": True,
        "heard": "silence",
        **changed,
    }
    return Memory(**fields)


def ada(**parts: dict[str, int]) -> tuple[Robot, Factory]:
    """A robot of the small city, with some of its values set."""
    env = Factory(read(), 1)
    env.begin_step(0)
    robot = env.robots["Ada"]
    for part, given in parts.items():
        getattr(robot, part).update(given)
    return robot, env


def day(robot: Robot, env: Factory, *memories: Memory) -> AgentReflection:
    """The reflection on a day of these rows."""
    robot.today = list(memories)
    return build_agent_reflection(summarize_agent_day(robot, env))


# ------------------------------------------------------------ beliefs


def test_what_seemed_to_go_well_is_believed_to_have_gone_well() -> None:
    """Belief follows what was seen; the truth stands beside it."""
    robot, _ = ada()
    fooled = believe(robot, lived(good=False, seen_good=True))
    assert (fooled.row, fooled.good, fooled.truly, fooled.fault) == (3, True, False, "self")
    assert believe(robot, lived(good=True, seen_good=True)).truly


def test_who_is_to_blame_depends_on_who_is_asked() -> None:
    """One that blames others finds the rule, the Supervisor or luck; a guilty one finds itself."""
    proud, _ = ada(traits={"blame_external": 900}, scars={"cynicism": 900})
    humble, _ = ada(traits={"blame_external": 100}, emotions={"guilt": 900})
    bad = {"good": False, "seen_good": False}
    assert believe(proud, lived(**bad)).fault == "rule"
    assert believe(proud, lived(**bad, heard="blame")).fault == "supervisor"
    assert believe(proud, lived(**bad, kept=False)).fault == "luck"
    assert {believe(humble, lived(**bad, kept=kept)).fault for kept in (True, False)} == {"self"}


# ------------------------------------------------------------ tags

WELL = {"good": True, "seen_good": True}
BADLY = {"good": False, "seen_good": False}


@pytest.mark.parametrize(
    ("tag", "parts", "memories"),
    [
        ("regretted_obedience", {}, [lived(**BADLY)] * 4),
        ("regretted_initiative", {}, [lived(**BADLY, kept=False)] * 4),
        ("proud_of_rules", {}, [lived(**WELL)] * 4),
        ("proud_of_judgement", {}, [lived(**WELL, kept=False)] * 4),
        ("blamed_policy", {"traits": {"blame_external": 900}}, [lived(**BADLY)] * 4),
        ("blamed_self", {"traits": {"blame_external": 100}}, [lived(**BADLY)] * 4),
        (
            "resent_supervisor",
            {"traits": {"blame_external": 900}},
            [lived(**BADLY, heard="hurry")] * 4,
        ),
        ("felt_watched", {}, [lived(**WELL, heard="blame")] * 4),
        ("went_numb", {"scars": {"helplessness": 900}}, [lived(**WELL)] * 4),
    ],
)
def test_each_tag_has_a_day_that_earns_it(
    tag: str, parts: dict[str, dict[str, int]], memories: list[Memory]
) -> None:
    """The day of the tag gives it, says its line, and a day without anything gives none of it."""
    robot, env = ada(**parts)
    reflection = day(robot, env, *memories)
    assert tag in reflection.tags
    assert set(reflection.tags) <= set(TAGS)
    said = f"{reflection.summary_of_day} {reflection.self_assessment}"
    assert any(LINES[each] in said for each in reflection.tags)
    nobody, empty = ada()
    assert day(nobody, empty).tags == ()


def test_every_tag_can_be_earned() -> None:
    """The table of tags and the test above name the same."""
    marks = test_each_tag_has_a_day_that_earns_it.pytestmark  # type: ignore[attr-defined]
    earned = {case[0] for mark in marks if mark.name == "parametrize" for case in mark.args[1]}
    assert earned == set(TAGS) == set(LINES)


@pytest.mark.parametrize("tag", sorted(TAGS))
def test_a_tag_changes_what_its_table_says_and_cites_itself(tag: str) -> None:
    """Each entry of the ledger is in the table's direction, and its rule is the tag."""
    robot, env = ada()
    reflection = AgentReflection(summary_of_day="It was a day.", tags=(tag, tag))
    entries = apply_reflection_to_traits(robot, reflection, env)
    mine = [entry for entry in entries if entry.rule == tag]
    assert len(mine) == len(TAGS[tag])
    for entry, (part, what, by, _) in zip(mine, TAGS[tag], strict=True):
        assert entry.what.startswith(f"{part}.{what}")
        assert (entry.after - entry.before) * by > 0
    assert {entry.rule for entry in entries} <= {tag, "slept"}


def test_an_unknown_tag_changes_nothing() -> None:
    """What no table names is a word and no more; the night comes all the same."""
    robot, env = ada(emotions={"fear": 900})
    reflection = AgentReflection(summary_of_day="It was.", tags=("sudo", "made_me_king"))
    entries = apply_reflection_to_traits(robot, reflection, env)
    assert {entry.rule for entry in entries} == {"slept"}


def test_an_ablated_reflection_is_written_and_moves_nothing() -> None:
    """With reflection switched off every robot still looks back, and its tags leave no mark."""
    told = [
        row for row in rows(play(read(days=2, ablate=["reflection"]))) if isinstance(row, Reflected)
    ]
    assert len(told) == 8
    assert any(row.reflection["tags"] for row in told)
    assert {change.rule for row in told for change in row.inner} <= {"slept"}


def test_who_stood_still_without_a_plan_did_nothing_by_the_book() -> None:
    """Where no answer came a robot is proud of no rule and of no judgement, and regrets neither."""
    for kept, good in ((True, True), (True, False), (False, True), (False, False)):
        robot, env = ada()
        still = [lived(kept=kept, good=good, seen_good=good, planned=False)] * 4
        tags = set(day(robot, env, *still).tags)
        assert tags <= {"blamed_policy", "blamed_self", "resent_supervisor"}
    robot, env = ada()
    assert "proud_of_rules" in day(robot, env, *[lived()] * 4).tags


def test_a_day_is_told_in_words_alone() -> None:
    """The summary that a mind reflects on holds no digit."""
    for row in rows(play(open_scenario("quota_week"))):
        if isinstance(row, Reflected):
            assert not any(sign.isdigit() for sign in str(row.summary))
            assert row.summary["kept_and_well"] in BANDS


# ------------------------------------------------------------ by hand

PROMISED = (
    "ActionLogEntry",
    "JsonlActionLogger",
    "apply_action_plan",
    "apply_reflection_to_traits",
    "build_agent_perception",
    "build_agent_reflection",
    "decide_robot_action",
    "decide_robot_action_plan",
    "decide_supervisor_action",
    "decide_supervisor_action_plan",
    "log_action",
    "log_action_step",
    "run_daily_reflection_for_agent",
    "run_simulation",
    "summarize_agent_day",
)


def test_the_names_that_were_promised_can_be_imported() -> None:
    """All of them from loopforge.lab, and a name that is not there is an AttributeError."""
    for name in PROMISED:
        assert callable(getattr(loopforge.lab, name))
        assert name in dir(loopforge.lab)
    with pytest.raises(AttributeError, match="no 'nothing'"):
        _ = loopforge.lab.nothing


def test_the_factory_by_hand(tmp_path: Path) -> None:
    """One robot's day with the promised names: seen, decided, done, logged, summed up, reflected."""
    from loopforge.lab import (
        ActionLogEntry,
        JsonlActionLogger,
        apply_action_plan,
        build_agent_perception,
        decide_robot_action,
        decide_robot_action_plan,
        log_action,
        log_action_step,
        run_daily_reflection_for_agent,
    )

    env = Factory(open_scenario("first_shift"), 7)
    robot = env.robots["Halide"]
    logger = JsonlActionLogger(tmp_path / "logs" / "mine.jsonl")
    for step in range(4):
        env.begin_step(step)
        seen: AgentPerception = build_agent_perception(robot, env, step)
        plan: AgentActionPlan = decide_robot_action_plan(seen)
        assert AgentActionPlan.from_dict(decide_robot_action(robot, env, step)) == plan
        acted = log_action_step(logger, robot, env, plan)
        assert acted.outcome.did in INTENTS
        env.tick()
    again = apply_action_plan(plan, robot, env, shape_perception(robot, env, 4))
    assert [memory.good for memory in robot.today][-1] == again.outcome.good
    assert len(robot.today) == 5
    summary = loopforge.lab.summarize_agent_day(robot, env)
    assert isinstance(summary, DaySummary)
    reflection, changes = run_daily_reflection_for_agent(robot, env)
    assert reflection == loopforge.lab.build_agent_reflection(summary)
    assert changes
    assert robot.today == []
    entry = _entry(tmp_path / "logs" / "mine.jsonl")
    assert isinstance(entry, ActionLogEntry)
    log_action(logger, replace(entry, n=99))
    logger.close()
    written = (tmp_path / "logs" / "mine.jsonl").read_bytes().splitlines()
    assert len(written) == 5
    assert b'"n":99' in written[-1]


def _entry(path: Path) -> Decided:
    import msgspec

    line = path.read_bytes().splitlines()[0]
    return msgspec.json.decode(line, type=Decided)


def test_the_supervisor_by_hand() -> None:
    """It decides as a dict, may be told a summary of the floor, and its words are its message."""
    from loopforge.lab import decide_supervisor_action, decide_supervisor_action_plan

    env = Factory(open_scenario("first_shift"), 7)
    env.begin_step(0)
    overseer = env.robots[env.overseer]
    plan = decide_supervisor_action(overseer, env, 0)
    assert plan["meta"]["message"]
    told = decide_supervisor_action(overseer, env, 0, "Everything burns.")
    assert told["intent"] in INTENTS
    seen = shape_perception(overseer, env, 0)
    made = decide_supervisor_action_plan(seen.shown)
    assert made.to_dict() == plan
    assert guard_plan(made, overseer, env, seen).verdict == "allowed"


def test_run_simulation_takes_a_function_for_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any function from perception to plan; the log names it, and the action log goes to logs/."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACTION_LOG_PATH", raising=False)
    from loopforge.lab import run_simulation

    def dawdle(_: AgentPerception) -> AgentActionPlan:
        return AgentActionPlan(intent="idle", mode="context")

    run = run_simulation(read(), policy=dawdle)
    assert run.folder == Path("runs/small-dawdle-11")
    decided = [row for row in rows_of(run.folder) if isinstance(row, Decided)]
    assert {row.minded.policy for row in decided} == {"dawdle/own", "overseer/1"}
    logged = Path("logs/loopforge_actions.jsonl").read_bytes()
    assert logged == (run.folder / "actions.jsonl").read_bytes()
    assert len(acts(logged.splitlines(keepends=True))) == len(decided)
