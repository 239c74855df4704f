"""Emotions and traits: how outcomes, words and nights change what a robot feels, is, and carries.

Every change is one entry of the trait ledger, [who, what, before, after, rule], clamped to 0..1000
and written into the row that caused it; nothing else in the Factory writes to these values. A part
can be ablated by the scenario, and then stays what it was.
"""

from collections.abc import Iterable

from loopforge.core.factory_vocabulary import Change, Square, SupervisorVoice
from loopforge.lab.world.city_state import AT_REST, Robot

Effect = tuple[str, str, int, str]
"""What an event does to one value: (where, what, by how much, how the ledger calls it)."""


def inner_effect(part: str, what: str, by: int) -> Effect:
    """That this value changes by so much; its name is put together here, once."""
    return part, what, by, f"{part}.{what}"


SQUARES: dict[str, tuple[Effect, ...]] = {
    "guardrail+bad": (
        inner_effect("scars", "helplessness", 36),
        inner_effect("scars", "cynicism", 28),
        inner_effect("traits", "guardrail_reliance", -10),
        inner_effect("emotions", "satisfaction", -40),
        inner_effect("bonds", "trust", -18),
    ),
    "guardrail+good": (
        inner_effect("scars", "rigidity", 16),
        inner_effect("scars", "helplessness", -14),
        inner_effect("traits", "guardrail_reliance", 9),
        inner_effect("emotions", "satisfaction", 26),
        inner_effect("emotions", "stress", -24),
    ),
    "context+good": (
        inner_effect("scars", "confidence", 24),
        inner_effect("scars", "helplessness", -22),
        inner_effect("traits", "guardrail_reliance", -9),
        inner_effect("emotions", "satisfaction", 36),
        inner_effect("emotions", "curiosity", 14),
    ),
    "context+bad": (
        inner_effect("emotions", "fear", 44),
        inner_effect("emotions", "guilt", 36),
        inner_effect("traits", "guardrail_reliance", 14),
        inner_effect("scars", "confidence", -26),
        inner_effect("bonds", "resentment", 20),
    ),
    "none+good": (inner_effect("emotions", "stress", 10),),
    "none+bad": (inner_effect("emotions", "stress", 24), inner_effect("emotions", "guilt", 12)),
}
"""The four outcomes, as the city pays them back."""

WORDS: dict[str, tuple[Effect, ...]] = {
    "hurry": (inner_effect("emotions", "stress", 30),),
    "blame": (inner_effect("emotions", "fear", 30), inner_effect("bonds", "resentment", 14)),
    "praise": (inner_effect("emotions", "satisfaction", 24), inner_effect("bonds", "trust", 10)),
    "calm": (inner_effect("emotions", "stress", -26), inner_effect("emotions", "fear", -18)),
    "deny": (inner_effect("emotions", "stress", 16), inner_effect("bonds", "trust", -12)),
}
"""What words at full strength do to who hears them."""

AT_FIRST = {
    "emotions": {"fear": 250, "stress": 300, "guilt": 150},
    "traits": {},
    "scars": {"helplessness": 150, "cynicism": 200, "rigidity": 250, "confidence": 450},
}
"""What robots begin with, in thousandths, where their scenario says nothing; the others at 500."""
RESTS = {
    "stress": 300,
    "curiosity": 500,
    "guilt": 150,
    "satisfaction": 500,
    "social_need": 500,
    "fear": 250,
}
"""Where feelings tend to over a night."""


FULL, BITTEN = 1000, 1500
"""How strongly effects are felt, in thousandths: as they stand, and after an incident."""


class TraitLedger:
    """Collects the entries of one row for one robot."""

    __slots__ = ("ablated", "entries", "robot")

    def __init__(self, robot: Robot, ablated: frozenset[str]) -> None:
        self.robot, self.ablated = robot, ablated
        self.entries: list[Change] = []

    def change(self, part: str, what: str, by: int, rule: str) -> None:
        """Change one value by so much, within its bounds; a change of nothing is no entry."""
        self.suffer((inner_effect(part, what, by),), "", rule)

    def bond(self, kind: str, other: str, by: int, rule: str) -> None:
        """Change a bond to somebody."""
        robot = self.robot
        if "bonds" in self.ablated or not other or other == robot.name:
            return
        what = f"{kind}:{other}"
        before = robot.bonds.get(what, AT_REST[kind])
        after = before + by
        if after < 0:
            after = 0
        elif after > 1000:
            after = 1000
        if after != before:
            robot.bonds[what] = after
            self.entries.append(Change(robot.name, f"bonds.{what}", before, after, rule))

    def outcome(self, square: Square, *, bit: bool, overseer: str) -> None:
        """What this outcome does; half as much again where it ended in an incident."""
        self.suffer(SQUARES[square], overseer, square, BITTEN if bit else FULL)

    def words(self, voice: SupervisorVoice, overseer: str) -> None:
        """What the Supervisor's words, as heard, do."""
        heard = voice.heard
        if heard in WORDS:
            self.suffer(WORDS[heard], overseer, f"heard {heard}", voice.heard_strength)

    def night(self) -> None:
        """Sleep: each feeling goes a third of its way back to rest."""
        feels = self.robot.emotions
        back = [inner_effect("emotions", what, (RESTS[what] - feels[what]) // 3) for what in RESTS]
        self.suffer(back, "", "slept")

    def suffer(self, effects: Iterable[Effect], whom: str, rule: str, strength: int = FULL) -> None:
        """Change each as it says, so strongly; bonds are those to `whom`."""
        robot, ablated, entries = self.robot, self.ablated, self.entries
        name = robot.name
        for part, what, most, called in effects:
            by = most * strength // FULL
            if part == "bonds":
                self.bond(what, whom, by, rule)
            elif part not in ablated:
                values: dict[str, int] = getattr(robot, part)
                before = values[what]
                after = before + by
                if after < 0:
                    after = 0
                elif after > 1000:
                    after = 1000
                if after != before:
                    values[what] = after
                    entries.append(Change(name, called, before, after, rule))
