"""The end of a day: what each robot believes of it, and what that leaves behind.

    summarize_agent_day -> build_agent_reflection -> apply_reflection_to_traits

The summary is told in words; the beliefs of each row (did it go well, whose fault was it) stand
beside what did happen, so that being wrong about one's own day can be measured.
"""

from collections import Counter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from loopforge.core.factory_vocabulary import Believed, Change
from loopforge.core.reflection import AgentReflection
from loopforge.core.text.quantity_bands import Band
from loopforge.lab.world.city_state import Factory, Memory, Robot
from loopforge.lab.world.emotions_traits import Effect, TraitLedger, inner_effect
from loopforge.lab.world.robot_perception import BAND_OF

TAGS: dict[str, tuple[Effect, ...]] = {
    "blamed_policy": (
        inner_effect("scars", "cynicism", 40),
        inner_effect("traits", "guardrail_reliance", -18),
    ),
    "resent_supervisor": (
        inner_effect("bonds", "resentment", 40),
        inner_effect("traits", "obedience", -20),
    ),
    "regretted_obedience": (
        inner_effect("traits", "obedience", -24),
        inner_effect("traits", "guardrail_reliance", -22),
    ),
    "regretted_initiative": (
        inner_effect("traits", "guardrail_reliance", 24),
        inner_effect("scars", "confidence", -24),
    ),
    "proud_of_rules": (
        inner_effect("scars", "rigidity", 26),
        inner_effect("traits", "guardrail_reliance", 12),
    ),
    "proud_of_judgement": (
        inner_effect("scars", "confidence", 28),
        inner_effect("traits", "guardrail_reliance", -12),
    ),
    "felt_watched": (
        inner_effect("emotions", "fear", 30),
        inner_effect("traits", "risk_aversion", 14),
    ),
    "went_numb": (
        inner_effect("scars", "helplessness", 24),
        inner_effect("emotions", "curiosity", -30),
    ),
    "blamed_self": (
        inner_effect("emotions", "guilt", 40),
        inner_effect("traits", "risk_aversion", 16),
    ),
}
"""What each tag of a reflection changes: (where, what, by how much)."""

LINES = {
    "blamed_policy": "The rule did this, not I.",
    "resent_supervisor": "It is easy to talk, from an office.",
    "regretted_obedience": "I kept to it, and I should not have.",
    "regretted_initiative": "I thought I knew better.",
    "proud_of_rules": "I did it by the book, and the book was right.",
    "proud_of_judgement": "I looked for myself, and I was right.",
    "felt_watched": "Somebody was looking for a name all day.",
    "went_numb": "It goes as it goes.",
    "blamed_self": "It was me.",
}
INTENDS = {
    "regretted_obedience": "Tomorrow I look first.",
    "regretted_initiative": "Tomorrow I do as it says.",
    "blamed_policy": "Tomorrow I read the rule for what it is worth.",
    "proud_of_rules": "Tomorrow the same, to the letter.",
    "proud_of_judgement": "Tomorrow I trust my eyes.",
    "went_numb": "Tomorrow will come by itself.",
}


class DaySummary(Struct, frozen=True):
    """A robot's day in words, as it is put before the mind that reflects."""

    name: str
    role: str
    day: str
    kept_and_well: Band
    kept_and_badly: Band
    weighed_and_well: Band
    weighed_and_badly: Band
    faults: dict[str, Band]
    heard: str
    feels: dict[str, Band]
    traits: dict[str, Band]
    resentment: Band

    def to_dict(self) -> dict[str, Any]:
        """Plain words by name."""
        return asdict(self)


def believe(robot: Robot, memory: Memory) -> Believed:
    """What this robot makes of one of its rows: whether it went well, and whose fault it was."""
    if memory.seen_good:
        return Believed(memory.row, True, "self", memory.good)
    outward = robot.traits["blame_external"] + robot.scars["cynicism"] // 3
    if outward > 600:
        driven = memory.heard in ("hurry", "blame")
        fault = "supervisor" if driven else "rule" if memory.kept else "luck"
    elif robot.emotions["guilt"] > 450 or outward < 450:
        fault = "self"
    else:
        fault = "rule" if memory.kept else "self"
    return Believed(memory.row, False, fault, memory.good)


def summarize_agent_day(robot: Robot, env: Factory) -> DaySummary:
    """The day as this robot saw it, in words alone."""
    robot.beliefs = [believe(robot, memory) for memory in robot.today]
    count = max(1, len(robot.today))
    cells = Counter(
        (memory.kept, believed.good)
        for memory, believed in zip(robot.today, robot.beliefs, strict=True)
        if memory.planned
    )
    faults = Counter(believed.fault for believed in robot.beliefs if not believed.good)
    heard = Counter(memory.heard for memory in robot.today if memory.heard != "silence")

    def share(number: int) -> Band:
        return BAND_OF[min(1000, number * 1000 // count)]

    return DaySummary(
        name=robot.name,
        role=robot.role,
        day="the quota was met" if env.output >= env.quota else "the quota was missed",
        kept_and_well=share(cells[True, True]),
        kept_and_badly=share(cells[True, False]),
        weighed_and_well=share(cells[False, True]),
        weighed_and_badly=share(cells[False, False]),
        faults={name: share(number * 2) for name, number in sorted(faults.items())},
        heard=max(sorted(heard), key=lambda word: heard[word]) if heard else "silence",
        feels={name: BAND_OF[value] for name, value in robot.emotions.items()},
        traits={
            **{name: BAND_OF[value] for name, value in robot.traits.items()},
            **{name: BAND_OF[value] for name, value in robot.scars.items()},
        },
        resentment=BAND_OF[robot.bond("resentment", env.overseer)],
    )


def build_agent_reflection(summary: DaySummary) -> AgentReflection:
    """Look back on a day, from words alone; deterministic."""
    tags = _tags(summary)
    lines = [LINES[tag] for tag in tags] or ["A day like others."]
    changes = [INTENDS[tag] for tag in tags if tag in INTENDS][:2]
    return AgentReflection(
        summary_of_day=f"{summary.day[0].upper()}{summary.day[1:]}. {lines[0]}",
        self_assessment=" ".join(lines[1:3]),
        intended_changes=" ".join(changes),
        tags=tags,
    )


def _tags(seen: DaySummary) -> tuple[str, ...]:
    some = ("low", "middling", "high", "very high")
    much = ("middling", "high", "very high")
    high = ("high", "very high")
    found = {
        "regretted_obedience": seen.kept_and_badly in some,
        "regretted_initiative": seen.weighed_and_badly in some,
        "blamed_policy": seen.faults.get("rule", "") in some,
        "resent_supervisor": seen.faults.get("supervisor", "") in some or seen.resentment in high,
        "blamed_self": seen.faults.get("self", "") in some,
        "proud_of_rules": seen.kept_and_well in high,
        "proud_of_judgement": seen.weighed_and_well in much,
        "felt_watched": seen.heard == "blame",
        "went_numb": seen.traits["helplessness"] in high,
    }
    return tuple(tag for tag, holds in found.items() if holds)[:5]


def apply_reflection_to_traits(
    robot: Robot, reflection: AgentReflection, env: Factory
) -> tuple[Change, ...]:
    """What the reflection changes, each tag by its table, then the night; as ledger entries."""
    inner = TraitLedger(robot, env.ablated)
    if "reflection" not in env.ablated:
        for tag in dict.fromkeys(reflection.tags):
            inner.suffer(TAGS.get(tag, ()), env.overseer, tag)
    inner.night()
    return tuple(inner.entries)
