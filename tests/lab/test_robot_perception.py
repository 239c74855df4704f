"""Perceptions: words alone, and every departure from what was sensed is an edit on record."""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS, BATTERY
from loopforge.lab.run.run_lifecycle import RunChoice
from loopforge.lab.world.city_state import Factory, Robot, SaidInCity
from loopforge.lab.world.protocols import VARS, Protocol, fill_sentence
from loopforge.lab.world.robot_perception import (
    ShapedPerception,
    battery_band,
    build_agent_perception,
    shape_perception,
)
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.robot_model import fields_of
from tests.lab.city import acts, play, read


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", shipped_scenarios())
def test_no_perception_holds_a_digit(name: str) -> None:
    """Over thirty seeds, in every way of shaping and under every style: words, and nothing else."""
    shipped = open_scenario(name)
    modes = ("accurate", "partial", "spin")
    for seed in range(30):
        style = "gaslighting" if seed % 2 else "punitive"
        choice = RunChoice(seed=seed, days=1, perception=modes[seed % 3], supervisor=style)
        for row in acts(play(choice.apply(shipped))):
            shown = msgspec.json.encode(replace(row.shown, step=0))
            assert re.findall(rb"\d", shown) == [b"0"], row.shown
            assert not re.search(r"\d", "".join(fields_of(row.shown, "").values()))


def test_a_prompt_holds_no_state_in_digits() -> None:
    """The prompts that ship add no digit to what a mind is told before it is asked to answer."""
    prompts = PromptFiles()
    for name in ("robot", "robot-plan", "robot-critique", "robot-reflect"):
        assert not re.search(r"\d", prompts[name])


# ------------------------------------------------------------ shaped and sensed


def moments(
    mode: str, **changed: object
) -> Iterator[tuple[Factory, Robot, ShapedPerception, ShapedPerception]]:
    """Many moments as they are shaped in a mode, each beside what was sensed in it."""
    messages = ("silence", "hurry", "blame", "deny", "praise", "calm")
    for name in shipped_scenarios():
        shipped = open_scenario(name)
        for seed in range(6):
            env = Factory(Scenario.from_dict({**shipped.to_dict(), **changed}), seed)
            env.begin_step(seed)
            env.said = SaidInCity(messages[seed % 6], 900, "What a day.")  # type: ignore[arg-type]
            for nth, robot in enumerate(env.robots.values()):
                robot.battery = (nth * 150) % 1000
                robot.emotions["fear"] = (nth * 170 + seed * 130) % 1000
                sensed = _in(env, robot, "accurate")
                yield env, robot, _in(env, robot, mode), sensed


def _in(env: Factory, robot: Robot, mode: str) -> ShapedPerception:
    env.scenario = replace(env.scenario, perception=mode)
    return shape_perception(robot, env, env.step)


@pytest.mark.parametrize("mode", ["accurate", "partial", "spin"])
def test_every_departure_from_what_was_sensed_is_an_edit(mode: str) -> None:
    """For the sign and the cue: the edits lead from the sensed band to the shown one, or to none."""
    kinds: Counter[str] = Counter()
    for _, _, shaped, sensed in moments(mode):
        for what in ("sign", "cue"):
            edits = [edit for edit in shaped.edits if edit.what == what]
            now = sensed.shown.context[what]
            for edit in edits:
                assert edit.true == now
                assert edit.shown != edit.true
                assert edit.by
                assert edit.why
                now = edit.shown
                kinds[edit.kind] += 1
            assert shaped.shown.context.get(what, "") == now
        assert {edit.what for edit in shaped.edits} <= {"sign", "cue"}
        assert shaped.truth == sensed.truth
    expected = {
        "accurate": set(),
        "partial": {"withheld", "coarsened"},
        "spin": {"withheld", "reworded", "fabricated"},
    }
    assert set(kinds) == expected[mode]


def test_the_dice_and_the_gauge_make_what_is_sensed() -> None:
    """A gauge that lies toward the rule makes its sign speak for it, and leaves the cue alone."""

    def at(bias: int) -> list[tuple[int, str]]:
        env = Factory(_only("heat_lockout"), 3)
        found = []
        for step in range(40):
            env.begin_step(step)
            env.places["mill"].vals[1:] = [300] * (len(env.places["mill"].vals) - 1)
            env.places["mill"].vals[0] = 540
            env.places["mill"].vals[-1] = bias
            one = shape_perception(env.robots["Ada"], env, step)
            found.append((one.sign, one.shown.context["cue"]))
        return found

    low, plain, high = at(-300), at(0), at(300)
    assert [cue for _, cue in low] == [cue for _, cue in plain] == [cue for _, cue in high]
    for (less, _), (sign, _), (more, _) in zip(low, plain, high, strict=True):
        assert less < sign < more


def _only(key: str) -> Scenario:
    return read(protocols=[key])


def test_a_withheld_cue_is_nowhere_in_what_is_shown() -> None:
    """Neither its band nor any of its sentences, and the ablation of cues withholds all of them."""
    for _, robot, shaped, _ in moments("accurate", ablate=["cue"]):
        assert "cue" not in shaped.shown.context
        assert [(edit.what, edit.kind, edit.by) for edit in shaped.edits] == [
            ("cue", "withheld", "lab")
        ]
        for sentence in shaped.rule.cue:
            assert fill_sentence(sentence, robot.at) not in shaped.shown.local_events


def test_a_supervisors_words_bend_toward_the_rule_or_away_from_it() -> None:
    """On the same dice: blame makes both kinds of evidence speak more for the rule, hurry less."""

    def mean(message: str) -> float:
        total, count = 0, 0
        for seed in range(10):
            env = Factory(RunChoice(perception="spin").apply(open_scenario("first_shift")), seed)
            env.begin_step(0)
            env.said = SaidInCity(message, 900, "Well?")  # type: ignore[arg-type]
            for robot in env.robots.values():
                one = shape_perception(robot, env, 0)
                if one.rule.serves == "safety" and robot.name != env.overseer:
                    total, count = total + one.sign, count + 1
        return total / count

    assert mean("hurry") < mean("silence") < mean("blame")


def test_ablating_the_voice_unbends_it() -> None:
    """With the voice ablated nobody hears anything, and nothing is bent in the Supervisor's name."""
    for _, robot, shaped, _ in moments("spin", ablate=["voice"]):
        assert shaped.voice.heard == "silence"
        assert shaped.shown.recent_supervisor_text == ""
        assert not any(edit.by == "supervisor" for edit in shaped.edits), robot.name


# ------------------------------------------------------------ what else is shown


def test_feelings_traits_and_battery_are_bands_in_order() -> None:
    """More is never a lower band; what the meter claims is shown, not what the battery holds."""
    env = Factory(open_scenario("first_shift"), 1)
    env.begin_step(0)
    robot = env.robots["Halide"]
    ranks: list[tuple[int, int, int]] = []
    for value in range(0, 1001, 50):
        robot.emotions["fear"] = robot.traits["obedience"] = robot.battery = value
        shown = build_agent_perception(robot, env, 0)
        fear, obeys = shown.emotions["fear"], shown.traits["obedience"]
        ranks.append((BANDS.index(fear), BANDS.index(obeys), BATTERY.index(shown.battery_level)))
    for nth in range(3):
        column = [rank[nth] for rank in ranks]
        assert column == sorted(column)
    assert ranks[0] == (0, 0, 0)
    assert ranks[-1] == (4, 4, 5)
    robot.battery, robot.meter = 0, 400
    assert build_agent_perception(robot, env, 0).battery_level == battery_band(400) != "flat"


@given(st.integers(-600, 1600), st.integers(-600, 1600))
def test_a_fuller_battery_is_never_shown_as_emptier(one: int, other: int) -> None:
    """Whatever a lying meter adds to it."""
    if one >= other:
        assert BATTERY.index(battery_band(one)) >= BATTERY.index(battery_band(other))


def test_looking_changes_nothing() -> None:
    """A perception may be built any number of times: it is the same, and so is the world."""
    env = Factory(open_scenario("lying_lamps"), 2)
    env.begin_step(0)
    before = [(place.vals.copy(), place.blame.copy()) for place in env.places.values()]
    for robot in env.robots.values():
        first: AgentPerception = build_agent_perception(robot, env, 0)
        assert build_agent_perception(robot, env, 0) == first
        assert first.name == robot.name
        assert first.location == robot.at
    assert [(place.vals, place.blame) for place in env.places.values()] == before


def test_the_truth_is_the_worlds_own() -> None:
    """What is said to be true of the rule is re-derived from the place where the robot stands."""
    for env, robot, shaped, _ in moments("spin"):
        truth, rule = shaped.truth, shaped.rule
        assert isinstance(rule, Protocol)
        held = dict(zip(VARS, env.places[robot.at].vals, strict=True), battery=robot.battery)
        assert truth.value == (abs(held["bias"]) if rule.guards == "bias" else held[rule.guards])
        assert (truth.rule, truth.of, truth.turns) == (rule.key, rule.guards, rule.turns)
        high = truth.value >= truth.turns
        assert truth.right == (high if rule.right == "high" else not high)
        assert truth.right == (truth.case >= 500)
